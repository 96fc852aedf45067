"""Sums of blocks of 256 elements, of blocks of those, and of everything."""

import numpy as np


def reference(a):
    """Return the sums of every pass."""
    out, x = {}, a["x"].astype(np.float64)
    for name in ("first", "second", "third"):
        x = np.pad(x, (0, -len(x) % 256)).reshape(-1, 256).sum(axis=1)
        out[name] = x.astype(np.float32)
    return out
