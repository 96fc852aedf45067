from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.budget.amounts import parse_amount


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("12us", "s", 12e-6),
        ("1.5 ms", "s", 1.5e-3),
        ("3e-6", "s", 3e-6),
        ("0.3 kW", "W", 300.0),
        ("4 mJ", "J", 4e-3),
        ("2 KiB", "B", 2048.0),
        ("1.5 MB", "B", 1.5e6),
        ("64", "", 64.0),
        ("1_000_000", "", 1e6),
        ("2 M", "", 2e6),
        ("75%", "share", 0.75),
        ("0.75", "share", 0.75),
    ],
)
def test_amounts(text, unit, value):
    amount, relative = parse_amount(text, unit)
    assert amount == pytest.approx(value)
    assert not relative


@pytest.mark.parametrize(
    ("text", "unit", "said"),
    [
        ("12 W", "s", "not in s"),
        ("12 min", "s", "not in s"),
        ("fast", "s", "not an amount"),
        ("", "s", "not an amount"),
        ("5 %", "s", "+5 %"),
        ("+5", "s", "percentages"),
        ("+5 us", "s", "percentages"),
        ("12 KiB", "s", "not in s"),
        ("3 px", "share", "no share"),
        ("1e999", "s", "reached"),
        ("12 us 3", "s", "not an amount"),
    ],
)
def test_refusals_say_what_would_do(text, unit, said):
    with pytest.raises(ValueError, match=r".") as refused:
        parse_amount(text, unit)
    assert said in str(refused.value)


@given(st.text(max_size=20), st.sampled_from(["s", "W", "J", "B", "share", ""]))
def test_any_text_is_an_amount_or_refused(text, unit):
    try:
        value, _ = parse_amount(text, unit)
    except ValueError:
        return
    assert not math.isnan(value)
