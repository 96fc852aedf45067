"""Exclusive prefix sums of chunks of 1024 elements."""

import numpy as np


def reference(a):
    """Return the sums of every chunk."""
    x = a["x"].reshape(-1, 1024)
    return {"y": (np.cumsum(x, axis=1, dtype=np.int32) - x).ravel()}
