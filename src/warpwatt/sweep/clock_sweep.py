"""A prediction at other SM clocks: time, power and energy against the clock, drawn through the prediction.

The time model is asked at 5 to 13 clocks only (:mod:`~warpwatt.sweep.clock_curve`), whatever the number of
points, so that a sweep costs at most 13 simulations: 0.2 to 0.6 s for the kernels in ``examples/``.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace

from warpwatt.compose import Choice, settle
from warpwatt.core.case import Case, Power, PowerModel, TimeModel, Timing
from warpwatt.core.errors import InputError
from warpwatt.core.estimate import Estimate
from warpwatt.core.prediction import Prediction
from warpwatt.models.bounds import bounded
from warpwatt.models.registry import power_model, time_model
from warpwatt.sweep.clock_curve import ClockCurve
from warpwatt.sweep.clockless import clockless
from warpwatt.sweep.clocks import offered_clocks

POINTS = 33
"""Clocks of a sweep, the predicted one not counted."""
LOWEST = 0.25
"""Share of the boost clock below which nobody runs kernels."""


@dataclass(frozen=True, slots=True)
class ClockPoint:
    """What a launch takes at one SM clock (hertz).

    ``sustained`` is False where the board would lower the clock to hold its power limit: power and energy
    are then what it would draw if it did not. ``predicted`` marks the clock of the prediction itself.
    """

    clock: float
    time: Estimate
    power: Estimate
    energy: Estimate
    sustained: bool = True
    predicted: bool = False


@dataclass(frozen=True, slots=True)
class ClockSweep:
    """Points by ascending clock; ``asked`` is how often the time model was asked."""

    points: tuple[ClockPoint, ...]
    asked: int

    @property
    def predicted(self) -> ClockPoint:
        """The point of the prediction."""
        return next(point for point in self.points if point.predicted)

    @property
    def thriftiest(self) -> ClockPoint:
        """The point of least energy among those that the power limit allows."""
        return min((p for p in self.points if p.sustained), key=lambda point: point.energy.value)


def clock_sweep(prediction: Prediction, choice: Choice | None = None) -> ClockSweep:
    """Return the prediction at the clocks that the driver offers; the memory clock stays.

    Times between the clocks asked for are read off a curve, all of which is scaled so that it meets the
    prediction, and so is the power: what a profile corrected stays corrected.

    Raises
    ------
    UnsupportedGpuError
        As the models of ``choice``, which are those that predicted.
    InputError
        If one of them knows no clocks.
    """
    choice = choice or Choice()
    case = prediction.case
    if (fitted := clockless(choice)) is not None:
        raise InputError(f"model {fitted} knows no clocks")
    clocks = swept_clocks(prediction)
    counted = _Counted(time_model(choice.time))
    curve = ClockCurve(counted, clocks[0], clocks[-1])
    factor = prediction.time.value / curve.predict(case).time.value
    model = power_model(choice.power)
    alone = model.predict(case, prediction.timing).power.value
    power = _ScaledPower(model, prediction.power_result.power.value / alone)
    points = [_point(_at(case, clock), curve, power, factor) for clock in clocks if clock != case.clocks.sm]
    here = ClockPoint(
        case.clocks.sm, prediction.time, prediction.power, prediction.energy, predicted=True
    )  # fmt: skip
    return ClockSweep(tuple(sorted([*points, here], key=lambda point: point.clock)), counted.asked)


def swept_clocks(prediction: Prediction) -> Sequence[float]:
    """Return some clocks that the driver offers and the prediction's own, hertz, ascending."""
    case = prediction.case
    offered = [clock for clock in offered_clocks(case.gpu) if clock >= LOWEST * case.gpu.boost_clock]
    step = (len(offered) - 1) / (POINTS - 1)
    chosen = offered if step <= 1 else [offered[round(i * step)] for i in range(POINTS)]
    return sorted({*chosen, case.clocks.sm})


def _at(case: Case, clock: float) -> Case:
    return replace(case, clocks=replace(case.clocks, sm=clock, sustained=False, spread=0.0))


def _point(case: Case, time: TimeModel, power: PowerModel, factor: float) -> ClockPoint:
    settled = settle(case, bounded(_Scaled(time, factor)), power, fixed=True)
    drawn, limit = settled.power.power, case.gpu.power_limit
    if limit is not None and drawn.value > limit:
        energy = settled.timing.time.combine(drawn, operator.mul, "J")
        return ClockPoint(case.clocks.sm, settled.timing.time, drawn, energy, sustained=False)
    return ClockPoint(case.clocks.sm, settled.timing.time, settled.board, settled.energy)


class _Counted:
    """A time model that counts how often it is asked."""

    def __init__(self, model: TimeModel) -> None:
        self.model, self.asked = model, 0
        self.name, self.summary, self.levels = model.name, model.summary, model.levels

    def predict(self, case: Case) -> Timing:
        self.asked += 1
        return self.model.predict(case)


class _Scaled:
    """A time model whose times are multiplied by a factor."""

    def __init__(self, model: TimeModel, factor: float) -> None:
        self.model, self.factor = model, factor
        self.name, self.summary, self.levels = model.name, model.summary, model.levels

    def predict(self, case: Case) -> Timing:
        timing = self.model.predict(case)
        spent = {part: seconds * self.factor for part, seconds in timing.breakdown.items()}
        return replace(timing, time=timing.time.scaled(self.factor), breakdown=spent)


class _ScaledPower:
    """A power model whose watts are multiplied by a factor."""

    def __init__(self, model: PowerModel, factor: float) -> None:
        self.model, self.factor = model, factor
        self.name, self.summary = model.name, model.summary

    def predict(self, case: Case, timing: Timing) -> Power:
        power = self.model.predict(case, timing)
        if self.factor == 1.0:
            return power
        parts = {name: watts * self.factor for name, watts in power.components.items()}
        return replace(power, power=power.power.scaled(self.factor), components=parts)
