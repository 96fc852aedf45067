"""One explicit step of the 3-D heat equation with fixed faces."""

import numpy as np


def reference(a):
    """Return the field after the step."""
    u = a["in"].reshape(a["nz"], a["ny"], a["nx"]).astype(np.float64)
    out = u.copy()
    inner = u[1:-1, 1:-1, 1:-1]
    neighbours = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1]
    neighbours += u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
    neighbours += u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]
    out[1:-1, 1:-1, 1:-1] += a["alpha"] * (neighbours - 6 * inner)
    return {"out": out.astype(np.float32).ravel()}
