"""Inclusive prefix sums modulo 2**32."""

import numpy as np


def reference(a):
    """Return all sums, and those at the ends of chunks of 2048."""
    sums = np.cumsum(a["x"], dtype=np.uint32)
    return {"y": sums, "totals": sums[2047::2048]}
