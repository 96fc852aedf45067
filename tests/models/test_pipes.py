"""Pipes: who executes what, against the throughput tables and the compiled probes."""

import itertools

import pytest

from warpwatt.core.program import Access, Instruction, Level, MemoryAccess, Space, Unit
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import find
from warpwatt.models.pipes import issue_slots, machine_instructions, multiplier_passes, pipe_cycles


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


WIDE = """
extern "C" __global__ void wide(const int* a, unsigned* high, int* low) {
    int v[8];
    for (int k = 0; k < 8; ++k) v[k] = a[8 * threadIdx.x + k];
    for (int k = 0; k < 8; ++k) high[8 * threadIdx.x + k] = __umulhi(v[k], v[(k + 3) % 8]);
    for (int k = 0; k < 8; ++k) low[8 * threadIdx.x + k] = v[k] * v[(k + 5) % 8];
}
"""


@pytest.mark.parametrize("target", ["sm_75", "sm_86"])
def test_the_assembler_spaces_multiplications_as_the_multiplier_takes_them(target, tmp_path):
    """NVIDIA's own schedule: so many cycles lie between independent ones of a kind."""
    source = tmp_path / "wide.cu"
    source.write_text(WIDE)
    code = load_kernel(source, target, CompileOptions()).sass.instructions
    stalls = {"IMAD": [], "IMAD.HI": []}
    for one, other in itertools.pairwise(code):
        kind = one.opcode.removesuffix(".U32")
        if one.opcode == other.opcode and kind in stalls:
            stalls[kind].append(one.control.stall)
    assert {kind: min(found) for kind, found in stalls.items()} == {
        kind: 2 * multiplier_passes(kind) for kind in stalls
    }


def test_the_upper_half_of_a_product_takes_the_multiplier_twice():
    capability = find("RTX A6000").capability
    plain, wide = (
        pipe_cycles(instruction(opcode, Unit.INT, "int32_mul_mad"), Level.SASS, capability)["imad"]
        for opcode in ("IMAD", "IMAD.WIDE")
    )
    assert (plain, wide) == (0.5, 1.0)


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
