"""0/1 knapsack: the rows of two items."""

import numpy as np


def inputs(args):
    """Return best values that grow with the capacity by 0 to 3 a step, as rows of earlier items would."""
    steps = np.random.default_rng(1).integers(0, 4, args["capacities"], dtype=np.int32)
    return {"row_a": np.cumsum(steps, dtype=np.int32)}


def add_item(row, weight, worth):
    """Return the best values when the item may be taken too."""
    best = row.copy()
    best[weight:] = np.maximum(row[weight:], row[: len(row) - weight] + worth)
    return best


def reference(a):
    """Return the row after the first item, and the one after both in place of the input."""
    row_b = add_item(a["row_a"], a["weight_1"], a["worth_1"])
    return {"row_a": add_item(row_b, a["weight_2"], a["worth_2"]), "row_b": row_b}
