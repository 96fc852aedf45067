"""What a trained model is asked with: its features of a case, from whoever computes features of that name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.errors import InputError

if TYPE_CHECKING:
    from warpwatt.core.case import Case, Timing
    from warpwatt.models.trained.file import TrainedModel
    from warpwatt.models.trained.predictors import Floats

    Card = Mapping[str, Any]
    Compute = Callable[[Sequence[str], Case, Timing | None, Card], Mapping[str, float | None]]

SOURCES = (
    "warpwatt.published.alavani.features.inputs:inputs",
    "warpwatt.models.component.inputs:inputs",
    "warpwatt.models.trained.counters:inputs",
)
"""Functions of (names, case, timing, card) that return those of the names they know, None where a value is
not known of this GPU; the timing is None where a time model asks."""


def inputs(model: TrainedModel, case: Case, timing: Timing | None) -> Floats:
    """Return the features of a case, of shape (features,).

    Raises
    ------
    InputError
        If nothing computes a feature, or its value is not known on this GPU.
    """
    found: dict[str, float | None] = {}
    for path in SOURCES:
        module, _, function = path.partition(":")
        compute: Compute = getattr(import_module(module), function)
        missing = [name for name in model.features if name not in found]
        if missing:
            found.update(compute(missing, case, timing, model.card))
    lacking = [name for name in model.features if found.get(name) is None]
    if lacking:
        unknown = [name for name in lacking if name not in found]
        what = "nothing here computes" if unknown else f"not known on {case.gpu.name}:"
        hint = "train on columns that `warpwatt features` prints, or give counters with --profile"
        raise InputError(
            f"the model's features cannot be found: {what} {', '.join(unknown or lacking)}", hint=hint
        )
    return np.array([found[name] for name in model.features], dtype=np.float64)
