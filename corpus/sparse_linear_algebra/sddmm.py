"""Dense-dense product evaluated at the entries of a sparse pattern."""

import numpy as np

DEPTH = 64


def inputs(args):
    """Return `nnz` row-sorted coordinates with binomial row lengths and uniform columns (they may repeat)."""
    rng = np.random.default_rng(1)
    rows, nnz = args["rows"], args["nnz"]
    lengths = np.bincount(rng.integers(0, rows, nnz), minlength=rows)
    row = np.repeat(np.arange(rows, dtype=np.int32), lengths)
    return {"row": row, "column": rng.integers(0, rows, nnz, dtype=np.int32)}


def reference(a):
    """Return the scaled dot product at every entry."""
    left = a["A"].reshape(-1, DEPTH)[a["row"]].astype(np.float64)
    right = a["B"].reshape(-1, DEPTH)[a["column"]]
    return {"result": (a["values"] * (left * right).sum(axis=1)).astype(np.float32)}
