"""y = W x with W unpacked from nibbles (low first, offset 8) and scaled per group of 32."""

import numpy as np


def inputs(a):
    """Return words with all 32 bits random."""
    return {"W": np.random.default_rng(0).integers(0, 2**32, a["W"].shape, np.uint32)}


def reference(a):
    """Return y after the launch."""
    rows, cols = a["rows"], a["cols"]
    nibbles = a["W"].reshape(-1, 1) >> np.arange(0, 32, 4, dtype=np.uint32) & 15
    weights = nibbles.reshape(rows, cols // 32, 32) - 8.0
    scaled = weights * a["scale"].astype(np.float64).reshape(rows, cols // 32, 1)
    return {"y": (scaled.reshape(rows, cols) @ a["x"]).astype(np.float32)}
