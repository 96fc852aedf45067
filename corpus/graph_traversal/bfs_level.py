"""One level of breadth-first search: which unvisited vertices the frontier reaches."""

import numpy as np


def inputs(args):
    """Return a directed graph of `edges` edges and a search caught at level `current`.

    Out-degrees fall as rank**-1/2, ranks are spread at random, targets are uniform. One vertex in eight is on
    the frontier, one in eight was visited a level earlier, the rest is unvisited (-1).
    """
    rng = np.random.default_rng(1)
    vertices, edges = args["vertices"], args["edges"]
    names = rng.permutation(vertices)
    degrees = np.bincount(names[(vertices * rng.random(edges) ** 2).astype(np.int64)], minlength=vertices)
    level = np.full(vertices, -1, np.int32)
    drawn = rng.integers(0, 8, vertices, dtype=np.uint8)
    level[drawn == 0] = args["current"]
    level[drawn == 1] = args["current"] - 1
    return {
        "offsets": np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32),
        "neighbours": rng.integers(0, vertices, edges, dtype=np.int32),
        "level": level,
    }


def reference(a):
    """Return the flags of the vertices discovered."""
    source = np.repeat(a["level"], np.diff(a["offsets"]))
    reached = a["neighbours"][source == a["current"]]
    discovered = np.zeros_like(a["discovered"])
    discovered[reached[a["level"][reached] < 0]] = 1
    return {"discovered": discovered}
