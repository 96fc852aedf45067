"""One Bellman-Ford round from given distances."""

import numpy as np

UNREACHED = np.iinfo(np.int32).max


def inputs(args):
    """Return a directed graph and distances of a search under way.

    Out-degrees fall as rank**-1/2, ranks are spread at random, targets are uniform. Two vertices in three
    are reached, at distances uniform below 1000; weights are 0 to 127.
    """
    rng = np.random.default_rng(1)
    vertices, edges = args["vertices"], args["edges"]
    names = rng.permutation(vertices)
    degrees = np.bincount(names[(vertices * rng.random(edges) ** 2).astype(np.int64)], minlength=vertices)
    distance = rng.integers(0, 1000, vertices, dtype=np.int32)
    distance[rng.integers(0, 3, vertices, dtype=np.uint8) == 0] = UNREACHED
    return {
        "offsets": np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32),
        "neighbours": rng.integers(0, vertices, edges, dtype=np.int32),
        "distance": distance,
    }


def reference(a):
    """Return the distances after every edge was relaxed once."""
    start = np.repeat(a["distance"], np.diff(a["offsets"])).astype(np.int64)
    reached = start != UNREACHED
    relaxed = a["distance"].astype(np.int64)
    np.minimum.at(relaxed, a["neighbours"][reached], (start + a["weights"])[reached])
    return {"relaxed": relaxed.astype(np.int32)}
