"""The study's regressors: published hyper-parameters under today's argument names (``regressors.toml``)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.lab.learn.errors import DataError, import_optional

if TYPE_CHECKING:
    from warpwatt.lab.learn.samples import Floats


@dataclass(frozen=True, slots=True)
class Scaling:
    """``(x − offset) / width``, feature by feature; shapes (features,)."""

    offset: Floats
    width: Floats

    def __call__(self, x: Floats) -> Floats:
        """Return scaled features of shape (rows, features); what is outside the training range stays so."""
        return (x - self.offset) / self.width


def min_max(x: Floats) -> Scaling:
    """Return the scaling of each feature to 0..1 (thesis 5.7.8); a constant feature becomes 0.

    >>> min_max(np.array([[1.0, 7.0], [3.0, 7.0]]))(np.array([[2.0, 7.0]])).tolist()
    [[0.5, 0.0]]
    """
    low, high = x.min(axis=0), x.max(axis=0)
    return Scaling(low, np.where(high > low, high - low, 1.0))


def standard(x: Floats) -> Scaling:
    """Return the scaling of each feature to zero mean and unit variance; a constant feature becomes 0."""
    deviation = x.std(axis=0)
    return Scaling(x.mean(axis=0), np.where(deviation > 0, deviation, 1.0))


SCALINGS = {"min-max": min_max, "standard": standard}
"""Scalings by the name that ``regressors.toml`` and model files use."""


STUDY = (
    "random_forest", "extra_trees", "gradient_boosting", "xgboost", "catboost", "decision_tree", "svr", "ann"
)  # fmt: skip
"""The eight regressors of thesis Table 5.8."""
BASELINE = "mean"
"""The regressor that stands beside every other: the mean of its training rows."""


@dataclass(frozen=True, slots=True)
class Regressor:
    """One kind of regressor with its hyper-parameters.

    ``path`` is ``module:class``; ``parameters`` decide the result, ``always`` do not; ``renamed`` says what
    the published name of a parameter was; ``grid`` are the values to try in tuning.
    """

    name: str
    title: str
    path: str
    source: str
    seed: str = ""
    scaling: str = "min-max"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    always: Mapping[str, Any] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def build(self, seed: int) -> Any:
        """Return an untrained estimator with ``fit`` and ``predict``.

        Raises
        ------
        MissingPackageError
            If its package is not installed.
        """
        module, _, name = self.path.partition(":")
        seeded = {self.seed: seed} if self.seed else {}
        return getattr(import_optional(module), name)(**self.parameters, **self.always, **seeded)

    def with_parameters(self, chosen: Mapping[str, Any]) -> Regressor:
        """Return the regressor with some hyper-parameters changed."""
        return replace(self, parameters={**self.parameters, **chosen})


@dataclass(frozen=True, slots=True)
class Fitted:
    """A trained regressor: scaling, estimator, and whether it learned the logarithm of the target."""

    regressor: Regressor
    scaling: Scaling
    estimator: Any
    logarithmic: bool = False

    def predict(self, x: Floats) -> Floats:
        """Return predictions for unscaled features of shape (rows, features), in the target's unit."""
        found = np.asarray(self.estimator.predict(self.scaling(x)), dtype=np.float64).reshape(-1)
        return np.exp(found) if self.logarithmic else found


def fit(regressor: Regressor, x: Floats, y: Floats, seed: int, *, logarithmic: bool = False) -> Fitted:
    """Return a regressor trained on rows; the scaling is learned from the same rows only."""
    scaling = SCALINGS[regressor.scaling](x)
    estimator = regressor.build(seed)
    estimator.fit(scaling(x), np.log(y) if logarithmic else y)
    return Fitted(regressor, scaling, estimator, logarithmic)


@lru_cache(maxsize=1)
def regressors() -> Mapping[str, Regressor]:
    """Return all regressors by name, the baseline first."""
    data = tomllib.loads((files("warpwatt.lab.learn") / "regressors.toml").read_text(encoding="utf-8"))
    return {name: _regressor(name, entry) for name, entry in data.items()}


def regressor(name: str) -> Regressor:
    """Return one regressor.

    Raises
    ------
    DataError
        If there is none of that name; ``hint`` lists them.

    >>> regressor("xgboost").parameters["learning_rate"]
    0.05
    """
    known = regressors()
    if name not in known:
        raise DataError(f"no regressor {name!r}", hint=f"--model {', '.join(known)}")
    return known[name]


def _regressor(name: str, entry: Mapping[str, Any]) -> Regressor:
    rest = {key: value for key, value in entry.items() if key != "class"}
    return Regressor(name=name, path=entry["class"], **rest)
