import io
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.core.estimate import Estimate, Source
from warpwatt.render.context import DEFAULT_WIDTH, text_width, wants_colour
from warpwatt.render.figures import bar, bounds, count, percent, quantity

positive = st.floats(1e-9, 1e12)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@settings(max_examples=200)
@given(positive, st.floats(0.2, 1.0), st.floats(1.0, 5.0))
def test_interval_stands_in_the_unit_of_the_value(value, down, up):
    estimate = Estimate(value, "s", value * down, value * up, Source.MODELLED)
    number = float(quantity(estimate).split()[0])
    if down == up == 1.0:
        assert bounds(estimate) == ""
        return
    low, high = (float(part) for part in bounds(estimate).split("–"))
    half = 0.5 * 10.0 ** -len(quantity(estimate).split()[0].partition(".")[2])
    assert low <= number + half
    assert high >= number - half
    assert math.isclose(low, number * down, abs_tol=2.01 * half)


def test_interval_of_infinity_is_empty():
    assert bounds(Estimate(1.0, "s", 0.5, math.inf, Source.ASSUMED)) == ""


@given(st.floats(allow_nan=True, allow_infinity=True), st.integers(1, 40))
def test_bar_always_fills_its_columns(share, width):
    assert len(bar(share, width)) == width


@given(st.floats(0, 1), st.floats(0, 1))
def test_longer_bars_for_larger_shares(a, b):
    order = " ▏▎▍▌▋▊▉█"
    lengths = [sum(order.index(c) for c in bar(share, 10)) for share in sorted((a, b))]
    assert lengths[0] <= lengths[1]


def test_percent_never_calls_something_nothing():
    assert percent(1e-9) == "<1 %"
    assert percent(0.0) == "0 %"


def test_colour_only_on_a_terminal_that_wants_it():
    assert wants_colour(Terminal(), {})
    assert not wants_colour(Terminal(), {"NO_COLOR": "1"})
    assert not wants_colour(Terminal(), {"TERM": "dumb"})
    assert not wants_colour(io.StringIO(), {})


@pytest.mark.parametrize("columns", ["", "80", "300"])
def test_width_is_fixed_when_piped(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert text_width(io.StringIO()) == DEFAULT_WIDTH


def test_terminal_width_is_bounded(monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    assert text_width(Terminal()) == 120
    monkeypatch.setenv("COLUMNS", "20")
    assert text_width(Terminal()) == 60


@given(st.floats(0.0, 1e15))
def test_no_count_is_written_with_an_exponent(value):
    shown = count(value)
    assert "e" not in shown or value < 1e-4
