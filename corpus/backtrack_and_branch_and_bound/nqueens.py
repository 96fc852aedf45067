"""Solutions of the n-queens problem."""

import numpy as np

SOLUTIONS = (1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512)
"""The On-Line Encyclopedia of Integer Sequences, A000170."""


def reference(a):
    """Return the number of solutions."""
    return {"solutions": np.array([SOLUTIONS[a["n"]]], np.uint64)}
