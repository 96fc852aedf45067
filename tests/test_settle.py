"""Settling at the power limit with models whose answer has a closed form; power that is cut off there."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from warpwatt import compose
from warpwatt.compose import (
    CLOCK_TOLERANCE,
    LOWEST_CLOCK_SHARE,
    POWER_TOLERANCE,
    capped,
    clock_assumptions,
    settle,
)
from warpwatt.core.case import Case, Profile
from warpwatt.core.estimate import Estimate
from warpwatt.core.gpu import Clocks
from warpwatt.gpus import default_clocks, find

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
        return SimpleNamespace(time=Estimate.exact(1.0 / case.clocks.sm, "s"), warnings=())

    def _power(self, case: Case, timing: Any) -> Any:
        assert timing.time.value == 1.0 / case.clocks.sm, "power is asked with the time at the same clock"
        self.clocks.append(case.clocks.sm)
        watts = self.watts(case.clocks.sm)
        parts = {"floor": self.floor, "rest": watts - self.floor}
        return SimpleNamespace(power=Estimate.exact(watts, "W"), components=parts, warnings=())

    def settled(self, limit: float | None = LIMIT, *, fixed: bool = False) -> Any:
        gpu: Any = SimpleNamespace(power_limit=limit)
        nothing: Any = None
        kernel: Any = SimpleNamespace(warnings=())
        work: Any = SimpleNamespace(execution=SimpleNamespace(remarks=()))
        case = Case(kernel, work, nothing, gpu, Clocks(BOOST, 1e9))
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
    left = capped(power, LIMIT)
    assert left.value == LIMIT
    assert left.high == LIMIT
    assert left.low == power.low
    assert list(left.draws) == [min(draw, LIMIT) for draw in draws]
    assert (left.unit, left.source, left.warnings) == ("W", power.source, ("w",))


def test_a_value_below_the_limit_keeps_it_though_draws_are_cut_off():
    power = Estimate.from_draws(280.0, [float(watts) for watts in range(181, 381)], "W")
    left = capped(power, LIMIT)
    assert left.value == 280.0
    assert left.high == LIMIT < power.high


@pytest.mark.parametrize("limit", [None, 400.0, 361.0])
def test_power_within_the_limit_stays_as_it_is(limit):
    power = Estimate.from_draws(280.0, [float(watts) for watts in range(181, 381)], "W")
    assert power.high <= 361.0
    assert capped(power, limit) is power


@pytest.mark.parametrize("fixed", [True, False])
def test_components_add_up_to_the_power_of_the_board(fixed):
    found = Board(1.2 * LIMIT, 2.0).settled(fixed=fixed)
    assert sum(found.components.values()) == pytest.approx(found.board.value)
    assert found.board.value <= LIMIT


def test_a_clock_that_was_asked_for_and_does_not_hold_is_named():
    found = replace(Board(1.44 * LIMIT, 2.0).settled(), asked=Clocks(BOOST, 1e9))
    assert "2.00 GHz were asked for, the power limit of 300 W holds the board at 1.67 GHz" in found.warnings
    assert not any("asked for" in text for text in replace(found, asked=None).warnings)


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
    gpu = replace(find("h200"), name="board")
    (assumed,) = clock_assumptions(Case(nothing, nothing, nothing, gpu, clocks))
    assert text in assumed.message
    assert "2.00 GHz" in assumed.message
    assert (assumed.parameter, assumed.spread, assumed.fix) == ("clock:board", 0.05, "--clock")
    assert not clock_assumptions(Case(nothing, nothing, nothing, gpu, Clocks(BOOST, 1e9)))
    board = find("rtx 3070")
    (usual,) = clock_assumptions(Case(nothing, nothing, nothing, board, default_clocks(board)))
    assert "1.95 GHz, usual for its generation" in usual.message


def test_a_guess_within_the_power_tolerance_ends_the_search():
    board = Board(1.5 * LIMIT, 2.005)
    found = board.settled()
    assert len(board.clocks) == 2, "the first guess misses the limit by less than the tolerance"
    assert 0 < abs(found.power.power.value - LIMIT) < POWER_TOLERANCE * LIMIT


class Device:
    """What composing with a profile asks of the rest, and what it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[Any] = []
        boards = {name: SimpleNamespace(name=name, target=target) for name, target in TARGETS.items()}
        monkeypatch.setattr(compose, "find", boards.__getitem__)
        monkeypatch.setattr(compose, "profiled_launch", lambda profile, launch: ("profiled", launch))
        monkeypatch.setattr(compose, "alike", lambda *_: False)
        monkeypatch.setattr(compose, "_case", self._case)
        monkeypatch.setattr(compose, "settle", self._settle)
        monkeypatch.setattr(compose, "hybrid", self._hybrid)
        self.boards: Any = boards

    def _case(self, kernel: Any, launch: Any, gpu: Any, clocks: Clocks, *_: Any) -> Case:
        self.asked.append(("case", gpu.name, launch, clocks))
        return Case(kernel, kernel, launch, gpu, clocks)

    def _settle(self, case: Case, *models: Any, fixed: bool) -> Any:
        self.asked.append(("settle", fixed))
        return SimpleNamespace(case=replace(case, clocks=Clocks(SETTLED, 1e9, sustained=True)))

    def _hybrid(self, model: Any, seen: Case, profile: Profile, *, free_clocks: bool) -> Any:
        self.asked.append(
            ("hybrid", seen.clocks.sm, seen.profile.clocks.sm if seen.profile else 0, free_clocks)
        )
        return "corrected"

    def corrected(self, profile: Profile, *, fixed: bool = False) -> Any:
        nothing: Any = None
        case = Case(nothing, nothing, nothing, self.boards["a"], Clocks(BOOST, 1e9))
        models: Any = ("plain", "power")
        return compose._calibrated(models, case, profile, compose.Choice(), fixed=fixed)


