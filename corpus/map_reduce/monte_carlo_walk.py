"""Steps of random walks until they leave a disc."""

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
    """Return the number of steps of every walk, at most ``limit``."""
    walkers, squared = np.arange(a["walkers"]), a["radius"] ** 2
    place = np.zeros((2, a["walkers"]), np.int64)
    steps = np.zeros(a["walkers"], np.int32)
    for step in range(a["limit"]):
        inside = (place**2).sum(axis=0) < squared
        if not inside.any():
            break
        steps += inside
        word = philox(walkers, step // 16, a["seed"])[0] >> np.uint64(2 * (step % 16))
        sign = np.where(word & np.uint64(1), 1, -1) * inside
        along_x = (word & np.uint64(2)).astype(bool)
        place[0] += sign * along_x
        place[1] += sign * ~along_x
    return {"steps": steps}
