"""One level of breadth-first search with a queue of frontier vertices."""

import numpy as np


def inputs(args):
    """Return a directed graph of `edges` edges and a search caught with `frontier_size` vertices queued.

    Out-degrees fall as rank**-1/2, ranks are spread at random, targets are uniform. The frontier is random,
    it and about a quarter of all other vertices are visited, and all of those have level 0.
    """
    rng = np.random.default_rng(1)
    vertices, edges = args["vertices"], args["edges"]
    names = rng.permutation(vertices)
    degrees = np.bincount(names[(vertices * rng.random(edges) ** 2).astype(np.int64)], minlength=vertices)
    frontier = rng.permutation(vertices)[: args["frontier_size"]].astype(np.int32)
    seen = np.zeros(args["words"] * 32, np.uint8)
    seen[:vertices] = rng.integers(0, 4, vertices, dtype=np.uint8) == 0
    seen[frontier] = 1
    return {
        "frontier": frontier,
        "offsets": np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32),
        "neighbours": rng.integers(0, vertices, edges, dtype=np.int32),
        "visited": np.packbits(seen, bitorder="little").view(np.uint32),
        "level": seen[:vertices].astype(np.int32) - 1,
        "next": np.full(vertices, -1, np.int32),
    }


def reference(a):
    """Return the claimed vertices as a bitmap, their number, and the levels."""
    on_frontier = np.zeros(a["vertices"], bool)
    on_frontier[a["frontier"]] = True
    reached = a["neighbours"][np.repeat(on_frontier, np.diff(a["offsets"]))]
    seen = np.unpackbits(a["visited"].view(np.uint8), bitorder="little")
    claimed = np.zeros_like(seen)
    claimed[reached] = 1
    claimed &= ~seen
    level = np.where(claimed[: a["vertices"]], a["depth"], a["level"]).astype(np.int32)
    return {
        "claimed": np.packbits(claimed, bitorder="little").view(np.uint32),
        "next_size": np.array([claimed.sum()], np.int32),
        "level": level,
    }
