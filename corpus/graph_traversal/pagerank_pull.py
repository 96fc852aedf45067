"""One PageRank iteration over in-edges."""

import numpy as np


def inputs(args):
    """Return a directed graph by in-edges, and ranks that add up to one.

    In-degrees fall as rank**-1/2, ranks are spread at random; sources are uniform.
    """
    rng = np.random.default_rng(1)
    vertices, edges = args["vertices"], args["edges"]
    names = rng.permutation(vertices)
    degrees = np.bincount(names[(vertices * rng.random(edges) ** 2).astype(np.int64)], minlength=vertices)
    sources = rng.integers(0, vertices, edges, dtype=np.int32)
    rank = rng.random(vertices)
    return {
        "offsets": np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32),
        "sources": sources,
        "out_degree": np.bincount(sources, minlength=vertices).astype(np.int32),
        "rank": (rank / rank.sum()).astype(np.float32),
    }


def reference(a):
    """Return each vertex's share per out-edge, and the next ranks."""
    vertices = a["vertices"]
    share = a["rank"] / np.maximum(a["out_degree"], 1).astype(np.float64)
    target = np.repeat(np.arange(vertices), np.diff(a["offsets"]))
    gathered = np.bincount(target, share[a["sources"]], vertices)
    following = (1 - a["damping"]) / vertices + a["damping"] * gathered
    return {"share": share.astype(np.float32), "next": following.astype(np.float32)}
