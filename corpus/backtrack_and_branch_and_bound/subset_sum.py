"""Number of subsets with a given sum."""

import numpy as np


def inputs(a):
    """Return weights from 1 to 999, heaviest first."""
    generator = np.random.Generator(np.random.Philox(key=17))
    return {"weights": np.sort(generator.integers(1, 1000, a["items"], np.int32))[::-1].copy()}


def reference(a):
    """Return the count, by the number of ways to every sum as items are added one by one."""
    ways = np.zeros(a["target"] + 1, np.uint64)
    ways[0] = 1
    for weight in a["weights"]:
        ways[weight:] += ways[:-weight].copy()
    return {"count": ways[-1:]}
