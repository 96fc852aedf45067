"""The power model ``component+learned``: the component model times a learned factor, where that is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.case import Case, Power, Timing
from warpwatt.models.component.features import physical_features
from warpwatt.models.component.model import Component
from warpwatt.models.trained.file import read
from warpwatt.models.trained.shapley import shap

if TYPE_CHECKING:
    from warpwatt.models.trained.file import TrainedModel
    from warpwatt.models.trained.predictors import Floats

MOST_NAMED = 3
"""Features named in a warning."""


class ComponentLearned:
    """Board power as the sum of its components, times what was learned of their errors."""

    name = "component+learned"
    summary = "component, times a factor learned from what it left unexplained on measured GPUs"

    def predict(self, case: Case, timing: Timing) -> Power:
        """Return the mean power while the kernel runs.

        Where nothing was learned of the GPU, or a feature leaves the range of training, the component model
        answers alone, and a warning says so.

        Raises
        ------
        UnsupportedGpuError
            If the GPU's board power is not known.
        ModelFileError
            If the shipped model file is damaged.
        """
        base = Component().predict(case, timing)
        features = physical_features(case, timing)
        model = shipped_model()
        reason = refusal(model, case.gpu.name, features)
        if reason:
            message = f"{reason}: power is the component model's alone"
            return replace(base, model=self.name, warnings=(*base.warnings, message))
        row = _row(model, features)
        factor = float(model.predict(row[None, :])[0])
        return replace(
            base,
            model=self.name,
            power=base.power.scaled(factor),
            components={name: watts * factor for name, watts in base.components.items()},
            reasons=partial(effects_in_watts, base.power.value, tuple(row)),
        )


@lru_cache(maxsize=1)
def shipped_model() -> TrainedModel:
    """Return the model that comes with WarpWatt, read once."""
    return read(Path(str(files("warpwatt.models.learned").joinpath("model.json"))))


def refusal(model: TrainedModel, gpu: str, features: Mapping[str, float]) -> str:
    """Return why the learned part does not apply to a case; empty where it does."""
    if gpu not in model.card["data"]["gpus"]:
        return f"nothing was learned of {gpu}"
    if any(math.isnan(features[name]) for name in model.features):
        return "a physical feature is not known"
    outside = model.outside(_row(model, features)[None, :])
    if not outside:
        return ""
    more = f" and {len(outside) - MOST_NAMED} more" if len(outside) > MOST_NAMED else ""
    return f"outside what was learned ({', '.join(outside[:MOST_NAMED])}{more})"


def effects_in_watts(prior: float, row: tuple[float, ...]) -> dict[str, float]:
    """Return what raises (+) or lowers (-) the component model's ``prior`` watts, by feature, largest first.

    Watts add up to the change; factors do not, so that each factor's logarithm (its SHAP value) is turned
    into watts by the logarithmic mean of the power before and after. ``usual`` is what the trees say of
    every launch alike.
    """
    model = shipped_model()
    usual, effects = shap(model.estimator, np.array(row))
    logs = {"usual": usual, **{name: float(e) for name, e in zip(model.features, effects, strict=True)}}
    total = math.fsum(logs.values())
    mean = prior * (math.expm1(total) / total if total else 1.0)
    found = {name: mean * log for name, log in logs.items() if log}
    return dict(sorted(found.items(), key=lambda pair: -abs(pair[1])))


def _row(model: TrainedModel, features: Mapping[str, float]) -> Floats:
    return np.array([features[name] for name in model.features], dtype=np.float64)
