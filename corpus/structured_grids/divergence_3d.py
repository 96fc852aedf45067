"""Divergence of a vector field: second-order differences inside, first-order at the faces."""

import numpy as np


def reference(a):
    """Return the divergence at every point."""
    shape = a["nz"], a["ny"], a["nx"]
    u, v, w = (a[name].reshape(shape).astype(np.float64) for name in ("u", "v", "w"))
    total = np.gradient(u, axis=2) + np.gradient(v, axis=1) + np.gradient(w, axis=0)
    return {"divergence": (a["inverse_spacing"] * total).astype(np.float32).ravel()}
