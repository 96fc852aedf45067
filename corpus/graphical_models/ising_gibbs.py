"""One checkerboard Gibbs sweep of the Ising model on a torus."""

import numpy as np


def inputs(args):
    """Return random spins and the thresholds for inverse temperature `beta`."""
    cells = args["width"] * args["height"]
    noise = np.frombuffer(np.random.default_rng(1).bytes(cells), np.int8)
    up = 1 / (1 + np.exp(-2 * args["beta"] * np.arange(-4, 5, 2)))
    return {"spin": (noise & 2) - np.int8(1), "threshold": (up * 2**32).astype(np.uint32)}


def mix(x):
    """Return a 32-bit hash of an array of uint32."""
    x = x ^ (x >> np.uint32(16))
    x = x * np.uint32(0x7FEB352D)
    x = x ^ (x >> np.uint32(15))
    x = x * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def reference(a):
    """Return the spins after both colours were drawn anew."""
    spin = a["spin"].reshape(a["height"], a["width"])
    cell = np.arange(spin.size, dtype=np.uint32).reshape(spin.shape)
    key = mix(np.array([a["sweep"]], np.uint32) ^ mix(np.array([a["seed"]], np.uint32)))
    random = mix(cell ^ key)
    y, x = np.indices(spin.shape)
    for colour in (0, 1):
        up = sum((np.roll(spin, s, axis) > 0).astype(np.int64) for s in (1, -1) for axis in (0, 1))
        drawn = np.where(random < a["threshold"][up], 1, -1)
        spin = np.where((x + y) % 2 == colour, drawn, spin)
    return {"spin": spin.astype(np.int8).ravel()}
