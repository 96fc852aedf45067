"""A prediction at other SM clocks: time, power and energy against the clock, drawn through the prediction."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

from warpwatt.compose import Choice, LaunchModels, Settled, capped
from warpwatt.core.errors import InputError
from warpwatt.core.estimate import Estimate
from warpwatt.core.gpu import Clocks
from warpwatt.core.prediction import Prediction
from warpwatt.models.registry import power_model, time_model
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
    """Points by ascending clock."""

    points: tuple[ClockPoint, ...]

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

    Each point that the board sustains is what ``predict`` says at its clock. Of a prediction that the models
    of ``choice`` did not make, times and powers are scaled to meet it.

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
    models = LaunchModels((time_model(choice.time), power_model(choice.power)), case, choice)
    clocks = [clock for clock in swept_clocks(prediction) if clock != case.clocks.sm]
    own = models.unheld(case.clocks)
    factors = (
        prediction.time.value / own.timing.time.value,
        prediction.power_result.power.value / own.power.power.value,
    )
    points = [_point(models.unheld(Clocks(clock, case.clocks.memory)), *factors) for clock in clocks]
    here = ClockPoint(
        case.clocks.sm, prediction.time, prediction.power, prediction.energy, predicted=True
    )  # fmt: skip
    return ClockSweep(tuple(sorted([*points, here], key=lambda point: point.clock)))


def swept_clocks(prediction: Prediction) -> Sequence[float]:
    """Return some clocks that the driver offers and the prediction's own, hertz, ascending."""
    case = prediction.case
    offered = [clock for clock in offered_clocks(case.gpu) if clock >= LOWEST * case.gpu.boost_clock]
    step = (len(offered) - 1) / (POINTS - 1)
    chosen = offered if step <= 1 else [offered[round(i * step)] for i in range(POINTS)]
    return sorted({*chosen, case.clocks.sm})


def _point(settled: Settled, slower: float, more: float) -> ClockPoint:
    """Return what the models say, times that take so many times as long and powers so many times as much."""
    case, limit = settled.case, settled.case.gpu.power_limit
    time, drawn = settled.timing.time, settled.power.power
    if (slower, more) != (1.0, 1.0):
        time, drawn = time.scaled(slower), drawn.scaled(more)
    sustained = limit is None or drawn.value <= limit
    power = capped(drawn, limit) if sustained else drawn
    return ClockPoint(case.clocks.sm, time, power, time.combine(power, operator.mul, "J"), sustained)
