"""Sparse matrix (CSR) times dense matrix of 64 columns."""

import numpy as np

WIDTH = 64


def inputs(args):
    """Return the CSR structure: binomial row lengths, uniform columns (entries may repeat)."""
    rng = np.random.default_rng(1)
    rows, nnz = args["rows"], args["nnz"]
    lengths = np.bincount(rng.integers(0, rows, nnz), minlength=rows)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return {"offsets": offsets.astype(np.int32), "columns": rng.integers(0, rows, nnz, dtype=np.int32)}


def reference(a):
    """Return the dense product."""
    row = np.repeat(np.arange(a["rows"]), np.diff(a["offsets"]))
    product = np.zeros((a["rows"], WIDTH))
    np.add.at(product, row, a["values"][:, None] * a["B"].reshape(-1, WIDTH).astype(np.float64)[a["columns"]])
    return {"C": product.astype(np.float32).ravel()}
