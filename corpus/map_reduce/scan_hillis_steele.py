"""Inclusive prefix sums of chunks of 512 elements."""

import numpy as np


def reference(a):
    """Return the sums of every chunk."""
    x = a["x"].reshape(-1, 512)
    return {"y": np.cumsum(x, axis=1, dtype=np.float64).astype(np.float32).ravel()}
