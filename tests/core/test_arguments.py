"""The argument grammar: what it accepts, what it refuses, and that it never raises anything else."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.arguments import Buffer, DType, Fill, Scalar, parse_arguments
from warpwatt.core.errors import ArgumentError


def test_shapes_use_scalars_in_any_order():
    parsed = parse_arguments(["x=f32[rows*cols]:zeros", "rows=3", "cols=5", "y=f64[(rows+1)*2, cols]"])
    assert parsed["x"] == Buffer(DType.F32, (15,), Fill.ZEROS)
    assert parsed["y"].shape == (8, 5)
    assert parsed["y"].nbytes == 8 * 5 * 8


def test_an_omitted_fill_is_random_and_marked_as_assumed():
    buffer = parse_arguments(["x=u8[4]"])["x"]
    assert (buffer.fill, buffer.seed, buffer.assumed_fill) == (Fill.RANDOM, 0, True)


@pytest.mark.parametrize(
    ("text", "value"), [("n=-3", -3), ("n=0x10", 16), ("a=2.5", 2.5), ("a=1e-3", 1e-3), ("b=true", 1)]
)
def test_scalars(text, value):
    assert next(iter(parse_arguments([text]).values())) == Scalar(value)


def test_files_are_named_by_their_suffix():
    assert parse_arguments(["x=f32[4]:in.npy"])["x"].path == "in.npy"


@pytest.mark.parametrize(
    "texts",
    [
        ["n"],
        ["=3"],
        ["n="],
        ["x=f32[-1]"],
        ["x=f32[n]"],
        ["x=f31[4]"],
        ["x=f32[4]:noise"],
        ["x=f32[4"],
        ["x=f32[2**40]"],
        ["x=f32[99999999999999999999]"],
        ["x=f32[__import__('os')]"],
        ["x=f32[1//0]"],
        ["n=1", "n=2"],
        ["n=2.5", "x=f32[n]"],
    ],
)
def test_bad_arguments_are_refused(texts):
    with pytest.raises(ArgumentError):
        parse_arguments(texts)


@given(st.lists(st.text(max_size=40), max_size=4))
def test_garbage_raises_nothing_but_argument_errors(texts):
    with contextlib.suppress(ArgumentError):
        parse_arguments(texts)


@given(st.text(alphabet="xnf32[]()+-*/:,=0123456789 ", max_size=40))
def test_near_misses_raise_nothing_but_argument_errors(text):
    with contextlib.suppress(ArgumentError):
        parse_arguments([text, "n=4"])


def test_numbers_that_no_type_holds_are_refused():
    assert parse_arguments(["a=" + "9" * 30])["a"].value == int("9" * 30)  # a double may be meant
    with pytest.raises(ArgumentError, match="no type can hold"):
        parse_arguments(["a=1" + "0" * 400])
