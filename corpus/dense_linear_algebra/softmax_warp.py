"""Softmax of every row in double precision."""

import numpy as np


def reference(a):
    """Return y after the launch."""
    x = a["x"].reshape(a["rows"], a["cols"]).astype(np.float64)
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return {"y": (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32).ravel()}
