"""Outliers by density (thesis 5.8.2): GLOSH, the score of how far a row is out of HDBSCAN's clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warpwatt.lab.learn.errors import need
from warpwatt.lab.learn.scaling import min_max

if TYPE_CHECKING:
    from warpwatt.lab.learn.samples import Floats, Integers, Samples

QUANTILE = 0.9
"""Scores above this quantile are outliers, HDBSCAN's documented rule; 97 of about 990 rows in the thesis."""
NEIGHBOURS = 5
"""Smallest cluster: HDBSCAN's default."""


def scores(samples: Samples, neighbours: int = NEIGHBOURS) -> Floats:
    """Return GLOSH scores, 0 (in a cluster) to 1 (far out), of features and target scaled to 0..1."""
    whole = np.column_stack([samples.x, samples.y])
    clusterer = need("hdbscan").HDBSCAN(min_cluster_size=neighbours, core_dist_n_jobs=1)
    clusterer.fit(min_max(whole)(whole))
    return np.nan_to_num(np.asarray(clusterer.outlier_scores_, dtype=np.float64))


def inliers(found: Floats, quantile: float = QUANTILE) -> Integers:
    """Return the rows whose score is at most the quantile's.

    >>> inliers(np.array([0.0, 0.1, 0.9, 0.2]), 0.75).tolist()
    [0, 1, 3]
    """
    return np.flatnonzero(found <= np.quantile(found, quantile))
