"""Sparse matrix (ELLPACK) times vector."""

import numpy as np


def inputs(args):
    """Return the columns of each row: a band of `width` neighbours with gaps, a quarter of the slots padding.

    Slot k of a row holds row + 7 * (k - width // 2) plus a jitter of 0 to 6, or -1 (padding, as outside the
    matrix). Row lengths are binomial with mean 3/4 `width`.
    """
    rng = np.random.default_rng(1)
    rows, width = args["rows"], args["width"]
    columns = np.arange(rows, dtype=np.int32) + 7 * (np.arange(width, dtype=np.int32)[:, None] - width // 2)
    columns += rng.integers(0, 7, columns.shape, dtype=np.int32)
    padding = rng.integers(0, 4, columns.shape, dtype=np.uint8) == 0
    columns[padding | (columns < 0) | (columns >= rows)] = -1
    return {"columns": columns.ravel()}


def reference(a):
    """Return the product."""
    columns = a["columns"].reshape(a["width"], a["rows"])
    values = a["values"].reshape(columns.shape).astype(np.float64)
    return {"y": np.where(columns >= 0, values * a["x"][columns], 0).sum(axis=0).astype(np.float32)}
