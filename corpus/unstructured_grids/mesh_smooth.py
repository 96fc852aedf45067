"""Laplacian smoothing: every vertex moves towards the mean of its neighbours."""

import numpy as np


def inputs(args):
    """Return the adjacency of a side x side triangulated sheet: six neighbours, two to four on the rim.

    Vertices are renumbered at random within windows of 4096, as after a partitioner.
    """
    rng = np.random.default_rng(1)
    side, vertices = args["side"], args["vertices"]
    place = np.arange(vertices, dtype=np.int32)
    for start in range(0, vertices, 4096):
        rng.shuffle(place[start : start + 4096])  # place[v]: where vertex v lies on the sheet
    names = np.empty_like(place)
    names[place] = np.arange(vertices, dtype=np.int32)
    steps = [(-1, -1), (0, -1), (-1, 0), (1, 0), (0, 1), (1, 1)]
    x, y = place % side, place // side
    inside = [(x + dx >= 0) & (x + dx < side) & (y + dy >= 0) & (y + dy < side) for dx, dy in steps]
    present = np.stack(inside, axis=1)
    near = place[:, None] + np.array([dx + dy * side for dx, dy in steps], np.int32)
    offsets = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    return {"offsets": offsets.astype(np.int32), "neighbours": names[near[present]]}


def reference(a):
    """Return the smoothed positions."""
    vertices = a["vertices"]
    position = a["position"].reshape(vertices, 3).astype(np.float64)
    degree = np.diff(a["offsets"])
    owner = np.repeat(np.arange(vertices), degree)
    sums = [np.bincount(owner, position[a["neighbours"], k], vertices) for k in range(3)]
    mean = np.stack(sums, axis=1) / degree[:, None]
    return {"smoothed": (position + a["strength"] * (mean - position)).astype(np.float32).ravel()}
