"""What clocks are advised for, which, and what that costs: the rule of ``recommend`` on measured sweeps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from warpwatt.choose.margin import slowdown_margin
from warpwatt.choose.recommend import TIE
from warpwatt.gpus import default_clocks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from validation.power.by_hand import PowerCase

GOALS: Mapping[str, Callable[[float, float], float]] = {
    "joules": lambda seconds, watts: seconds * watts,
    "joules within 10 % more time": lambda seconds, watts: seconds * watts,
    "joules, memory clocks too": lambda seconds, watts: seconds * watts,
    "joules × seconds": lambda seconds, watts: seconds * seconds * watts,
}
"""What clocks are advised for."""
SLOWER = 1.1
""":data:`GOALS`' most time over that at the highest clocks."""


def advised(
    goal: str, points: Mapping[PowerCase, tuple[float, float]], choice: Sequence[PowerCase]
) -> PowerCase:
    """Return what is advised: the highest clocks of those that cost about as little as the least."""
    best = _least(goal, points, choice)
    most = GOALS[goal](*points[best]) * (1 + TIE)
    own = [c for c in _quick(goal, points, choice) if c.measured.clocks.memory == best.measured.clocks.memory]
    ties = [c for c in own if GOALS[goal](*points[c]) <= most]
    return max(ties, key=lambda case: case.measured.clocks.sm)


def with_margins(
    points: Mapping[PowerCase, tuple[float, float]], sweep: Sequence[PowerCase]
) -> dict[PowerCase, tuple[float, float]]:
    """Return seconds and watts with the margin of time at lower clocks that ``recommend`` allows for."""
    tops: dict[float, tuple[float, float]] = {}
    for case in sweep:
        clocks = case.measured.clocks
        tops[clocks.memory] = max(tops.get(clocks.memory, (0.0, 0.0)), (clocks.sm, points[case][0]))
    found = {}
    for case in sweep:
        (seconds, watts), clocks = points[case], case.measured.clocks
        found[case] = seconds * slowdown_margin((clocks.sm, seconds), tops[clocks.memory]), watts
    return found


def regret(goal: str, chosen: PowerCase, choice: Sequence[PowerCase]) -> float:
    """Return what a chosen case really costs over the least of all, less 1."""
    points = {case: (case.measured.seconds, case.measured.watts) for case in choice}
    least = GOALS[goal](*points[_least(goal, points, choice)])
    return max(0.0, GOALS[goal](*points[chosen]) / least - 1)


def offered(sweep: Sequence[PowerCase]) -> list[PowerCase]:
    """Return the cases at the memory clock nearest to the board's own: what ``recommend`` chooses among."""
    usual = usual_clocks(sweep).measured.clocks.memory
    return [case for case in sweep if case.measured.clocks.memory == usual]


def usual_clocks(sweep: Sequence[PowerCase]) -> PowerCase:
    """Return the case at the clocks nearest to those of a board that nobody advises."""
    usual = default_clocks(sweep[0].measured.gpu)

    def far(case: PowerCase) -> float:
        own = case.measured.clocks
        return abs(math.log(own.sm / usual.sm)) + abs(math.log(own.memory / usual.memory))

    return min(sweep, key=far)


def _least(
    goal: str, points: Mapping[PowerCase, tuple[float, float]], choice: Sequence[PowerCase]
) -> PowerCase:
    """Return the case with the least of what is judged, of those that are quick enough."""
    return min(_quick(goal, points, choice), key=lambda case: GOALS[goal](*points[case]))


def _quick(
    goal: str, points: Mapping[PowerCase, tuple[float, float]], choice: Sequence[PowerCase]
) -> list[PowerCase]:
    """Return the cases that do not take too long."""
    limit = SLOWER * points[choice[-1]][0] if "within" in goal else math.inf
    return [case for case in choice if points[case][0] <= limit * (1 + 1e-9)]
