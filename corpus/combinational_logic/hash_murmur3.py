"""MurmurHash3 (Appleby; x86, 32 bits) of keys stored word-major."""

import numpy as np


def inputs(a):
    """Return keys of all bits."""
    generator = np.random.Generator(np.random.Philox(key=11))
    return {"keys": generator.integers(0, 2**32, a["keys"].size, np.uint32)}


def rotate(x, by):
    """Rotate words to the left."""
    return x << np.uint32(by) | x >> np.uint32(32 - by)


def reference(a):
    """Return the hash of every key."""
    keys = a["keys"].reshape(a["words"], a["n"])
    hashes = np.full(a["n"], a["seed"], np.uint32)
    for word in keys:
        hashes ^= rotate(word * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
        hashes = rotate(hashes, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    hashes ^= np.uint32(4 * a["words"])
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        hashes = (hashes ^ hashes >> np.uint32(shift)) * np.uint32(factor)
    return {"hashes": hashes}
