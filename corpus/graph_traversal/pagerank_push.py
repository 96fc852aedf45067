"""One PageRank iteration over out-edges."""

import numpy as np


def inputs(args):
    """Return a directed graph by out-edges, and ranks that add up to one.

    Out-degrees are binomial. The target of rank r draws edges in proportion to r**-1/2, so some are hot.
    """
    rng = np.random.default_rng(1)
    vertices, edges = args["vertices"], args["edges"]
    names = rng.permutation(vertices).astype(np.int32)
    degrees = np.bincount(rng.integers(0, vertices, edges), minlength=vertices)
    rank = rng.random(vertices)
    return {
        "offsets": np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32),
        "targets": names[(vertices * rng.random(edges) ** 2).astype(np.int64)],
        "rank": (rank / rank.sum()).astype(np.float32),
    }


def reference(a):
    """Return the next ranks."""
    vertices = a["vertices"]
    degrees = np.diff(a["offsets"])
    share = np.repeat(a["rank"] / np.maximum(degrees, 1).astype(np.float64), degrees)
    gathered = np.bincount(a["targets"], share, vertices)
    return {"next": ((1 - a["damping"]) / vertices + a["damping"] * gathered).astype(np.float32)}
