"""Levenshtein distances of pairs of strings of 32 letters."""

import numpy as np

LENGTH = 32


def inputs(args):
    """Return random strings over four letters; the second has a third of the first's letters redrawn."""
    rng = np.random.default_rng(1)
    first = rng.integers(0, 4, (LENGTH, args["pairs"]), dtype=np.uint8)
    drawn = rng.integers(0, 12, first.shape, dtype=np.uint8)
    return {"first": first.ravel(), "second": np.where(drawn < 4, drawn, first).ravel()}


def reference(a):
    """Return the distances, from the whole table of every pair."""
    first, second = (a[name].reshape(LENGTH, a["pairs"]) for name in ("first", "second"))
    table = np.zeros((LENGTH + 1, LENGTH + 1, a["pairs"]), np.int32)
    table[:, 0] = table[0] = np.arange(LENGTH + 1)[:, None]
    for i, j in np.ndindex(LENGTH, LENGTH):
        changed = np.minimum(table[i, j + 1], table[i + 1, j]) + 1
        table[i + 1, j + 1] = np.minimum(table[i, j] + (first[i] != second[j]), changed)
    return {"distance": table[-1, -1]}
