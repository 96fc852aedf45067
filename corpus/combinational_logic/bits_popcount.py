"""Hamming distances between rows of bits."""

import numpy as np


def inputs(a):
    """Return matrices of random bits."""
    generator = np.random.Generator(np.random.Philox(key=13))
    return {name: generator.integers(0, 2**32, a[name].size, np.uint32) for name in ("a", "b")}


def reference(a):
    """Return the distance of every pair: ones of one that the other lacks, and the other way round."""
    rows = (a[name].view(np.uint8).reshape(-1, 4 * a["words"]) for name in ("a", "b"))
    bits_a, bits_b = (np.unpackbits(part, axis=1).astype(np.float32) for part in rows)
    distance = bits_a @ (1 - bits_b.T) + (1 - bits_a) @ bits_b.T
    return {"distance": distance.astype(np.int32).ravel()}
