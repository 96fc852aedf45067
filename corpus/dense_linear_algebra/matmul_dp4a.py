"""C (m x n) = A (m x k) times the transpose of B (n x k) in exact integers; signed inputs."""

import numpy as np


def inputs(a):
    """Return A and B with both signs."""
    rng = np.random.default_rng(0)
    return {name: rng.integers(-128, 128, a[name].shape, np.int8) for name in ("A", "B")}


def reference(a):
    """Return C after the launch."""
    m, n, k = a["m"], a["n"], a["k"]
    # Products of 8-bit numbers and their sums are exact in double precision.
    product = a["A"].reshape(m, k).astype(np.float64) @ a["B"].reshape(n, k).T.astype(np.float64)
    return {"C": product.astype(np.int32).ravel()}
