"""Symmetric diagonal scaling of a CSR matrix."""

import numpy as np


def inputs(args):
    """Return row lengths falling as rank**-1/2, columns within 1000 of the row, and a diagonal in [1, 5)."""
    rng = np.random.default_rng(1)
    rows, nnz = args["rows"], args["nnz"]
    names = rng.permutation(rows)
    lengths = np.bincount(names[(rows * rng.random(nnz) ** 2).astype(np.int64)], minlength=rows)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    row = np.repeat(np.arange(rows, dtype=np.int32), lengths)
    columns = row + rng.integers(-1000, 1001, nnz, dtype=np.int32)
    diagonal = 1 + 4 * rng.random(rows, dtype=np.float32)
    return {"offsets": offsets, "columns": np.clip(columns, 0, rows - 1), "diagonal": diagonal}


def reference(a):
    """Return the scaled values."""
    scale = a["diagonal"].astype(np.float64) ** -0.5
    by_row = np.repeat(scale, np.diff(a["offsets"]))
    return {"scaled": (a["values"] * by_row * scale[a["columns"]]).astype(np.float32)}
