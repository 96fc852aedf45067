"""Candidates ranked by prediction, with the probability that each is really better than the next."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from warpwatt.choose.candidates import RankRequest, candidates
from warpwatt.choose.odds import in_order, probability_smaller
from warpwatt.core.errors import (
    DeviceError,
    ToolchainError,
    UnknownGpuError,
    UsageError,
    WarpWattError,
)
from warpwatt.core.objective import Objective
from warpwatt.core.ranking import Failed, Ranked, Ranking
from warpwatt.frontend.select import without_parameters

if TYPE_CHECKING:
    from warpwatt.core.estimate import Estimate
    from warpwatt.core.prediction import Prediction

CONFIDENCE = 0.8
"""Below this probability that the first beats another, the choice is left to a measurement."""
_OURS = (UsageError, UnknownGpuError, ToolchainError, DeviceError)
"""Errors that are not the candidate's fault."""


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    predictions: tuple[Prediction, ...]


def ranked(
    asked: RankRequest, objective: Objective = Objective.TIME, confidence: float = CONFIDENCE
) -> tuple[Ranking, ...]:
    """Predict every candidate and return one ranking per GPU, in the order in which GPUs were named.

    A candidate's launches count together; where there is only one source and one variant, its launches are
    the candidates.

    Raises
    ------
    UsageError
        If there are not two candidates.
    WarpWattError
        What is wrong with the first candidate, if nothing could be predicted of any.
    """
    entries, failed = [], []
    for candidate in candidates(asked):
        try:
            entries.append(_Entry(candidate.name, candidate.predicted()))
        except _OURS:
            raise
        except WarpWattError as error:
            failed.append(Failed(candidate.name, error))
    if not entries:
        raise failed[0].error
    if len(entries) == 1 and not failed:
        entries = _launches(entries[0].predictions)
    if len(entries) + len(failed) < 2:
        hint = "name several files, FILE@COMMIT, or several values of an option: -D TILE=16/32"
        raise UsageError("only one candidate", hint=hint)
    gpus = dict.fromkeys(p.case.gpu.name for entry in entries for p in entry.predictions)
    return tuple(_ranking(gpu, entries, failed, objective, confidence) for gpu in gpus)


def _launches(predictions: Sequence[Prediction]) -> list[_Entry]:
    """Return every launch as an entry of its own: its kernel's name, and its shape where names repeat."""
    shapes: dict[str, set[object]] = {}
    for p in predictions:
        shapes.setdefault(_plain(p), set()).add((p.case.launch.grid, p.case.launch.block))
    found: dict[str, list[Prediction]] = {}
    for p in predictions:
        launch = p.case.launch
        shape = f" --grid {launch.grid} --block {launch.block}" if len(shapes[_plain(p)]) > 1 else ""
        found.setdefault(_plain(p) + shape, []).append(p)
    return [_Entry(name, tuple(group)) for name, group in found.items()]


def _plain(prediction: Prediction) -> str:
    return without_parameters(prediction.kernel_name)


def _ranking(
    gpu: str, entries: Iterable[_Entry], failed: Sequence[Failed], objective: Objective, confidence: float
) -> Ranking:
    there = [
        (entry.name, launches)
        for entry in entries
        if (launches := tuple(p for p in entry.predictions if p.case.gpu.name == gpu))
    ]
    valued = in_order(((*one, objective_value(one[1], objective)) for one in there), lambda one: one[2])
    order = []
    for i, (name, launches, value) in enumerate(valued):
        behind = valued[i + 1][2] if i + 1 < len(valued) else None
        order.append(
            Ranked(
                name,
                value,
                _sum([p.time for p in launches]),
                _sum([p.energy for p in launches]),
                launches,
                None if behind is None else probability_smaller(value, behind),
                None if i == 0 else probability_smaller(value, valued[0][2]),
            )
        )
    return Ranking(gpu, objective, confidence, tuple(order), tuple(failed))


def objective_value(launches: Sequence[Prediction], objective: Objective) -> Estimate:
    """Return what launches that count together are judged by."""
    time, energy = _sum([p.time for p in launches]), _sum([p.energy for p in launches])
    match objective:
        case Objective.TIME:
            return time
        case Objective.ENERGY:
            return energy
        case Objective.EDP:
            return energy.combine(time, operator.mul, "J·s")


def _sum(parts: Sequence[Estimate]) -> Estimate:
    return reduce(lambda one, other: one.combine(other, operator.add, one.unit), parts)
