"""Sorted chunks of 1024 keys."""

import numpy as np


def inputs(a):
    """Return keys of all bits."""
    generator = np.random.Generator(np.random.Philox(key=14))
    return {"keys": generator.integers(0, 2**32, a["keys"].size, np.uint32)}


def reference(a):
    """Return every chunk in order."""
    return {"keys": np.sort(a["keys"].reshape(-1, 1024), axis=1).ravel()}
