"""Settling at the power limit with models whose answer has a closed form; power that is cut off there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from warpwatt.compose import (
    CLOCK_TOLERANCE,
    LOWEST_CLOCK_SHARE,
    POWER_TOLERANCE,
    _capped,
    clock_assumptions,
    settle,
)
from warpwatt.core.case import Case
from warpwatt.core.estimate import Estimate
from warpwatt.core.gpu import Clocks

BOOST, LIMIT = 2e9, 300.0


class Board:
    """Time 1/f and power ``floor + (drawn - floor)·(f/boost)^exponent``, and how often each was asked."""

    def __init__(self, drawn: float, exponent: float, floor: float = 0.0) -> None:
        self.drawn, self.exponent, self.floor = drawn, exponent, floor
        self.clocks: list[float] = []
        self.time = SimpleNamespace(predict=self._time)
        self.power = SimpleNamespace(predict=self._power)

    def watts(self, clock: float) -> float:
        return self.floor + (self.drawn - self.floor) * (clock / BOOST) ** self.exponent

    def clock_at(self, watts: float) -> float:
        return BOOST * ((watts - self.floor) / (self.drawn - self.floor)) ** (1 / self.exponent)

    def _time(self, case: Case) -> Any:
        return SimpleNamespace(time=Estimate.exact(1.0 / case.clocks.sm, "s"))

    def _power(self, case: Case, timing: Any) -> Any:
        assert timing.time.value == 1.0 / case.clocks.sm, "power is asked with the time at the same clock"
        self.clocks.append(case.clocks.sm)
        return SimpleNamespace(power=Estimate.exact(self.watts(case.clocks.sm), "W"))

    def settled(self, limit: float | None = LIMIT, *, fixed: bool = False) -> Any:
        gpu: Any = SimpleNamespace(power_limit=limit)
        nothing: Any = None
        case = Case(nothing, nothing, nothing, gpu, Clocks(BOOST, 1e9))
        models: Any = (self.time, self.power)
        return settle(case, *models, fixed=fixed)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0, 3.0, 4.0])
@pytest.mark.parametrize("drawn", [1.01 * LIMIT, 1.3 * LIMIT, 2 * LIMIT])
def test_the_clock_is_where_the_power_meets_the_limit(drawn, exponent):
    board = Board(drawn, exponent)
    wanted = board.clock_at(LIMIT)
    if wanted < LOWEST_CLOCK_SHARE * BOOST:
        pytest.skip("below what any board throttles to")
    found = board.settled()
    assert found.limited_by_power
    assert found.case.clocks.sustained
    assert found.case.clocks.memory == 1e9
    near_limit = abs(found.power.power.value - LIMIT) <= POWER_TOLERANCE * LIMIT
    assert near_limit or abs(found.case.clocks.sm - wanted) <= 2 * CLOCK_TOLERANCE * BOOST
    assert found.timing.time.value == 1.0 / found.case.clocks.sm
    assert found.power.power.value == board.watts(found.case.clocks.sm)


def test_the_guess_assumes_that_power_grows_with_the_square_of_the_clock():
    board = Board(1.5 * LIMIT, 2.0)
    board.settled()
    assert len(board.clocks) == 2, "boost, then at once the clock that holds the limit"
    assert board.clocks[1] == pytest.approx(BOOST / 1.5**0.5)


@pytest.mark.parametrize("exponent", [0.2, 0.5, 1.0, 3.0, 6.0, 12.0])
@pytest.mark.parametrize("floor", [0.0, 0.5 * LIMIT, 0.95 * LIMIT])
def test_the_bracket_shrinks_at_every_step(exponent, floor):
    board = Board(1.7 * LIMIT, exponent, floor)
    board.settled()
    tried = board.clocks
    assert len(tried) <= 40, "each step takes a tenth of the bracket at least"
    too_low, too_high = BOOST * LOWEST_CLOCK_SHARE, BOOST
    for clock in tried[1:]:
        assert too_low < clock < too_high
        margin = 0.1 * (too_high - too_low)
        assert too_low + margin * 0.999 <= clock <= too_high - margin * 0.999
        too_low, too_high = (too_low, clock) if board.watts(clock) > LIMIT else (clock, too_high)


def test_a_board_that_never_holds_its_limit_ends_near_the_lowest_clock():
    board = Board(10 * LIMIT, 2.0, floor=2 * LIMIT)
    found = board.settled()
    lowest = LOWEST_CLOCK_SHARE * BOOST
    assert lowest <= found.case.clocks.sm <= lowest + 2 * CLOCK_TOLERANCE * BOOST
    assert found.limited_by_power


@pytest.mark.parametrize(("limit", "fixed"), [(LIMIT, True), (None, False), (1.5 * LIMIT, False)])
def test_nothing_is_lowered_where_nothing_binds(limit, fixed):
    board = Board(1.5 * LIMIT, 2.0)
    found = board.settled(limit, fixed=fixed)
    assert board.clocks == [BOOST]
    assert found.case.clocks == Clocks(BOOST, 1e9)
    assert not found.limited_by_power


def test_power_beyond_the_limit_is_cut_off_draw_by_draw():
    draws = [float(watts) for watts in range(201, 401)]
    power = Estimate.from_draws(320.0, draws, "W", warnings=("w",))
    capped = _capped(power, LIMIT)
    assert capped.value == LIMIT
    assert capped.high == LIMIT
    assert capped.low == power.low
    assert list(capped.draws) == [min(draw, LIMIT) for draw in draws]
    assert (capped.unit, capped.source, capped.warnings) == ("W", power.source, ("w",))


def test_a_value_below_the_limit_keeps_it_though_draws_are_cut_off():
    power = Estimate.from_draws(280.0, [float(watts) for watts in range(181, 381)], "W")
    capped = _capped(power, LIMIT)
    assert capped.value == 280.0
    assert capped.high == LIMIT < power.high


@pytest.mark.parametrize("limit", [None, 400.0, 361.0])
def test_power_within_the_limit_stays_as_it_is(limit):
    power = Estimate.from_draws(280.0, [float(watts) for watts in range(181, 381)], "W")
    assert power.high <= 361.0
    assert _capped(power, limit) is power


def test_energy_is_time_by_capped_power_in_every_draw():
    found = Board(1.2 * LIMIT, 2.0).settled(fixed=True)
    assert found.board.value == LIMIT
    assert found.energy.value == pytest.approx(LIMIT / BOOST)
    assert found.energy.unit == "J"


@pytest.mark.parametrize(
    ("clocks", "text"),
    [
        (Clocks(BOOST, 1e9, sustained=True, spread=0.05), "what the power limit sustains"),
        (Clocks(BOOST, 1e9, spread=0.05), "what nothing holds back"),
    ],
)
def test_a_clock_that_nobody_set_is_assumed_with_its_reason(clocks, text):
    nothing: Any = None
    gpu: Any = SimpleNamespace(name="board")
    (assumed,) = clock_assumptions(Case(nothing, nothing, nothing, gpu, clocks))
    assert text in assumed.message
    assert "2.00 GHz" in assumed.message
    assert (assumed.parameter, assumed.spread, assumed.fix) == ("clock:board", 0.05, "--clock")
    assert not clock_assumptions(Case(nothing, nothing, nothing, gpu, Clocks(BOOST, 1e9)))
