"""Sums, counts and means of the points of each label."""

import numpy as np


def reference(a):
    """Return all three; an empty cluster has mean zero."""
    points, labels = a["points"].reshape(-1, 4), a["labels"]
    counts = np.bincount(labels, minlength=128)
    sums = np.column_stack([np.bincount(labels, column, 128) for column in points.T])
    means = sums / np.maximum(counts, 1)[:, None]
    return {
        "sums": sums.astype(np.float32).ravel(),
        "counts": counts.astype(np.int32),
        "centroids": means.astype(np.float32).ravel(),
    }
