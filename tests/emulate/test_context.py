"""Launches bound to programs: the parameter block, symbols, and what is refused."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from warpwatt.core.arguments import Argument, Buffer, DType, Fill, Scalar
from warpwatt.core.errors import ArgumentError
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Level, Parameter, Program, Space, Variable
from warpwatt.emulate.context import load_launch
from warpwatt.isa.ptx import lower, parse
from warpwatt.program.binding import bind

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
TEXT = (
    HEAD
    + """
.const .align 4 .b8 table[16];
.global .align 8 .u64 total = 5;
.entry k(.param .u32 n, .param .f64 a, .param .u64 .ptr .global x, .param .align 8 .b8 s[24]) {
  .reg .b32 %r<2>; .reg .f32 %f<2>; .reg .b64 %d<6>; .shared .align 16 .b8 tile[48];
  ld.param.u32 %r1, [n]; ld.param.f64 %d4, [a]; ld.param.u64 %d5, [x]; ld.param.f32 %f1, [s+4];
  ld.param.u64 %d1, [s+8];
  mov.u64 %d2, table; mov.u64 %d3, total; mov.u32 %r1, tile; ret; }"""
)
FULL: dict[str, Argument] = {
    "n": Scalar(-3), "a": Scalar(2), "x": Buffer(DType.F32, (8,), Fill.ARANGE), "s+0": Scalar(1),
    "s+4": Scalar(1), "s+8": Scalar(0), "s+16": Scalar(7),
}  # fmt: skip


@pytest.fixture(scope="module")
def program():
    return lower(parse(TEXT), "k")


def launch(**arguments):
    return Launch(Dim3(2), Dim3(64), dynamic_shared=100, arguments=arguments)


def given(**changes):
    return Launch(Dim3(2), Dim3(64), dynamic_shared=100, arguments={**FULL, **changes})


def test_parameters_by_type_and_alignment(program):
    context, memory = load_launch(bind(program, given()))
    bank = context.banks[0]
    assert struct.unpack_from("<i4xdQ", bank) == (-3, 2.0, 2 << 40)
    assert struct.unpack_from("<ifQQ", bank, 24) == (1, 1.0, 0, 7)
    assert memory.array("x").tolist() == [*range(8)]


def test_shared_memory_is_static_and_dynamic(program):
    assert load_launch(bind(program, given()))[0].shared == 148


def test_symbols(program):
    values = np.array([1, 2, 3, 4], np.float32)
    changed = given(table=Buffer(DType.F32, (4,)), total=Scalar(9))
    context, memory = load_launch(bind(program, changed), arrays={"table": values})
    assert context.banks[3] == values.tobytes()
    assert memory.bytes_of(1).view(np.uint64).tolist() == [9]
    context, memory = load_launch(bind(program, given()))
    assert context.banks[3] == bytes(16)
    assert memory.bytes_of(1).view(np.uint64).tolist() == [5]


def test_names_of_the_source_and_positions():
    parameters = (Parameter("k_param_0", "u32", 4, 4, source_name="n"), Parameter("k_param_1", "u64", 8, 8))
    code = Program("k", Level.PTX, "sm_90", (), parameters=parameters)
    context, _ = load_launch(bind(code, launch(n=Scalar(1), **{"1": Scalar(0)})))
    assert context.banks[0] == struct.pack("<I4xQ", 1, 0)


def test_one_description_passed_twice_is_one_buffer():
    parameters = tuple(Parameter(name, "u64", 8, 8, pointer=True) for name in "abc")
    code = Program("k", Level.PTX, "sm_90", (), parameters=parameters)
    same, other = Buffer(DType.I8, (4,)), Buffer(DType.I8, (4,))
    context, _ = load_launch(bind(code, launch(a=same, b=same, c=other)))
    a, b, c = struct.unpack("<3Q", context.banks[0])
    assert a == b != c


def test_a_later_launch_finds_the_buffers_where_they_are(program):
    first, memory = load_launch(bind(program, given()))
    memory.array("x")[:] = 5
    again, same = load_launch(bind(program, given()), memory=memory, addresses={"x": memory.address("x")})
    assert same is memory
    assert again.banks[0] == first.banks[0]
    assert memory.array("x").tolist() == [5] * 8


def test_machine_code_takes_names_and_types_from_ptx():
    machine = (Parameter("k_param_0", "b32", 4, 4, offset=0), Parameter("k_param_1", "b64", 8, 8, offset=8))
    named = (Parameter("p0", "f32", 4, 4, source_name="a"), Parameter("p1", "u64", 8, 8, True, "x"))
    code = Program("k", Level.SASS, "sm_90", (), parameters=machine, parameter_base=0x210)
    arguments: dict[str, Argument] = {"a": Scalar(1), "x": Buffer(DType.F32, (1,))}
    context, _ = load_launch(bind(code, Launch(Dim3(5), Dim3(32, 2), arguments=arguments), named))
    assert struct.unpack_from("<f4xQ", context.banks[0], 0x210) == (1.0, 2 << 40)
    assert struct.unpack_from("<6I", context.banks[0]) == (32, 2, 1, 5, 1, 1)


@pytest.mark.parametrize("program_has", ["bf16", "f16"])
def test_halves(program_has):
    code = Program("k", Level.PTX, "sm_90", (), parameters=(Parameter("h", program_has, 2, 2),))
    context, _ = load_launch(bind(code, launch(h=Scalar(1.5))))
    assert context.banks[0] == (b"\xc0\x3f" if program_has == "bf16" else b"\x00\x3e")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": Scalar(1 << 40)}, "does not fit"),
        ({"n": Scalar(0.5)}, "whole number"),
        ({"n": Buffer(DType.F32, (1,))}, "not a pointer"),
        ({"x": Scalar(5)}, "is a pointer"),
        ({"y": Scalar(5)}, "no argument 'y'"),
        ({"table": Buffer(DType.F32, (5,))}, "do not fit"),
        ({"s+24": Scalar(1)}, "beyond"),
    ],
)
def test_refused(program, changes, message):
    with pytest.raises(ArgumentError, match=message):
        load_launch(bind(program, given(**changes)))


def test_missing_arguments_are_named_with_an_example(program):
    wanted = "needs argument '1' .f64., argument '2' .pointer., argument '3.4' .f32., argument '3.8' .u64."
    with pytest.raises(ArgumentError, match=wanted) as error:
        load_launch(bind(program, launch(n=Scalar(1), **{"s+0": Scalar(1)})))
    assert "--arg 2=f32[1024]" in error.value.hint


def test_variables_of_constant_space_are_read_by_name():
    variable = Variable("c", Space.CONST, 8, 4, element="f32")
    code = Program("k", Level.PTX, "sm_90", (), variables=(variable,))
    context, _ = load_launch(bind(code, launch(**{"c+4": Scalar(2)})))
    assert context.banks[3] == struct.pack("<ff", 0, 2)
