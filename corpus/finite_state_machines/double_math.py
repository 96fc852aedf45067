"""A rational function and a root, iterated."""

import numpy as np


def reference(a):
    """Return every element after ``rounds`` rounds."""
    v = a["x"]
    for _ in range(a["rounds"]):
        ratio = np.polyval([0.125, -0.5, 0.75, 1.5, 0.25], v) / np.polyval([0.0625, 0.375, 1.25, 2], v)
        v = (ratio + np.hypot(v, 0.5)) / 2
    return {"x": v}
