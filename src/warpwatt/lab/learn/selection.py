"""From all features to the few that a model learns from (thesis 5.5): derived, uncorrelated, impactful.

The steps are the thesis's, applied by rule: totals per SM give way to averages; of features correlated
above 0.85 the preferred one stays; what a forest finds without impact goes. Where the thesis chooses by
judgement (it keeps ``block_size`` over ``sm_active``, ``inst_issue_cycles`` over what it correlates
with), ``PREFERRED`` holds its choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.lab.learn.errors import import_optional
from warpwatt.lab.learn.regressors import regressor

if TYPE_CHECKING:
    from warpwatt.lab.learn.samples import Floats, Samples

THRESHOLD = 0.85
"""Correlation above which two features count as one (thesis 5.5.2)."""
CLASSES = ("comp", "glob", "misc", "shar")
REPLACED = tuple(f"{name}_{what}_sm" for what in ("inst", "lat") for name in CLASSES)
"""Totals per SM, replaced by the average latency ``avg_*_lat``, which is their quotient (thesis 5.5.1)."""
PREFERRED = ("inst_issue_cycles", "block_size", "avg_shar_lat")
"""Kept when correlated with others: the thesis's choices (5.5.2)."""
IMPACT = 0.001
"""Share of a forest's importance below which a feature is without impact. The thesis names no bound; on its
data this one removes what it removed, ``avg_misc_lat`` (0.0003), and the next has 0.0025."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What each step removed: a feature and why, and what remains.

    ``pearson`` and ``kendall`` are the correlations of the features ``at_pearson`` and ``at_kendall``, square
    matrices; ``importance`` is the forest's of ``at_importance``, shares.
    """

    removed: tuple[tuple[str, str], ...]
    at_pearson: tuple[str, ...]
    pearson: Floats
    at_kendall: tuple[str, ...]
    kendall: Floats
    at_importance: tuple[str, ...]
    importance: Floats
    kept: tuple[str, ...]


def select(samples: Samples, threshold: float = THRESHOLD, impact: float = IMPACT) -> Selection:
    """Return the features that remain of the samples', and why the others went."""
    removed = [
        (name, "its class's average latency stands for it") for name in samples.features if name in REPLACED
    ]
    names = tuple(name for name in samples.features if name not in REPLACED)
    constant = [name for name in names if np.ptp(samples.only((name,)).x) == 0]
    removed += [(name, "constant") for name in constant]
    at_pearson = tuple(name for name in names if name not in constant)
    linear = pearson(samples.only(at_pearson).x)
    at_kendall = _uncorrelated(at_pearson, linear, threshold, "Pearson", removed)
    ranks = kendall(samples.only(at_kendall).x)
    at_importance = _uncorrelated(at_kendall, ranks, threshold, "Kendall", removed)
    shares = importance(samples.only(at_importance))
    weak = {name for name, share in zip(at_importance, shares, strict=True) if share < impact}
    removed += [(name, f"importance below {impact:g}") for name in at_importance if name in weak]
    kept = tuple(name for name in at_importance if name not in weak)
    return Selection(tuple(removed), at_pearson, linear, at_kendall, ranks, at_importance, shares, kept)


def pearson(x: Floats) -> Floats:
    """Return Pearson's coefficients of columns, shape (features, features)."""
    return np.asarray(np.corrcoef(x, rowvar=False), dtype=np.float64).reshape(x.shape[1], x.shape[1])


def kendall(x: Floats) -> Floats:
    """Return Kendall's τ-b of columns, shape (features, features)."""
    tau = import_optional("scipy.stats").kendalltau
    count = x.shape[1]
    found = np.eye(count)
    for i in range(count):
        for j in range(i):
            found[i, j] = found[j, i] = float(tau(x[:, i], x[:, j]).statistic)
    return found


def importance(samples: Samples, seed: int = 0) -> Floats:
    """Return each feature's share of the published random forest's importance; they add up to one."""
    forest = regressor("random_forest").build(seed).fit(samples.x, samples.y)
    return np.asarray(forest.feature_importances_, dtype=np.float64)


def shap_values(estimator: Any, x: Floats) -> Floats:
    """Return the SHAP values of a tree ensemble, in the target's unit, shape (rows, features).

    Raises
    ------
    MissingPackageError
        If shap is not installed.
    """
    return np.asarray(import_optional("shap").TreeExplainer(estimator).shap_values(x), dtype=np.float64)


def ranking(names: Sequence[str], weights: Floats) -> tuple[str, ...]:
    """Return names by falling weight.

    >>> ranking(("a", "b"), np.array([0.2, 0.8]))
    ('b', 'a')
    """
    return tuple(names[int(i)] for i in np.argsort(-weights, kind="stable"))


def _uncorrelated(
    names: Sequence[str], matrix: Floats, threshold: float, coefficient: str, removed: list[tuple[str, str]]
) -> tuple[str, ...]:
    """Keep features in order, the preferred first; a later one correlated with a kept one goes."""
    order = sorted(range(len(names)), key=lambda i: (names[i] not in PREFERRED, i))
    kept: list[int] = []
    for i in order:
        rival = next((j for j in kept if abs(matrix[i, j]) > threshold), None)
        if rival is None:
            kept.append(i)
        else:
            removed.append((names[i], f"{coefficient} {matrix[i, rival]:.2f} with {names[rival]}"))
    return tuple(names[i] for i in sorted(kept))
