"""Piecewise cubic polynomial."""

import numpy as np


def reference(a):
    """Return its values."""
    scaled = a["x"].astype(np.float64) * 32
    piece = np.floor(scaled).astype(int)
    powers = (scaled - piece)[:, None] ** np.arange(4)
    return {"y": (a["coefficients"].reshape(32, 4)[piece] * powers).sum(axis=1).astype(np.float32)}
