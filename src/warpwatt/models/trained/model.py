"""Trained models beside the others: a file of ``warpwatt train`` as a time model or a power model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.case import Case, LearnedReasons, Power, Timing
from warpwatt.core.errors import InputError
from warpwatt.core.estimate import Estimate, Source
from warpwatt.core.execution import with_assumed
from warpwatt.core.program import Level
from warpwatt.gpus import default_clocks
from warpwatt.models.trained.file import TrainedModel, read
from warpwatt.models.trained.inputs import inputs
from warpwatt.models.trained.packed import ModelFileError
from warpwatt.models.trained.reasons import learned_reasons

if TYPE_CHECKING:
    from warpwatt.models.trained.predictors import Floats

WIDEST = 20.0
"""Spread of the logarithm that no model has, however bad."""
OUTSIDE = 0.5
"""Further spread of the logarithm where a feature leaves the range of training."""
SAME_CLOCKS = 0.02
"""Logarithm of the SM clock over the GPU's own below which it is that clock."""
CLOCK_EXPONENT = 1.5
"""Spread of the logarithm for each unit of the clock's, where a model knows no clocks: dynamic power grows by
about the square of the clock, time falls by the first power at most."""
CLOCKS = ("coref", "core_frequency", "memf")
"""What public tables call clocks."""
OTHER_GPU = 0.5
"""Further spread on a GPU that no row is from."""
MAPE_TO_SPREAD = math.sqrt(math.pi / 2)
"""Standard deviation of a log-normal error over its mean absolute error."""
LEARNED = "learned"
"""The one component of a power that was learned altogether."""


class TrainedPower:
    """Power as a trained model says, or its energy over the time; the card's error is the interval."""

    def __init__(self, path: Path, name: str = "") -> None:
        self._path = path
        self._model = opened(path)
        if self._model.target not in {"power", "energy"}:
            hint = f"--model time={path}" if self._model.target == "time" else "a model of power or energy"
            raise ModelFileError(f"predicts {self._model.target}, not power", file=path, hint=hint)
        self.name = name or str(path)
        self.summary = _summary(self._model)
        self.card = self._model.card

    def predict(self, case: Case, timing: Timing) -> Power:
        """Return the mean power while the kernel runs.

        Raises
        ------
        InputError
            If a feature of the model cannot be found for this case.
        """
        row = inputs(self._model, case, timing)
        found, warnings = estimate(self._model, self.name, row, case)
        if self._model.target == "energy":
            found = found.combine(timing.time, lambda joules, seconds: joules / seconds, "W")
        reasons = partial(reasons_of_file, str(self._path), tuple(row))
        return Power(self.name, found, {LEARNED: found.value}, warnings=warnings, learned=reasons)


class TrainedTime:
    """Time as a trained model says; the card's error is the interval."""

    levels = (Level.PTX, Level.SASS)

    def __init__(self, path: Path) -> None:
        self._path = path
        self._model = opened(path)
        if self._model.target != "time":
            raise ModelFileError(
                f"predicts {self._model.target}, not time", file=path, hint=f"--model power={path}"
            )
        self.name = str(path)
        self.summary = _summary(self._model)

    def predict(self, case: Case) -> Timing:
        """Return the timing; nothing but the time is known.

        Raises
        ------
        InputError
            If a feature of the model cannot be found for this case.
        """
        row = inputs(self._model, case, None)
        found, warnings = estimate(self._model, self.name, row, case)
        return Timing(
            model=self.name,
            time=found,
            bottleneck="what the learned model does not say",
            breakdown={LEARNED: found.value},
            utilisation={},
            warnings=warnings,
            learned=partial(reasons_of_file, str(self._path), tuple(row)),
        )