TARGETS = {"a": "sm_80", "b": "sm_80", "c": "sm_90"}
SETTLED = 1.7e9


def test_a_profile_of_other_machine_code_corrects_nothing(monkeypatch):
    device = Device(monkeypatch)
    assert device.corrected(Profile("c", Clocks(1e9, 1e9))) == ("plain", "power")
    assert device.asked == []


@pytest.mark.parametrize("gpu", ["a", "b"])
@pytest.mark.parametrize("fixed", [False, True])
def test_a_profile_at_given_clocks_corrects_at_these(monkeypatch, gpu, fixed):
    device = Device(monkeypatch)
    assert device.corrected(Profile(gpu, Clocks(1e9, 1e9)), fixed=fixed) == ("corrected", "power")
    case, corrected = device.asked
    assert case[:3] == ("case", gpu, ("profiled", None))
    assert corrected == ("hybrid", 1e9, 1e9, False)


@pytest.mark.parametrize("fixed", [False, True])
def test_a_profile_at_sustained_clocks_is_settled_first(monkeypatch, fixed):
    device = Device(monkeypatch)
    device.corrected(Profile("a", Clocks(1e9, 1e9, sustained=True)), fixed=fixed)
    assert device.asked[1:] == [("settle", False), ("hybrid", SETTLED, SETTLED, not fixed)]


def test_advice_saves_the_difference_of_time_and_of_energy(monkeypatch):
    nothing: Any = None
    gpu: Any = SimpleNamespace(power_limit=LIMIT)
    case = Case(nothing, nothing, nothing, gpu, Clocks(BOOST, 1e9))
    change = SimpleNamespace(kind="k", text="t", line=3, fix="f", case=case)
    what_if = SimpleNamespace(change=change, timing=SimpleNamespace(time=Estimate.exact(2.0, "s")))
    power = SimpleNamespace(predict=lambda *_: SimpleNamespace(power=Estimate.exact(100.0, "W")))
    monkeypatch.setattr("warpwatt.what_if.what_ifs", lambda *_: [what_if])
    monkeypatch.setattr(compose, "time_model", lambda name: name)
    monkeypatch.setattr(compose, "power_model", lambda name: power)
    monkeypatch.setattr(compose, "replace", lambda prediction, **changes: changes)
    now: Any = SimpleNamespace(
        case=case, timing=None, time=Estimate.exact(5.0, "s"), energy=Estimate.exact(1000.0, "J"),
        warnings=(),
    )  # fmt: skip
    changes: Any = compose.advised(now)
    (advice,) = changes["advice"]
    assert (advice.time.value, advice.saved.value) == (2.0, 3.0)
    assert advice.energy_saved.value == pytest.approx(800.0)
    assert advice.energy_share == pytest.approx(0.8)
