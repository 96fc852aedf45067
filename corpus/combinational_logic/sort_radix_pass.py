"""Keys in stable order of four of their bits."""

import numpy as np


def inputs(a):
    """Return keys of all bits."""
    generator = np.random.Generator(np.random.Philox(key=14))
    return {"keys": generator.integers(0, 2**32, a["keys"].size, np.uint32)}


def reference(a):
    """Return the keys in order, and where those of each digit and chunk of 512 begin."""
    digits = a["keys"] >> np.uint32(a["shift"]) & np.uint32(15)
    counts = np.stack([np.bincount(chunk, minlength=16) for chunk in digits.reshape(-1, 512)], axis=1).ravel()
    return {
        "moved": a["keys"][np.argsort(digits, kind="stable")],
        "counts": (np.cumsum(counts) - counts).astype(np.int32),
    }
