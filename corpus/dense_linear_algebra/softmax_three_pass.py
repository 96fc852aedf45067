"""Softmax of every row in double precision; inputs so large that exp(x) itself would overflow."""

import numpy as np


def inputs(a):
    """Return x between 0 and 100."""
    return {"x": 100 * a["x"]}


def reference(a):
    """Return y after the launch."""
    x = a["x"].reshape(a["rows"], a["cols"]).astype(np.float64)
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return {"y": (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32).ravel()}
