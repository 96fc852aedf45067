"""What the component model leaves unexplained, out of sample: the rows that the learned model is trained on.

The prior of every row comes from fits that hold neither its program nor the programs in ``without``, so that
a model trained on the rows sees errors as large as those it will correct.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from validation.power.judge import die, fit_shared, same_program, with_fit
from warpwatt.lab.measure.components import (
    component_watts,
    fit_components,
    predicted_spread,
    total_activity,
)
from warpwatt.models.component.features import features
from warpwatt.models.component.parameters import specification, with_readings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from validation.power.by_hand import PowerCase
    from warpwatt.core.gpu import Gpu
    from warpwatt.models.component.parameters import Parameters

MOST_CLOCKS = 8
"""Clocks of a program and GPU that are used, evenly spread: GTX 980 has 61."""
FEWEST = 2
"""Programs that a fit to one GPU needs."""


@dataclass(frozen=True, slots=True, eq=False)
class Residual:
    """A case with the component model's answer before anything runs: seconds are predicted.

    ``spread`` is the standard deviation of the logarithm that the component model claims.
    """

    case: PowerCase
    program: str
    die: str
    prior: float
    spread: float
    features: Mapping[str, float]

    @property
    def log_ratio(self) -> float:
        """Return log(measured / prior): what is learned."""
        return math.log(self.case.measured.watts / self.prior)


@dataclass(slots=True)
class Priors:
    """Component parameters fitted without some programs, each fit made once."""

    cases: Sequence[PowerCase]
    measured_time: bool = False
    _shared: dict[tuple[frozenset[str], frozenset[str]], Mapping[str, tuple[float, float]]] = field(
        default_factory=dict
    )
    _own: dict[tuple[str, str, frozenset[str]], Parameters | None] = field(default_factory=dict)

    def specification(self, gpu: Gpu, dies: frozenset[str], programs: frozenset[str]) -> Parameters:
        """Return what shared numbers say of a GPU, fitted without some chips and programs."""
        key = dies | {die(gpu)}, programs
        if key not in self._shared:
            training = [
                c
                for c in self.cases
                if c.fits and die(c.measured.gpu) not in key[0] and same_program(c.program) not in programs
            ]
            self._shared[key] = fit_shared(training, without=die(gpu))
        return with_readings(specification(gpu, self._shared[key]), gpu)

    def calibrated(self, case: PowerCase, programs: frozenset[str]) -> Parameters | None:
        """Return coefficients fitted to the other programs of a case's data set on its GPU."""
        key = case.data, case.gpu, programs
        if key not in self._own:
            training = [
                c
                for c in self.cases
                if (c.data, c.gpu) == key[:2] and same_program(c.program) not in programs
            ]
            gpu = case.measured.gpu
            base = self.specification(gpu, frozenset(), programs)
            enough = len({c.program for c in training}) >= FEWEST
            fit = fit_components([c.measured for c in training], gpu, base) if enough else None
            self._own[key] = None if fit is None else with_fit(base, fit)
        return self._own[key]

    def residual(
        self, case: PowerCase, *, own: bool, dies: frozenset[str] = frozenset(), without: str = ""
    ) -> Residual:
        """Return a case's row; ``own`` calibrates its GPU, ``dies`` and ``without`` stay out of all fits."""
        program = same_program(case.program)
        programs = frozenset({program, without} - {""})
        gpu = case.measured.gpu
        known = self.calibrated(case, programs) if own else self.specification(gpu, dies, programs)
        assert known is not None
        run = case.measured if self.measured_time else case.predicted
        assert run is not None
        watts = component_watts(run, known)
        work = total_activity(run)
        toggle = math.fsum(t * s for _, s, t in run.parts) / run.seconds
        told = features(gpu, run.clocks, work, run.seconds, watts, toggle=toggle)
        return Residual(
            case, program, die(gpu), math.fsum(watts.values()), predicted_spread(run, known), told
        )


def thinned(cases: Sequence[PowerCase], most: int = MOST_CLOCKS) -> list[PowerCase]:
    """Return at most so many clocks of each program, GPU and data set, evenly spread over their order."""
    groups: dict[tuple[str, str, str], list[PowerCase]] = defaultdict(list)
    for case in cases:
        groups[case.data, case.gpu, case.program].append(case)
    found = []
    for group in groups.values():
        ordered = sorted(group, key=lambda c: (c.measured.clocks.memory, c.measured.clocks.sm))
        count = min(most, len(ordered))
        found += [ordered[(2 * i + 1) * len(ordered) // (2 * count)] for i in range(count)]
    return found


def constant_watts(training: Sequence[Residual], row: Residual, *, own: bool) -> float:
    """Return the mean power of the training programs: on the row's GPU, or as a share of its limit."""
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    limit = row.case.measured.gpu.power_limit or 1.0
    for other in training:
        case = other.case
        if own and (case.data, case.gpu) != (row.case.data, row.case.gpu):
            continue
        scale = 1.0 if own else limit / (case.measured.gpu.power_limit or 1.0)
        found[case.data, case.gpu, case.program].append(case.measured.watts * scale)
    return statistics.fmean(statistics.fmean(group) for group in found.values())
