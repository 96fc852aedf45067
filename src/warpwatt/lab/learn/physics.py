"""Boosting on physical features: what a physical model leaves unexplained, as a small, regularised forest.

The target is log(measured / physical model), so that nothing learned means the physical model itself
(trees start from 0 and every leaf is shrunk towards it). Every program of a GPU weighs the same, however many
of its clocks were measured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.lab.learn.errors import import_optional
from warpwatt.lab.learn.export import xgboost_forest
from warpwatt.models.trained.file import scaling_section, sections

if TYPE_CHECKING:
    from warpwatt.lab.learn.samples import Floats

SETTINGS: Mapping[str, Any] = {
    "n_estimators": 30,
    "max_depth": 2,
    "learning_rate": 0.05,
    "subsample": 0.7,
    "colsample_bytree": 0.5,
    "reg_lambda": 5.0,
    "min_child_weight": 5.0,
}
"""Of XGBoost: few, shallow, shrunk trees, for some hundred rows of a few dozen programs."""
ALWAYS: Mapping[str, Any] = {"n_jobs": 1, "verbosity": 0, "base_score": 0.0, "random_state": 0}
WEIGHT = 5.0
"""Weight of all rows of one program and GPU together: reg_lambda and min_child_weight are in its units."""
TARGET, UNIT = "measured power / component model", "1"


@dataclass(frozen=True, slots=True, eq=False)
class Residuals:
    """Rows to learn from.

    ``x`` of shape (rows, features), ``log_ratio`` of shape (rows,); ``group`` names the program and GPU of
    each row.
    """

    features: tuple[str, ...]
    x: Floats
    log_ratio: Floats
    group: Sequence[Hashable]

    def only(self, chosen: np.ndarray[Any, np.dtype[np.bool_]]) -> Residuals:
        """Return some rows."""
        group = [name for name, kept in zip(self.group, chosen, strict=True) if kept]
        return Residuals(self.features, self.x[chosen], self.log_ratio[chosen], group)


def fit(rows: Residuals, settings: Mapping[str, Any] = SETTINGS) -> Any:
    """Return a fitted XGBoost regressor.

    Raises
    ------
    MissingPackageError
        If xgboost is not installed.
    """
    sizes = Counter(rows.group)
    weight = np.array([WEIGHT / sizes[name] for name in rows.group])
    estimator = import_optional("xgboost").XGBRegressor(**settings, **ALWAYS)
    return estimator.fit(rows.x, rows.log_ratio, sample_weight=weight)


def factors(estimator: Any, x: Floats) -> Floats:
    """Return what the physical model's power is multiplied with, of shape (rows,)."""
    return np.exp(np.asarray(estimator.predict(x), dtype=np.float64))


def export(estimator: Any, rows: Residuals) -> dict[str, Any]:
    """Return the ``model`` part of a model file."""
    low, high = rows.x.min(axis=0), rows.x.max(axis=0)
    return {
        **sections(rows.features, TARGET, UNIT, logarithmic=True),
        "scaling": scaling_section(np.zeros(len(low)), np.ones(len(low)), low, high),
        "estimator": xgboost_forest(estimator),
    }
