"""Sums of table rows per bag; bags of uneven length, some of them empty."""

import numpy as np


def inputs(a):
    """Return indices into the table, and bag boundaries at random places."""
    rng = np.random.default_rng(0)
    cuts = np.sort(rng.integers(0, a["entries"] + 1, a["bags"] - 1))
    offset = np.concatenate(([0], cuts, [a["entries"]])).astype(np.int32)
    return {"offset": offset, "id": rng.integers(0, a["vocabulary"], a["entries"], np.int32)}


def reference(a):
    """Return out after the launch."""
    table = a["table"].reshape(a["vocabulary"], a["dim"])
    bag = np.repeat(np.arange(a["bags"]), np.diff(a["offset"]))
    out = np.zeros((a["bags"], a["dim"]))
    np.add.at(out, bag, table[a["id"]])
    return {"out": out.astype(np.float32).ravel()}
