"""FNV-1a (64 bits) of rows of bytes."""

import numpy as np


def reference(a):
    """Return the hash of every row."""
    hashes = np.full(a["n"], 0xCBF29CE484222325, np.uint64)
    for column in a["rows"].reshape(a["n"], a["length"]).T:
        hashes = (hashes ^ column) * np.uint64(0x100000001B3)
    return {"hashes": hashes}
