"""softmax(scale Q K^T) V per head in double precision, head size 64."""

import numpy as np


def reference(a):
    """Return O after the launch."""
    q, k, v = (a[name].reshape(a["heads"], a["n"], 64).astype(np.float64) for name in "QKV")
    scores = a["scale"] * q @ k.transpose(0, 2, 1)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    return {"O": (weights @ v).astype(np.float32).ravel()}
