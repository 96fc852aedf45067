"""Sizes as expressions: against Python's own arithmetic, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.errors import InputError
from warpwatt.core.sizes import evaluate

NAMES = {"n": 1000, "TILE": 16, "k": 7}
TERMS = st.recursive(
    st.sampled_from(["1", "3", "128", *NAMES]),
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]}{t[1]} {t[2]})"),
    max_leaves=8,
)


@given(TERMS)
def test_sums_and_products_are_pythons(text: str) -> None:
    assert evaluate(text, NAMES) == eval(text, {}, NAMES)


@given(st.integers(0, 10**9), st.integers(1, 10**6))
def test_a_quotient_covers_everything_and_no_more(whole: int, part: int) -> None:
    blocks = evaluate("whole / part", {"whole": whole, "part": part})
    assert (blocks - 1) * part < whole <= blocks * part


@pytest.mark.parametrize(
    "text",
    [
        "",
        "n n",
        "2.5",
        "f(2)",
        "__import__('os')",
        "n.real",
        "n ** n",
        "1 << 90",
        "(" * 900,
        "9" * 500,
        "'a'*9",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        evaluate(text, NAMES)


def test_a_missing_name_is_named_with_those_there_are() -> None:
    with pytest.raises(InputError, match="WIDTH") as caught:
        evaluate("n/WIDTH", NAMES)
    assert "TILE" in caught.value.hint


def test_division_by_zero_is_said() -> None:
    with pytest.raises(InputError, match="zero"):
        evaluate("n/(k - 7)", NAMES)
