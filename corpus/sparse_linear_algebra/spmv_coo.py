"""Sparse matrix (coordinates) times vector."""

import numpy as np


def inputs(args):
    """Return row-sorted coordinates; the row of rank r has a length falling as r**-1/2, columns are uniform.

    Coordinates may repeat (their values add up, as in assembly by finite elements).
    """
    rng = np.random.default_rng(1)
    rows, nnz = args["rows"], args["nnz"]
    names = rng.permutation(rows)
    lengths = np.bincount(names[(rows * rng.random(nnz) ** 2).astype(np.int64)], minlength=rows)
    row = np.repeat(np.arange(rows, dtype=np.int32), lengths)
    return {"row": row, "column": rng.integers(0, rows, nnz, dtype=np.int32)}


def reference(a):
    """Return the product."""
    products = a["values"].astype(np.float64) * a["x"][a["column"]]
    return {"y": np.bincount(a["row"], products, a["rows"]).astype(np.float32)}
