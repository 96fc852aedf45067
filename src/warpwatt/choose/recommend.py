"""What to choose: the point of a sweep with the least time, energy or energy × time, and what that saves.

Savings are taken draw by draw between two points that share their parameter draws: what is uncertain about
both alike cancels. How much energy a lower clock saves hangs on the voltage there. Where nobody read it from
boards of the chip, a point is judged by the upper end of its interval, which holds a voltage that hardly
falls; and a point that is likely enough to cost more is not advised. Time at lower clocks counts with a
margin (:mod:`~warpwatt.choose.margin`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.choose.margin import slowdown_margin
from warpwatt.choose.odds import OWN_SPREAD, probability_smaller
from warpwatt.core.estimate import Estimate
from warpwatt.models.component.voltage import chip_voltage
from warpwatt.sweep.clocks import candidates
from warpwatt.sweep.pool import outcomes
from warpwatt.sweep.rows import least, objective

if TYPE_CHECKING:
    from warpwatt.sweep.outcome import Outcome
    from warpwatt.sweep.rows import Row
    from warpwatt.sweep.sweep import Sweep
    from warpwatt.sweep.units import Known

MEGA = 1e6
TOLERANCE = 1e-9
"""A slowdown may exceed its limit by so much: rounding."""
CLOCK_SPREAD = 0.1
"""Standard deviation of the logarithm of predicted over measured ratios of the energies of one kernel at two
clocks (docs/validation/power_profiled.md)."""
TIE = 0.01
"""Clocks predicted to cost so little more than the least are taken to cost as much; the highest is advised.
Advice costs less so, in joules and in seconds; twice as much gives away more joules than it saves where
clocks lie close together (docs/validation/power_profiled.md)."""
MOST_RISK = 0.2
"""Probability of a loss from which on a clock is not advised where the chip's voltage is not known."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The best point of one launch on one GPU beside what happens without advice.

    Attributes
    ----------
    baseline
        The first configuration at the clocks the board chooses itself.
    chosen
        The best point; it is the baseline where nothing is better.
    slowdown, energy_saving, saving
        Time over the baseline's less 1; 1 less energy over the baseline's, and the same for the objective.
    loss
        Probability that the best point is really worse than the baseline, 0 to 1.
    voltage_read
        Whether voltages were read from boards of the GPU's chip.
    """

    goal: str
    baseline: Row
    chosen: Row
    slowdown: Estimate
    energy_saving: Estimate
    saving: Estimate
    loss: float = 0.0
    voltage_read: bool = True

    @property
    def commands(self) -> tuple[str, ...]:
        """What an operator would run to get the clocks, and to undo it; nothing where the board chooses."""
        row = self.chosen
        if not row.clocks_fixed or row.sm_clock is None or row.memory_clock is None:
            return ()
        sm, memory = round(row.sm_clock / MEGA), round(row.memory_clock / MEGA)
        lock, undo = f"nvidia-smi -lgc {sm},{sm}", "nvidia-smi -rgc"
        if row.memory_clock != self.baseline.memory_clock:
            lock, undo = f"{lock} && nvidia-smi -lmc {memory},{memory}", f"{undo} && nvidia-smi -rmc"
        return lock, undo


def choices(sweep: Sweep) -> Sweep:
    """Return a sweep over what there is to choose from: its configurations, each GPU's offered clocks.

    Clocks of ``sweep`` are replaced by the offered ones next to them. Where nothing else varies and no
    clock is asked for, all offered clocks are tried; where configurations vary, the boards choose.
    """
    asked = [clocks for clocks in sweep.clocks if clocks is not None]
    if not asked and len(sweep.configurations) > 1:
        return replace(sweep, clocks=(None,))
    clocks = [one for gpu in sweep.gpus for one in candidates(gpu, asked)]
    return replace(sweep, clocks=(None, *clocks))


def recommend(
    sweep: Sweep, rows: Iterable[Row], goal: str, max_slowdown: float | None = None, jobs: int = 1
) -> tuple[Recommendation, ...]:
    """Return the best point of every launch on every GPU, the best GPU of a launch first.

    Parameters
    ----------
    sweep
        As :func:`choices` returns it, so that every launch has a baseline on every GPU.
    rows
        Its results.
    goal
        One of :data:`~warpwatt.sweep.rows.OBJECTIVES`.
    max_slowdown
        How much longer than the baseline a point may take: 0.05 is 5 %; None for no limit.
    jobs
        Processes that evaluate the best points once more.

    A pair of launch and GPU whose baseline failed is left out.
    """
    groups: dict[tuple[int, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.launch, row.gpu), []).append(row)
    read = {gpu.name: chip_voltage(gpu).read for gpu in sweep.gpus}
    best = {key: _best(own, goal, max_slowdown, read[key[1]]) for key, own in groups.items()}
    pairs = {key: pair for key, pair in best.items() if pair is not None}
    known = outcomes(sweep, {row.number for pair in pairs.values() for row in pair}, jobs)
    found = [
        _compared(goal, known[before.number], known[after.number], read=read[gpu])
        for (_, gpu), (before, after) in pairs.items()
    ]
    return tuple(sorted(found, key=lambda one: (one.chosen.launch, objective(one.chosen, goal))))


def _best(rows: Sequence[Row], goal: str, max_slowdown: float | None, read: bool) -> tuple[Row, Row] | None:
    """Return baseline and best row of one launch on one GPU; None without a baseline.

    Clocks that the power limit would not let stand are no choice. Where the voltage was not ``read``, clocks
    are judged by the upper ends of their intervals.
    """
    baseline = min(rows, key=lambda row: row.number)
    if baseline.time is None:
        return None
    margins = _margins([row for row in rows if row.time is not None])
    most = float("inf") if max_slowdown is None else _with_margin(baseline, margins) * (1 + max_slowdown)
    allowed = [
        row
        for row in rows
        if row.time is not None
        and _with_margin(row, margins) <= most * (1 + TOLERANCE)
        and not (row.clocks_fixed and row.at_power_limit)
    ]
    choice = [baseline, *allowed]
    if goal == "time":
        return baseline, least(choice, goal)
    sure = read or not any(row.clocks_fixed for row in allowed)
    judge, power = objective if sure else _at_most, {"energy": 1, "edp": 2}[goal]

    def cost(row: Row) -> float:
        return judge(row, goal) * margins[row.number] ** power

    return baseline, _highest(min(choice, key=cost), choice, cost)


def _margins(rows: Sequence[Row]) -> dict[int, float]:
    """Return row to the factor by which it may take longer, seen from the highest SM clock of its like."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((*_configuration(row), row.memory_clock), []).append(row)
    found = {}
    for own in groups.values():
        top = _point(max(own, key=lambda row: row.sm_clock or 0.0))
        found.update({row.number: slowdown_margin(_point(row), top) for row in own})
    return found


