"""Pipes: who executes what, against the throughput tables and the compiled probes."""

import pytest

from warpwatt.core.program import Access, Instruction, Level, MemoryAccess, Space, Unit
from warpwatt.gpus import find
from warpwatt.models.pipes import issue_slots, machine_instructions, pipe_cycles


def instruction(opcode, unit, throughput_class="", **more):
    return Instruction(0, opcode, unit=unit, throughput_class=throughput_class, **more)


FMA = instruction("fma.rn.f32", Unit.FP32, "fp32_add_mul_fma")
ADD = instruction("add.s32", Unit.INT, "int32_add_sub")
MULTIPLY = instruction("mad.lo.s32", Unit.INT, "int32_mul_mad")


@pytest.mark.parametrize(("gpu", "cycles"), [("a100", 0.5), ("RTX A6000", 0.25), ("Tesla K20", 32 / 192)])
def test_a_multiply_add_takes_a_warp_over_the_lanes(gpu, cycles):
    assert pipe_cycles(FMA, Level.PTX, find(gpu).capability) == {"fp32": pytest.approx(cycles)}


def test_integer_multiplication_runs_on_the_fma_pipe_since_volta():
    modern = pipe_cycles(MULTIPLY, Level.PTX, find("RTX A6000").capability)
    assert modern == {"fp32": 0.25, "imad": 0.5}
    assert set(pipe_cycles(MULTIPLY, Level.PTX, find("Tesla K20").capability)) == {"int"}
    assert set(pipe_cycles(ADD, Level.PTX, find("RTX A6000").capability)) == {"int"}


def test_conversions_of_doubles_share_the_few_lanes_of_geforce_boards():
    convert = instruction("cvt.f64.f32", Unit.SFU, "cvt_64")
    assert pipe_cycles(convert, Level.PTX, find("RTX 3060").capability) == {"fp64": 16.0}
    assert set(pipe_cycles(convert, Level.PTX, find("a100").capability)) == {"sfu"}


def test_widening_an_integer_is_no_conversion_of_doubles():
    widen = instruction("cvt.s64.s32", Unit.INT, "cvt_64")
    assert pipe_cycles(widen, Level.PTX, find("RTX 3060").capability) == {"int": 0.5}


def test_a_remainder_keeps_several_pipes_busy():
    remainder = instruction("rem.u32", Unit.INT, "int32_mul_mad")
    cycles = pipe_cycles(remainder, Level.PTX, find("a100").capability)
    assert {"int", "fp32", "imad", "sfu"} <= set(cycles)
    assert issue_slots(remainder, Level.PTX, "sm_80") == machine_instructions("rem.u32", "sm_80") >= 8
    assert issue_slots(remainder, Level.SASS, "sm_80") == 1.0


def test_what_leaves_no_machine_instruction_takes_no_slot():
    parameter = MemoryAccess(Space.PARAM, Access.LOAD, 8)
    for free in (
        instruction("mov.u32", Unit.MOVE),
        instruction("or.pred", Unit.INT, "logic_and_or_xor"),
        instruction("ld.param.u64", Unit.LSU, memory=parameter),
    ):
        assert issue_slots(free, Level.PTX, "sm_90") == 0.0


def test_exact_division_that_flushes_denormals_expands_too_but_approximations_do_not():
    assert machine_instructions("div.rn.ftz.f32", "sm_90") == machine_instructions("div.rn.f32", "sm_90") > 5
    assert machine_instructions("rcp.approx.ftz.f32", "sm_90") == 1.0
    assert machine_instructions("div.rn.f32", "sm_50") > 5  # older than every probe: the oldest counts
