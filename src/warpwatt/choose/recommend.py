"""What to choose: the point of a sweep with the least time, energy or energy × time, and what that saves.

Savings are taken draw by draw between two points that share their parameter draws: what is uncertain about
both alike cancels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.core.estimate import Estimate
from warpwatt.sweep.clocks import candidates
from warpwatt.sweep.pool import outcomes
from warpwatt.sweep.rows import least, objective

if TYPE_CHECKING:
    from warpwatt.sweep.rows import Row
    from warpwatt.sweep.sweep import Sweep
    from warpwatt.sweep.units import Known

MEGA = 1e6
TOLERANCE = 1e-9
"""A slowdown may exceed its limit by so much: rounding."""


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
    """

    goal: str
    baseline: Row
    chosen: Row
    slowdown: Estimate
    energy_saving: Estimate
    saving: Estimate

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
    pairs = [pair for own in groups.values() if (pair := _best(own, goal, max_slowdown)) is not None]
    known = outcomes(sweep, {row.number for pair in pairs for row in pair}, jobs)
    found = [_compared(goal, *(known[row.number] for row in pair)) for pair in pairs]
    return tuple(sorted(found, key=lambda one: (one.chosen.launch, objective(one.chosen, goal))))


def _best(rows: Sequence[Row], goal: str, max_slowdown: float | None) -> tuple[Row, Row] | None:
    """Return baseline and best row of one launch on one GPU; None without a baseline.

    Clocks that the power limit would not let stand are no choice.
    """
    baseline = min(rows, key=lambda row: row.number)
    if baseline.time is None:
        return None
    limit = float("inf") if max_slowdown is None else baseline.time.value * (1 + max_slowdown + TOLERANCE)
    allowed = [
        row
        for row in rows
        if row.time is not None and row.time.value <= limit and not (row.clocks_fixed and row.at_power_limit)
    ]
    return baseline, least([baseline, *allowed], goal)


def _compared(goal: str, before: Known, after: Known) -> Recommendation:
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
    return Recommendation(goal, baseline, chosen, slowdown, energy, saving[goal])