def _point(row: Row) -> tuple[float, float]:
    """Return SM clock in hertz and seconds of a row that has a result."""
    assert row.sm_clock is not None
    assert row.time is not None
    return row.sm_clock, row.time.value


def _with_margin(row: Row, margins: Mapping[int, float]) -> float:
    return _point(row)[1] * margins[row.number]


def _highest(best: Row, choice: Sequence[Row], cost: Callable[[Row], float]) -> Row:
    """Return the row at the highest SM clock of those like the best that cost about as much."""
    alike = [row for row in choice if _configuration(row) == _configuration(best)]
    ties = [row for row in alike if row.sm_clock and cost(row) <= cost(best) * (1 + TIE)]
    return max(ties, key=lambda row: row.sm_clock or 0.0, default=best)


def _at_most(row: Row, goal: str) -> float:
    """Return the upper end of what a row is judged by."""
    assert row.time is not None
    assert row.energy is not None
    ends = {"time": row.time.high, "energy": row.energy.high, "edp": row.time.high * row.energy.high}
    return ends[goal]


def _compared(goal: str, before: Known, after: Known, *, read: bool) -> Recommendation:
    (baseline, old), (chosen, new) = before, after
    assert old is not None
    assert new is not None
    slowdown = new.time.combine(old.time, lambda a, b: a / b - 1.0, "")
    energy = new.energy.combine(old.energy, lambda a, b: 1.0 - a / b, "")
    longer = new.time.combine(old.time, lambda a, b: a / b, "")
    saving = {
        "time": slowdown.scaled(-1.0),
        "energy": energy,
        "edp": energy.combine(longer, lambda saved, ratio: 1.0 - (1.0 - saved) * ratio, ""),
    }
    same = _configuration(baseline) == _configuration(chosen)
    loss = 0.0
    if chosen != baseline:
        own_spread = CLOCK_SPREAD if same else OWN_SPREAD
        loss = probability_smaller(_cost(old, goal), _cost(new, goal), own_spread)
    if same and not read and loss > MOST_RISK:
        return _compared(goal, before, before, read=read)
    return Recommendation(goal, baseline, chosen, slowdown, energy, saving[goal], loss, read)


def _configuration(row: Row) -> tuple[object, ...]:
    return row.defines, row.max_registers, row.grid, row.block, row.shared


def _cost(outcome: Outcome, goal: str) -> Estimate:
    """Return what a point is judged by, with its draws."""
    if goal == "edp":
        return outcome.energy.combine(outcome.time, operator.mul, "J·s")
    return outcome.time if goal == "time" else outcome.energy
