"""y = diag(scale) W x in double precision; signed weights."""

import numpy as np


def inputs(a):
    """Return W with both signs."""
    return {"W": np.random.default_rng(0).integers(-128, 128, a["W"].shape, np.int8)}


def reference(a):
    """Return y after the launch."""
    weights = a["W"].reshape(a["rows"], a["cols"]).astype(np.float64)
    return {"y": (a["scale"] * (weights @ a["x"])).astype(np.float32)}
