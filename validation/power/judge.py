"""Predictions for programs and GPUs that nothing was fitted to, beside baselines."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.gpus import find
from warpwatt.lab.measure.components import (
    NOISE,
    fit_board_factors,
    fit_components,
    fit_shared_numbers,
    no_work_runs,
    predicted_spread,
    predicted_watts,
)
from warpwatt.models.component.no_work import all_readings
from warpwatt.models.component.parameters import Coefficient, specification, with_readings
from warpwatt.models.component.table import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from validation.power.by_hand import PowerCase
    from warpwatt.core.gpu import Gpu
    from warpwatt.lab.measure.components import FittedComponents, PoweredRun
    from warpwatt.models.component.parameters import Parameters

ALIKE: Mapping[str, str] = {
    "matrixMulShared": "matrixMul",
    "nnForward": "backprop",
    "backpropForward": "backprop",
    "backpropBackward": "backprop",
    "scanScanExclusiveShared": "scan",
    "scanUniformUpdate": "scan",
}
"""Programs that are one for splitting: the same kernel under two names, or two kernels of one program."""
FEWEST = 2
"""Programs that a GPU needs for leaving one out."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the component model says of a case: watts with measured and with predicted time, and the spread.

    ``constant`` is the mean of the training programs' watts (of this GPU, or scaled by the power limit).
    ``unread`` is what the model would say were the board without work not published.
    """

    watts: float
    watts_predicted_time: float | None
    spread: float
    constant: float
    unread: float


@dataclass(frozen=True, slots=True)
class Judged:
    """Answers in the order of the cases, None where a setting does not apply."""

    specification: Sequence[Answer | None]
    calibrated: Sequence[Answer | None]


def same_program(name: str) -> str:
    """Return the name that a program is split by.

    >>> same_program("nnForward"), same_program("vectorAdd")
    ('backprop', 'vectorAdd')
    """
    return ALIKE.get(name, name)


def judge_specification(cases: Sequence[PowerCase]) -> list[Answer | None]:
    """Answer each case with shared numbers fitted without its GPU and without its program."""
    found: list[Answer | None] = [None] * len(cases)
    for (gpu, program), members in _groups(cases, split_all=False).items():
        training = [c for c in cases if c.fits and c.gpu != gpu and same_program(c.program) != program]
        training = [c for c in training if not _relative(c, cases[members[0]])]
        device = cases[members[0]].measured.gpu
        bare = specification(device, fit_shared(training, without=die(device)))
        known = with_readings(bare, device)
        limit = cases[members[0]].measured.gpu.power_limit or 0.0
        share = statistics.fmean(
            _by_program({c: c.measured.watts / (c.measured.gpu.power_limit or 1.0) for c in training})
        )
        for i in members:
            found[i] = _answer(cases[i], known, share * limit, predicted_watts(cases[i].measured, bare))
    return found


def judge_calibrated(cases: Sequence[PowerCase]) -> list[Answer | None]:
    """Answer each case with coefficients fitted to the other programs of its GPU in its data set.

    The prior is what the other GPUs say.
    """
    found: list[Answer | None] = [None] * len(cases)
    by_gpu: dict[tuple[str, str], list[PowerCase]] = defaultdict(list)
    for case in cases:
        by_gpu[case.data, case.gpu].append(case)
    priors: dict[str, Mapping[str, tuple[float, float]]] = {}
    for (gpu, program), members in _groups(cases, split_all=True).items():
        if gpu not in priors:
            priors[gpu] = fit_shared([c for c in cases if c.fits and c.gpu != gpu], without="")
        for data in sorted({cases[i].data for i in members}):
            training = [c for c in by_gpu[data, gpu] if same_program(c.program) != program]
            if len({same_program(c.program) for c in training}) < FEWEST:
                continue
            device = training[0].measured.gpu
            base = with_readings(specification(device, priors[gpu]), device)
            fit = fit_components([c.measured for c in training], device, base)
            mean = statistics.fmean(_by_program({c: c.measured.watts for c in training}))
            for i in members:
                if cases[i].data == data:
                    found[i] = _answer(cases[i], with_fit(base, fit), mean, math.nan)
    return found


@dataclass(frozen=True, slots=True)
class Floor:
    """A board without work: watts read, said without any reading of its chip, and said by the package."""

    run: PoweredRun
    unread: float
    said: float


def judge_floor(cases: Sequence[PowerCase], values: Mapping[str, tuple[float, float]]) -> list[Floor]:
    """Return what is said of every board that was read without work."""
    others = {chip: fit_shared(_of_other_chips(cases, chip), without=chip) for chip in _chips()}
    found = []
    for run in without_work():
        bare = specification(run.gpu, others[die(run.gpu)])
        known = with_readings(specification(run.gpu, values), run.gpu)
        found.append(Floor(run, predicted_watts(run, bare), predicted_watts(run, known)))
    return found


def _chips() -> set[str]:
    return {die(run.gpu) for run in without_work()}


def _of_other_chips(cases: Sequence[PowerCase], chip: str) -> list[PowerCase]:
    return [case for case in cases if die(case.measured.gpu) != chip]


def fit_shared(training: Sequence[PowerCase], without: str) -> dict[str, tuple[float, float]]:
    """Return shared numbers fitted to cases and to boards without work, but for those of a chip."""
    return fit_shared_numbers(
        [case.measured for case in training] + [run for run in without_work() if die(run.gpu) != without]
    )


def board_factors(training: Sequence[PowerCase]) -> dict[str, float]:
    """Return what boards with measured kernels draw over what shared numbers say."""
    return fit_board_factors([case.measured for case in training] + list(without_work()))


def later_factors(cases: Sequence[PowerCase], values: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Return the same of boards that no fit knew, shared numbers as they are: every data set counts once."""
    logs: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        gpu = case.measured.gpu
        said = predicted_watts(case.measured, with_readings(specification(gpu, values), gpu))
        logs[gpu.name][case.data].append(math.log(case.measured.watts / said))
    apart = number("model", "between_boards") ** 2
    return {
        name: math.exp(
            statistics.fmean(map(statistics.fmean, own.values())) * apart / (apart + NOISE**2 / len(own))
        )
        for name, own in logs.items()
    }


