"""The curve over the SM clock: exact where phases are what it takes them for, never wiggling, cheap."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from tests.conftest import toy_case
from warpwatt.core.case import Timing
from warpwatt.core.estimate import Estimate
from warpwatt.core.gpu import Clocks
from warpwatt.models.roofline import Roofline
from warpwatt.sweep.clock_curve import MOST, ClockCurve, fitted, non_negative_least_squares

LOW, HIGH = 345e6, 1980e6
CLOCKS = np.linspace(LOW, HIGH, 60)


@dataclass
class Phases:
    """A time model of phases that change what binds them at given clocks, and a noise."""

    knees: tuple[float, ...]
    noise: float = 0.0
    asked: list[float] = field(default_factory=list)
    name = "phases"
    summary = ""
    levels = ()

    def predict(self, case) -> Timing:
        clock = case.clocks.sm
        self.asked.append(clock)
        seconds = sum(max(knee, clock) for knee in self.knees) / clock * 1e-3
        seconds *= 1.0 + self.noise * np.sin(clock / 7e6)
        return Timing("phases", Estimate.spread(seconds, {"a": 0.1}, "s"), "x", {"x": seconds}, {})


def seconds(curve: ClockCurve, case, clock: float) -> float:
    return curve.predict(replace(case, clocks=Clocks(clock, 1e9))).time.value


@settings(max_examples=25)
@given(st.lists(st.floats(0.5 * LOW, 1.5 * HIGH), min_size=1, max_size=3))
def test_phases_are_found_from_a_few_clocks(knees: list[float]) -> None:
    case, model = toy_case(), Phases(tuple(knees))
    curve = ClockCurve(model, LOW, HIGH)
    drawn = [seconds(curve, case, clock) for clock in CLOCKS]
    assert len(model.asked) <= MOST
    exact = [Phases(tuple(knees)).predict(replace(case, clocks=Clocks(c, 1e9))).time.value for c in CLOCKS]
    assert np.max(np.abs(np.array(drawn) / exact - 1)) < 0.02


def test_unevenness_is_drawn_through(toy):
    case = toy.case()
    curve = ClockCurve(Phases((1.2e9,), noise=0.02), LOW, HIGH)
    drawn = np.array([seconds(curve, case, clock) for clock in CLOCKS])
    assert np.all(np.diff(drawn) < 1e-12)  # seconds never rise with the clock
    assert np.all(np.diff(drawn * CLOCKS) > -1e-9 * drawn[0] * HIGH)  # and cycles never fall
    smooth = np.maximum(1.2e9, CLOCKS) / CLOCKS * 1e-3
    assert np.max(np.abs(drawn / smooth - 1)) < 0.025


def test_draws_and_breakdown_follow_the_time(toy):
    case = toy.case()
    timing = ClockCurve(Phases((1e9,)), LOW, HIGH).predict(replace(case, clocks=Clocks(7e8, 1e9)))
    assert timing.breakdown["x"] == pytest.approx(timing.time.value)
    assert timing.time.low / timing.time.value == pytest.approx(Estimate.spread(1.0, {"a": 0.1}, "s").low)


def test_clocks_outside_are_asked_of_the_model(toy):
    case = toy.case()
    for clock in (LOW / 2, HIGH * 1.1):
        there = replace(case, clocks=Clocks(clock, case.clocks.memory))
        curve = ClockCurve(Roofline(), LOW, HIGH)
        assert curve.predict(there).time == Roofline().predict(there).time


def test_each_workload_and_memory_clock_has_its_own_curve(toy):
    model = Phases((1e9,))
    curve = ClockCurve(model, LOW, HIGH)
    one, other = toy.case(), toy.case()
    for case in (one, one, other, replace(other, clocks=Clocks(1e9, 5e8))):
        curve.predict(case)
    assert len(model.asked) == 3 * len(set(model.asked))


@given(st.integers(0, 2**32))
def test_least_squares_agree_with_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(2, 8, 2)
    matrix, wanted = rng.normal(size=(rows, columns)), rng.normal(size=rows)
    mine, (_, residual) = non_negative_least_squares(matrix, wanted), nnls(matrix, wanted)
    assert np.all(mine >= 0)
    assert np.linalg.norm(matrix @ mine - wanted) == pytest.approx(residual, abs=1e-9)


def test_weights_are_relative_to_the_cycles():
    clocks = np.array([1.0, 2.0, 4.0])
    assert fitted(clocks, 5 * clocks, clocks) @ np.maximum(clocks, 3.0) == pytest.approx(15.0)
