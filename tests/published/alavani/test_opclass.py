"""The thesis' classes of PTX and SASS opcodes."""

import pytest

from warpwatt.core.program import Access, Flow, Instruction, MemoryAccess, Space, Unit
from warpwatt.published.alavani.opclass import InstructionType, Resource, classify

T = InstructionType


@pytest.mark.parametrize(
    ("opcode", "operation", "resource"),
    [
        ("add.f32", "addf", "SP"),
        ("add.s64", "adds", "SP"),
        ("sub.u32", "subs", "SP"),
        ("mul.wide.s32", "mul", "SP"),
        ("mul.f32", "mulf", "SP"),
        ("mad.lo.s32", "mads", "SP"),
        ("fma.rn.f32", "fma", "SP"),
        ("div.rn.f32", "divf", "SFU"),
        ("div.full.f32", "sfu", "SFU"),
        ("sqrt.rn.f32", "sqrt", "SFU"),
        ("ex2.approx.f32", "sfu", "SFU"),
        ("rem.s32", "divs", "SP"),
        ("and.b32", "and", "SP"),
        ("and.pred", "and", "SP"),
        ("setp.lt.f32", "setp", "SP"),
        ("cvt.rn.f32.s32", "cvt", "SP"),
        ("cvta.to.global.u64", "cvta", "SP"),
        ("mov.f32", "mov", "SP"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "tensor", "TC"),
        ("FFMA", "fma", "SP"),
        ("IADD3.X", "adds", "SP"),
        ("MUFU.RCP", "sfu", "SFU"),
        ("HMMA.16816.F32", "tensor", "TC"),
    ],
)
def test_compute(opcode, operation, resource):
    found = classify(Instruction(0, opcode))
    assert (found.operation, found.resource, found.type) == (operation, resource, T.COMPUTE)
    assert found.known


def memory(space, access=Access.LOAD):
    return Instruction(0, "ld", memory=MemoryAccess(space, access, 4), unit=Unit.LSU)


@pytest.mark.parametrize(
    ("instruction", "type_"),
    [
        (memory(Space.GLOBAL), T.GLOBAL),
        (memory(Space.GENERIC), T.GLOBAL),
        (memory(Space.LOCAL), T.GLOBAL),
        (memory(Space.SHARED, Access.STORE), T.SHARED),
        (memory(Space.PARAM), T.MISC),
        (memory(Space.CONST), T.MISC),
        (memory(Space.GLOBAL, Access.PREFETCH), T.MISC),
    ],
)
def test_memory(instruction, type_):
    assert classify(instruction).type is type_


def test_parameter_loads_are_global_in_the_released_tables():
    assert classify(memory(Space.PARAM), param_loads_are_global=True).type is T.GLOBAL
    assert classify(memory(Space.CONST), param_loads_are_global=True).type is T.MISC


@pytest.mark.parametrize("opcode", ["bra", "ret", "bar.sync", "EXIT", "BRA"])
def test_control_is_misc(opcode):
    found = classify(Instruction(0, opcode, unit=Unit.CONTROL, flow=Flow.JUMP))
    assert (found.type, found.resource) == (T.MISC, Resource.WS)


def test_doubles_use_the_dpu():
    assert classify(Instruction(0, "div.rn.f64", unit=Unit.FP64)).resource is Resource.DPU
    assert classify(Instruction(0, "DADD", unit=Unit.FP64)).resource is Resource.DPU


@pytest.mark.parametrize("unit", list(Unit))
def test_unknown_opcodes_follow_their_unit(unit):
    found = classify(Instruction(0, "frobnicate.b32", unit=unit))
    assert found.known == (unit is Unit.CONTROL)
