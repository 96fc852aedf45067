"""One round of label propagation: every vertex takes the least label of itself and its neighbours."""

import numpy as np


def inputs(args):
    """Return an undirected edge list and the vertices' own numbers as labels.

    One end of an edge is uniform, the other lies within 4096 of it (cut off at the ends): degrees are
    binomial. Edges come sorted by the first end.
    """
    rng = np.random.default_rng(1)
    vertices, edges = args["vertices"], args["edges"]
    degrees = np.bincount(rng.integers(0, vertices, edges), minlength=vertices)
    source = np.repeat(np.arange(vertices, dtype=np.int32), degrees)
    target = np.clip(source + rng.integers(-4096, 4097, edges, dtype=np.int32), 0, vertices - 1)
    return {"source": source, "target": target, "label": rng.permutation(vertices).astype(np.int32)}


def reference(a):
    """Return the lowered labels."""
    lowered = a["label"].copy()
    np.minimum.at(lowered, a["source"], a["label"][a["target"]])
    np.minimum.at(lowered, a["target"], a["label"][a["source"]])
    return {"lowered": lowered}