@lru_cache(maxsize=1)
def without_work() -> tuple[PoweredRun, ...]:
    """Return the published readings of boards without work."""
    return tuple(run for board in all_readings() for run in no_work_runs(find(board)))


def die(gpu: Gpu) -> str:
    """Return the chip of a GPU, or its name: boards of one chip are left out together."""
    return gpu.die or gpu.name


def with_fit(base: Parameters, fit: FittedComponents) -> Parameters:
    """Return parameters with fitted coefficients put in."""
    coefficients = {
        name: Coefficient(value, min(1.0, error / value) if value > 0 else 0.0)
        for name, (value, error) in fit.coefficients.items()
    }
    return replace(base, coefficients=coefficients, voltage=fit.voltage, residual=fit.residual)


def with_random_data(case: PowerCase) -> PowerCase:
    """Return a case whose buffers count as random."""
    parts = tuple((work, seconds, 1.0) for work, seconds, _ in case.measured.parts)
    return replace(case, measured=replace(case.measured, parts=parts))


def _answer(case: PowerCase, known: Parameters, constant: float, unread: float) -> Answer:
    limit = case.measured.gpu.power_limit or float("inf")
    ours = None if case.predicted is None else min(limit, predicted_watts(case.predicted, known))
    watts = predicted_watts(case.measured, known)
    return Answer(watts, ours, predicted_spread(case.measured, known), constant, unread)


def _groups(cases: Sequence[PowerCase], *, split_all: bool) -> dict[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i, case in enumerate(cases):
        program = same_program(case.program) if case.fits or split_all else case.data
        found[case.gpu, program].append(i)
    return dict(found)


def _relative(case: PowerCase, of: PowerCase) -> bool:
    """Whether a case was measured on another board of the same chip."""
    return bool(case.measured.gpu.die) and case.measured.gpu.die == of.measured.gpu.die


def _by_program(values: Mapping[PowerCase, float]) -> list[float]:
    """Return the mean of each GPU's program."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for case, value in values.items():
        found[case.gpu, case.program].append(value)
    return [statistics.fmean(group) for group in found.values()]
