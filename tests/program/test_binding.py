from __future__ import annotations

import pytest

from warpwatt.core.arguments import parse_arguments
from warpwatt.core.errors import ArgumentError
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Level, Parameter, Program, Space, Variable
from warpwatt.program.binding import ALIGNMENT, bind

PROGRAM = Program(
    "k",
    Level.PTX,
    "sm_90",
    (),
    parameters=(
        Parameter("k_param_0", "u64", 8, 8, pointer=True, source_name="x"),
        Parameter("k_param_1", "u32", 4, 4, source_name="n"),
        Parameter("k_param_2", "f32", 4, 4, source_name="alpha"),
        Parameter("k_param_3", "b8", 16, 4, source_name="shape"),
        Parameter("k_param_4", "u64", 8, 8, pointer=True, source_name="y"),
    ),
    variables=(
        Variable("limit", Space.CONST, 4, 4),
        Variable("tile", Space.SHARED, 100, 4),
        Variable("more", Space.SHARED, 8, 16),
        Variable("dynamic", Space.SHARED, 0, 16, external=True),
    ),
)


def bound(*texts: str):
    return bind(PROGRAM, Launch(Dim3(), Dim3(), arguments=parse_arguments(texts))).bindings()


def test_names_positions_and_program_names_mean_the_same():
    for text in ("n=7", "1=7", "k_param_1=7"):
        assert bound(text).values["k_param_1+0"] == 7


def test_buffers_are_apart_and_aligned():
    bindings = bound("x=f32[1000]", "y=f64[10]")
    x, y = bindings.values["k_param_0+0"], bindings.values["k_param_4+0"]
    assert x % ALIGNMENT == y % ALIGNMENT == 0
    assert abs(x - y) >= 4000
    assert bindings.region(int(x) + 3999).name == "x"
    assert bindings.region(int(y)).size == 80


def test_pointers_nobody_mentions_get_an_address_too():
    assert bound().region(int(bound().values["k_param_4+0"])).name == "y"


def test_fields_of_structures_and_constant_symbols():
    bindings = bound("shape+4=9", "limit=3")
    assert (bindings.values["k_param_3+4"], bindings.values["limit+0"]) == (9, 3)


def test_shared_variables_do_not_overlap_and_dynamic_memory_comes_last():
    addresses = bound().addresses
    assert (addresses["tile"], addresses["more"], addresses["dynamic"]) == (0, 112, 128)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("m=7", "no argument 'm'"),
        ("n=1.5", "not a whole number"),
        ("n=4294967296", "does not fit"),
        ("n=f32[10]", "not a pointer"),
        ("x=5", "is a pointer"),
        ("shape=1", "structure of 16 bytes"),
    ],
)
def test_what_does_not_fit_is_refused(text, says):
    with pytest.raises(ArgumentError, match=says):
        bound(text)


def test_refusal_lists_the_arguments_and_the_nearest():
    with pytest.raises(ArgumentError) as caught:
        bound("alhpa=2")
    assert "did you mean 'alpha'" in caught.value.hint
    assert "x (pointer), n (u32)" in caught.value.hint


def test_one_argument_under_two_names_is_refused():
    with pytest.raises(ArgumentError, match="given before"):
        bound("n=1", "1=2")
