"""Triangles that each oriented edge closes: common out-neighbours of its ends."""

import numpy as np


def inputs(args):
    """Return an oriented graph: sorted, distinct targets among the next `window` vertices of each source.

    Out-degrees are binomial, at most `window`; a vertex of degree d has one target in each of d equal parts
    of its window. The last `window` vertices have no out-edges.
    """
    rng = np.random.default_rng(1)
    vertices, edges, window = args["vertices"], args["edges"], args["window"]
    degrees = np.bincount(rng.integers(0, vertices - window, edges), minlength=vertices)
    assert degrees.max() <= window, "raise window"
    offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    sources = np.repeat(np.arange(vertices, dtype=np.int32), degrees)
    part = window // np.maximum(degrees, 1)[sources]
    position = np.arange(edges) - offsets[sources]
    targets = sources + 1 + position * part + rng.integers(0, part)
    return {"offsets": offsets, "sources": sources, "targets": targets.astype(np.int32)}


def reference(a):
    """Return the number of vertices that both ends of each edge point to.

    Row u of the band says which of the next `window` vertices u points to; the row of its target v, which
    begins v - u vertices later, is compared with the end of it.
    """
    sources, targets, window = a["sources"], a["targets"], a["window"]
    band = np.zeros((a["vertices"], window), np.bool_)
    distances = targets - sources
    band[sources, distances - 1] = True
    triangles = np.zeros(a["edges"], np.int32)
    for distance in range(1, window):
        edges = np.flatnonzero(distances == distance)
        both = band[sources[edges], distance:] & band[targets[edges], : window - distance]
        triangles[edges] = both.sum(axis=1)
    return {"triangles": triangles}
