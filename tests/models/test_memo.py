"""What models remember of a case."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warpwatt.core.gpu import Clocks
from warpwatt.models.memo import REMEMBERED, at_each_clock

if TYPE_CHECKING:
    from warpwatt.core.case import Case

DRIVER = [Clocks(345e6 + 15e6 * step, 3e9) for step in range(110)]
"""SM clocks that the driver offers on an H200."""
TRIED = [Clocks(1.3e9 + step, 3e9) for step in range(12)]
"""More than a search for what a power limit sustains tries."""


def test_a_second_round_over_the_clocks_of_a_driver_is_remembered(toy: Any):
    asked: list[float] = []

    @at_each_clock
    def clock(case: Case) -> float:
        asked.append(case.clocks.sm)
        return case.clocks.sm

    case = toy.case(toy.execution())
    for _ in range(2):
        for clocks in (*DRIVER, *TRIED):
            assert clock(replace(case, clocks=clocks)) == clocks.sm
    assert len(asked) == len(DRIVER) + len(TRIED)


def test_what_was_asked_of_many_workloads_since_is_forgotten(toy: Any):
    """Each holds what every warp does: a server that remembered them by their clocks held gigabytes."""
    asked: list[int] = []

    @at_each_clock
    def number(case: Case) -> int:
        asked.append(next(n for n, one in enumerate(cases) if one.workload is case.workload))
        return asked[-1]

    cases = [toy.case(toy.execution(fmas=400 + n)) for n in range(REMEMBERED + 1)]
    assert [number(case) for case in (*cases, cases[-1], cases[0])] == [*range(REMEMBERED + 1), REMEMBERED, 0]
    assert asked == [*range(REMEMBERED + 1), 0]
