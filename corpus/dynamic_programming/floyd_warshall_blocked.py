"""Thirty-two steps of Floyd-Warshall: paths through the vertices of one tile."""

import numpy as np

TILE = 32


def inputs(args):
    """Return distances uniform from 1 to 9999, zero from a vertex to itself."""
    n = args["n"]
    distance = np.random.default_rng(1).integers(1, 10000, (n, n), dtype=np.int32)
    np.fill_diagonal(distance, 0)
    return {"distance": distance.ravel()}


def reference(a):
    """Return the distances with the tile's vertices allowed on the way, one after the other."""
    distance = a["distance"].reshape(a["n"], a["n"])
    for k in range(a["tile"] * TILE, (a["tile"] + 1) * TILE):
        distance = np.minimum(distance, distance[:, k : k + 1] + distance[k])
    return {"distance": distance.ravel()}
