"""Sparse matrix (CSR) times vector."""

import numpy as np


def inputs(args):
    """Return the CSR structure of `nnz` distinct entries.

    The row of an entry is rows * u**(1 + skew), u uniform, and renamed: binomial row lengths for skew 0,
    lengths falling as rank**(-skew / (1 + skew)) otherwise. A row of length L has one column, uniform, in
    each of L equal parts of the matrix.
    """
    rng = np.random.default_rng(1)
    rows, nnz = args["rows"], args["nnz"]
    names = rng.permutation(rows)
    lengths = np.bincount(
        names[(rows * rng.random(nnz) ** (1 + args["skew"])).astype(np.int64)], minlength=rows
    )
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    part = np.repeat(rows // np.maximum(lengths, 1), lengths)
    position = np.arange(nnz) - np.repeat(offsets[:-1], lengths)
    columns = position * part + (rng.random(nnz) * part).astype(np.int64)
    return {"offsets": offsets.astype(np.int32), "columns": columns.astype(np.int32)}


def reference(a):
    """Return the product."""
    row = np.repeat(np.arange(a["rows"]), np.diff(a["offsets"]))
    products = a["values"].astype(np.float64) * a["x"][a["columns"]]
    return {"y": np.bincount(row, products, a["rows"]).astype(np.float32)}