def opened(path: Path) -> TrainedModel:
    """Return the model of a file, read again only where the file has changed.

    Raises
    ------
    ModelFileError
        If the file is none, of another version, damaged, or not what its checksum says.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise ModelFileError(f"cannot be read: {error.strerror}", file=path) from error
    return _read(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _read(path: Path, _changed: int, _size: int) -> TrainedModel:
    return read(path)


def reasons_of_file(path: str, row: tuple[float, ...]) -> LearnedReasons:
    """Return why the model of a file predicts what it predicts for a row."""
    return learned_reasons(opened(Path(path)), np.array(row))


def estimate(model: TrainedModel, name: str, row: Floats, case: Case) -> tuple[Estimate, tuple[str, ...]]:
    """Return a prediction with the card's error as its interval, and what a reader must know.

    Raises
    ------
    InputError
        If the prediction is not positive: so far out do models without bounds extrapolate.
    """
    value = float(model.predict(row[None, :])[0])
    if not value > 0 or not math.isfinite(value):
        ranges = "; ".join(_leaving(model, row)) or "none of its features leaves the range of training"
        raise InputError(f"model {name} predicts {value:.3g} {model.unit}: {ranges}")
    spreads = {f"trained:{model.target} error": card_spread(model.card)}
    warnings = []
    gpus = [str(name) for name in model.card.get("data", {}).get("gpus") or ()]
    if not gpus:
        warnings.append(f"{name} does not say which GPU its rows were measured on")
    elif case.gpu.name not in gpus:
        spreads["trained: another GPU"] = OTHER_GPU
        warnings.append(
            f"{name} was trained on {', '.join(gpus)}: what it says of {case.gpu.name} is a guess; "
            "warpwatt train --transfer carries it over with thirty measurements"
        )
    away = _clocks_away(model, case)
    if away > SAME_CLOCKS:
        spreads["trained: another clock"] = CLOCK_EXPONENT * away
        warnings.append(
            f"{name} knows no clocks: its {model.target} is that at the clocks of its measurements"
        )
    leaving = list(_leaving(model, row))
    if leaving:
        spreads["trained: outside its range"] = OUTSIDE
        warnings.append(f"{name} extrapolates, outside its range of training: {'; '.join(leaving)}")
    every = with_assumed(spreads, () if model.target == "power" else case.workload.assumptions)
    found = Estimate.spread(value, every, model.unit, Source.MODELLED)
    return found, tuple(warnings)


def _clocks_away(model: TrainedModel, case: Case) -> float:
    """Return how far the SM clock is from the GPU's own, as a logarithm; 0 for a model that reads clocks."""
    if any("clock" in name or name in CLOCKS for name in model.features):
        return 0.0
    return abs(math.log(case.clocks.sm / default_clocks(case.gpu).sm))


def card_spread(card: Mapping[str, Any]) -> float:
    """Return the standard deviation of log(measured / predicted) of held-out rows, as a card states it.

    >>> card = {"model": {"name": "m"}, "figures": {"m": {"pooled": {"mape": 8.0}}}}
    >>> round(card_spread(card), 3), card_spread({**card, "spread": 0.2})
    (0.1, 0.2)
    """
    try:
        if "spread" in card:
            return _sound(float(card["spread"]))
        return _sound(MAPE_TO_SPREAD * float(card["figures"][card["model"]["name"]]["pooled"]["mape"]) / 100)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError("its card states no error", hint="train it again") from error


def _sound(spread: float) -> float:
    if not 0 <= spread < WIDEST:
        raise ValueError(f"a spread of {spread}")
    return spread


def _leaving(model: TrainedModel, row: Floats) -> Iterator[str]:
    """Yield each feature outside the range of training, its value and the range."""
    for name in model.outside(row[None, :]):
        i = model.features.index(name)
        yield f"{name} {row[i]:g} ({model.low[i]:g} to {model.high[i]:g})"


def _summary(model: TrainedModel) -> str:
    data = model.card.get("data", {})
    return f"{model.target} learned from {data.get('rows', '?')} rows of {data.get('file', 'measurements')}"
