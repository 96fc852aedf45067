"""Steps of Collatz's sequence down to one."""

import numpy as np


def reference(a):
    """Return the number of steps from ``start``, ``start`` + 1, ..."""
    value = a["start"] + np.arange(a["n"], dtype=np.int64)
    steps = np.zeros(a["n"], np.int32)
    while (value != 1).any():
        steps += value != 1
        value = np.where(value == 1, 1, np.where(value % 2 == 0, value // 2, 3 * value + 1))
    return {"steps": steps}
