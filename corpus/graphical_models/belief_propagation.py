"""One synchronous round of min-sum belief propagation on a grid."""

import numpy as np

LABELS = 8


def send(a, heard):
    """Return the messages of senders whose costs by label are `heard`, each shifted to a minimum of 0."""
    label = np.arange(LABELS)
    smoothness = np.minimum(a["slope"] * np.abs(label[:, None] - label), a["limit"])
    message = (heard[:, None] + smoothness[:, :, None, None]).min(axis=0)
    return message - heard.min(axis=0)


def reference(a):
    """Return all messages after the round; those from outside the grid stay as they were."""
    shape = (LABELS, a["height"], a["width"])
    cost = a["cost"].reshape(shape).astype(np.float64)
    west, east, north, south = a["in"].reshape(4, *shape).astype(np.float64)
    belief = cost + west + east + north + south
    out = a["out"].reshape(4, *shape)
    out[0, :, :, 1:] = send(a, belief - east)[:, :, :-1]
    out[1, :, :, :-1] = send(a, belief - west)[:, :, 1:]
    out[2, :, 1:] = send(a, belief - south)[:, :-1]
    out[3, :, :-1] = send(a, belief - north)[:, 1:]
    return {"out": out.ravel()}
