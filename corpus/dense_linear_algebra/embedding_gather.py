"""Table rows by index; indices are spread evenly over the vocabulary."""

import numpy as np


def inputs(a):
    """Return an index into the table per token."""
    return {"id": np.random.default_rng(0).integers(0, a["vocabulary"], a["tokens"], np.int32)}


def reference(a):
    """Return out after the launch."""
    return {"out": a["table"].reshape(a["vocabulary"], a["dim"])[a["id"]].ravel()}
