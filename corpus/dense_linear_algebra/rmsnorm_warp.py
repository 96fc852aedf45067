"""Rows divided by their root mean square, then scaled."""

import numpy as np


def reference(a):
    """Return y after the launch."""
    x = a["x"].reshape(a["rows"], a["cols"]).astype(np.float64)
    rms = np.sqrt((x**2).mean(axis=1, keepdims=True) + a["eps"])
    return {"y": (x / rms * a["gamma"]).astype(np.float32).ravel()}
