"""Rows brought to mean 0 and variance 1, then scaled and shifted."""

import numpy as np


def reference(a):
    """Return y after the launch."""
    x = a["x"].reshape(a["rows"], a["cols"]).astype(np.float64)
    normal = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + a["eps"])
    return {"y": (normal * a["gamma"] + a["beta"]).astype(np.float32).ravel()}
