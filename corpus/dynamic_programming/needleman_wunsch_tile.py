"""Needleman-Wunsch scores on the lower and right rim of independent tiles."""

import numpy as np

TILE = 64


def reference(a):
    """Return both rims of every tile, filling all tiles cell by cell."""
    tiles = a["tiles"]
    score = np.zeros((TILE + 1, TILE + 1, tiles), np.int64)
    score[0] = a["top"].reshape(tiles, TILE + 1).T
    score[1:, 0] = a["left"].reshape(tiles, TILE).T
    rows = a["a"].reshape(tiles, TILE).T & 3
    columns = a["b"].reshape(tiles, TILE)[::-1].T & 3
    for i, j in np.ndindex(TILE, TILE):
        aligned = score[i, j] + np.where(rows[i] == columns[j], a["match"], a["mismatch"])
        skipped = np.maximum(score[i, j + 1], score[i + 1, j]) + a["gap"]
        score[i + 1, j + 1] = np.maximum(aligned, skipped)
    rims = {"bottom": score[-1, 1:], "right": score[1:, -1]}
    return {name: rim.T.astype(np.int32).ravel() for name, rim in rims.items()}
