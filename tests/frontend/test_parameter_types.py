"""Parameter types out of C++ names."""

from __future__ import annotations

from warpwatt.core.program import Level, Parameter, Program
from warpwatt.frontend.signatures import signature, typed


def program(*sizes):
    parameters = tuple(Parameter(f"p{i}", f"b{8 * s}", s, s) for i, s in enumerate(sizes))
    return Program("f", Level.SASS, "sm_90", (), parameters=parameters)


def kinds(found):
    return [(p.type, p.pointer) for p in found.parameters]


def test_types_and_pointers():
    found = typed(program(8, 4, 4, 8, 1), "f(float const*, int, float, double, bool)")
    assert kinds(found) == [("u64", True), ("s32", False), ("f32", False), ("f64", False), ("u8", False)]


def test_sizes_that_disagree_leave_the_parameter_alone():
    assert kinds(typed(program(4, 8), "f(double, Pair)")) == [("b32", False), ("b64", False)]


def test_another_number_of_parameters_leaves_all_alone():
    assert kinds(typed(program(4), "f(int, int)")) == [("b32", False)]
    assert kinds(typed(program(4), "f")) == [("b32", False)]


def test_signature_with_nested_brackets():
    name = "void g<(Kind)1>(void (*)(int, float), std::array<int, 3ul>, float (&) [4])"
    assert signature(name) == ("void (*)(int, float)", "std::array<int, 3ul>", "float (&) [4]")
    assert signature("f()") == ()
