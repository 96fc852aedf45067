"""Bilinear interpolation in a table."""

import numpy as np


def reference(a):
    """Return the interpolated values, as weighted sums of four corners."""
    table = a["table"].reshape(a["height"], a["width"]).astype(np.float64)
    x, y = a["u"].astype(np.float64) * (a["width"] - 1), a["v"].astype(np.float64) * (a["height"] - 1)
    column, row = np.minimum(x.astype(int), a["width"] - 2), np.minimum(y.astype(int), a["height"] - 2)
    out = np.zeros(a["n"])
    for right in (0, 1):
        for down in (0, 1):
            weight = (1 - abs(x - column - right)) * (1 - abs(y - row - down))
            out += weight * table[row + down, column + right]
    return {"out": out.astype(np.float32)}
