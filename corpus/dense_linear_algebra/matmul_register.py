"""C (m x n) = A (m x k) B (k x n) in double precision."""

import numpy as np


def reference(a):
    """Return C after the launch."""
    m, n, k = a["m"], a["n"], a["k"]
    product = a["A"].reshape(m, k).astype(np.float64) @ a["B"].reshape(k, n)
    return {"C": product.astype(np.float32).ravel()}
