"""Three consecutive anti-diagonals of Smith-Waterman for a batch of pairs."""

import numpy as np


def inputs(args):
    """Return the two diagonals before the first: scores 0 to 31, with zeros above the matrix."""
    rng = np.random.default_rng(1)
    shape = (args["pairs"], args["length"] + 1)
    diagonals = rng.integers(0, 32, (2, *shape), dtype=np.int32)
    diagonals[:, :, 0] = 0
    return {"diagonal_a": diagonals[0].ravel(), "diagonal_b": diagonals[1].ravel()}


def reference(a):
    """Return the rolled diagonals and the best score of each pair."""
    pairs, length = a["pairs"], a["length"]
    rolling = [a[f"diagonal_{k}"].reshape(pairs, length + 1) for k in "abc"]
    first, second = (a[k].reshape(pairs, length) & 3 for k in "ab")
    best = a["best"].copy()
    for step in range(3):
        before, previous, current = (rolling[(step + k) % 3] for k in range(3))
        i = np.arange(max(a["d0"] + step - length + 1, 0), min(a["d0"] + step, length - 1) + 1)
        j = a["d0"] + step - i
        inside = (j > 0).astype(np.int32)
        aligned = before[:, i] * inside
        aligned += np.where(first[:, i] == second[:, j], a["match"], a["mismatch"])
        skipped = np.maximum(previous[:, i], previous[:, i + 1] * inside) + a["gap"]
        current[:, i + 1] = np.maximum(np.maximum(aligned, skipped), 0)
        best = np.maximum(best, current[:, i + 1].max(axis=1))
    return {"best": best.astype(np.int32)} | {
        f"diagonal_{k}": d.ravel() for k, d in zip("abc", rolling, strict=True)
    }
