"""Measured launches as the hybrid sees them: the model's timing of each, and how long it took."""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from validation.timing.cases import cases
from warpwatt.core.errors import WarpWattError
from warpwatt.core.estimate import Estimate
from warpwatt.models.hybrid import Run
from warpwatt.models.registry import time_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from validation.timing.cases import Measured
    from warpwatt.core.case import Timing


@dataclass(frozen=True, slots=True, eq=False)
class Timed:
    """A measured run and the model's answer; ``run.measured`` is the measured time."""

    measured: Measured
    run: Run

    @property
    def threads(self) -> float:
        """Threads of all its launches: what one scales a time by without a model."""
        return sum(part.times * part.launch.threads for part in self.measured.pieces)


def timed(runs: Iterable[Measured], model: str) -> list[Timed]:
    """Return every run that the model answers."""
    found = []
    for measured in runs:
        try:
            found.append(_timed(measured, model))
        except WarpWattError as error:
            what = f"{measured.program} {measured.configuration} on {measured.gpu}"
            print(f"{model} refuses {what}: {error}", file=sys.stderr)
    return found


def by_program(runs: Iterable[Timed]) -> dict[tuple[str, str], list[Timed]]:
    """Return the runs by GPU and program."""
    groups: dict[tuple[str, str], list[Timed]] = defaultdict(list)
    for one in runs:
        groups[one.measured.gpu, one.measured.program].append(one)
    return dict(groups)


def _timed(measured: Measured, model: str) -> Timed:
    levels = time_model(model).levels
    seen = cases(measured, levels)
    timings = [time_model(model).predict(case) for case in seen]
    timing = together(timings, [part.times for part in measured.pieces])
    first = seen[0]
    return Timed(
        measured, Run(timing, first.launch, first.clocks, measured.gpu, measured.seconds, origin="data")
    )


def together(timings: Sequence[Timing], times: Sequence[float]) -> Timing:
    """Return launches one after the other as one: times add up, busy shares are averages over time."""
    longest = max(timings, key=lambda timing: timing.time.value)
    seconds = sum(n * t.time.value for n, t in zip(times, timings, strict=True))
    draws = [
        sum(n * draw for n, draw in zip(times, column, strict=True))
        for column in zip(*(t.time.draws for t in timings), strict=True)
    ]
    busy: dict[str, float] = defaultdict(float)
    for n, timing in zip(times, timings, strict=True):
        for unit, share in timing.utilisation.items():
            busy[unit] += share * n * timing.time.value / seconds
    time = Estimate.from_draws(seconds, draws, "s", longest.time.source)
    return replace(longest, time=time, utilisation=dict(busy))
