"""All keys in order."""

import numpy as np


def inputs(a):
    """Return keys of all bits, each half in order."""
    generator = np.random.Generator(np.random.Philox(key=15))
    keys = generator.integers(0, 2**32, (2, a["n"] // 2), np.uint32)
    return {"keys": np.sort(keys, axis=1).ravel()}


def reference(a):
    """Return the merged keys."""
    return {"keys": np.sort(a["keys"])}
