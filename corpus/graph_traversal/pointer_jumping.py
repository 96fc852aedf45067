"""Roots of a forest given by parent pointers."""

import numpy as np


def inputs(args):
    """Return a random forest: a vertex's parent is uniform among those before it, one in 64 is a root.

    A vertex numbered v lies about min(ln v, 64) steps deep. Numbers are then shuffled.
    """
    rng = np.random.default_rng(1)
    vertices = args["vertices"]
    parent = (rng.random(vertices) * np.arange(vertices)).astype(np.int32)
    is_root = rng.integers(0, 64, vertices, dtype=np.uint8) == 0
    parent[is_root] = np.flatnonzero(is_root)
    names = rng.permutation(vertices).astype(np.int32)
    renamed = np.empty_like(parent)
    renamed[names] = names[parent]
    return {"parent": renamed}


def reference(a):
    """Return every vertex's root."""
    root = a["parent"].copy()
    while not np.array_equal(root, root[root]):
        root = root[root]
    return {"root": root}
