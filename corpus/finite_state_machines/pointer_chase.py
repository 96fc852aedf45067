"""Ends of walks along a cycle."""

import numpy as np


def inputs(a):
    """Return links that form one cycle in random order."""
    order = np.random.Generator(np.random.Philox(key=20)).permutation(a["n"]).astype(np.int32)
    links = np.empty_like(order)
    links[order] = np.roll(order, -1)
    return {"next": links}


def reference(a):
    """Return where every walk ends, by links that skip 1, 2, 4, ... places."""
    end = np.arange(a["walkers"]) * (a["n"] // a["walkers"])
    skip, steps = a["next"], a["steps"]
    while steps:
        end = skip[end] if steps % 2 else end
        skip, steps = skip[skip], steps // 2
    return {"end": end.astype(np.int32)}
