"""How many of the random points lie in the quarter disc."""

import numpy as np


def philox(low, high, key):
    """Return two random words for each counter by Philox2x32-10 (Salmon et al., 2011)."""
    low, high = np.broadcast_arrays(np.uint64(low), np.uint64(high))
    for step in range(10):
        product = low * np.uint64(0xD256D193)
        round_key = np.uint64((key + step * 0x9E3779B9) % 2**32)
        low, high = (product >> np.uint64(32)) ^ round_key ^ high, product & np.uint64(0xFFFFFFFF)
    return low, high


def reference(a):
    """Return the count, exactly."""
    threads = np.arange(a["threads"])
    hits = 0
    for i in range(a["samples"]):
        x, y = (word >> np.uint64(8) for word in philox(threads, i, a["seed"]))
        hits += int(np.count_nonzero(x * x + y * y < np.uint64(1 << 48)))
    return {"hits": np.array([hits], np.uint64)}
