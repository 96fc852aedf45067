"""The curve over the SM clock: exact where phases are what it takes them for, never wiggling, cheap."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from warpwatt.models.clock_curve import FIRST, MOST, draw_curve, fitted, non_negative_least_squares

REFERENCE = 1.65e9
CLOCKS = np.linspace(FIRST[0] * REFERENCE, FIRST[-1] * REFERENCE, 60)


@dataclass
class Phases:
    """Cycles of phases that change what binds them at given clocks, and a noise."""

    knees: tuple[float, ...]
    noise: float = 0.0
    asked: list[float] = field(default_factory=list)

    def __call__(self, clock: float) -> float:
        self.asked.append(clock)
        return sum(max(knee, clock) for knee in self.knees) * (1.0 + self.noise * float(np.sin(clock / 7e6)))


@settings(max_examples=25)
@given(st.lists(st.floats(0.1 * REFERENCE, 1.8 * REFERENCE), min_size=1, max_size=3))
def test_phases_are_found_from_a_few_clocks(knees: list[float]) -> None:
    phases = Phases(tuple(knees))
    curve = draw_curve(phases, REFERENCE)
    assert len(phases.asked) == len(set(phases.asked)) == len(curve.asked) <= MOST
    drawn = np.array([curve.cycles(clock) for clock in CLOCKS])
    exact = np.array([Phases(tuple(knees))(clock) for clock in CLOCKS])
    assert np.max(np.abs(drawn / exact - 1)) < 0.03


def test_unevenness_is_drawn_through():
    curve = draw_curve(Phases((1.2e9,), noise=0.02), REFERENCE)
    drawn = np.array([curve.cycles(clock) for clock in CLOCKS])
    assert np.all(np.diff(drawn / CLOCKS) < 1e-12)  # seconds never rise with the clock
    assert np.all(np.diff(drawn) > -1e-9 * drawn[0])  # and cycles never fall
    smooth = np.maximum(1.2e9, CLOCKS)
    assert np.max(np.abs(drawn / smooth - 1)) < 0.025


def test_cycles_that_only_jitter_do_not_depend_on_the_clock():
    jitter = iter((0.99, 1.0, 1.02, 0.99, 1.01, 1.03, 1.0, 1.0, 1.0, 1.0))
    curve = draw_curve(lambda _: 1e6 * next(jitter), REFERENCE)
    assert curve.cycles(CLOCKS[0]) == pytest.approx(curve.cycles(CLOCKS[-1]))


def test_outside_the_clocks_asked_the_ends_go_on():
    curve = draw_curve(Phases((0.6e9, 1.2e9)), REFERENCE)
    assert curve.cycles(1e8) == pytest.approx(curve.cycles(CLOCKS[0]))
    assert curve.cycles(4e9) == pytest.approx(8e9)
    assert curve.nearest(1e8) == pytest.approx(CLOCKS[0])


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
