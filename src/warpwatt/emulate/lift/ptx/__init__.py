"""PTX to micro-operations: tables of semantics by opcode, one file per topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Flow, Guard, Instruction, Program
from warpwatt.emulate.ir import Type
from warpwatt.emulate.lift.driver import Language, UncoveredError, drive
from warpwatt.emulate.lift.ptx import (
    asynchronous,
    atomic,
    compare,
    control,
    convert,
    integer,
    logic,
    memory,
    real,
    tensor,
    textures,
    video,
    warp,
)
from warpwatt.emulate.lift.ptx.opcode import opcode
from warpwatt.emulate.lift.ptx.operands import PtxBuilder
from warpwatt.program.inlining import expand_calls

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Routine, Value

_REAL = ("f16", "f32", "f64", "bf16", "f16x2", "bf16x2", "f32x2")
_TABLE = (
    integer.TABLE | logic.TABLE | compare.TABLE | convert.TABLE | memory.TABLE | control.TABLE
    | atomic.TABLE | warp.TABLE | tensor.TABLE | asynchronous.TABLE | video.TABLE | textures.TABLE
)  # fmt: skip
_UNCOVERED = {"st": ("async", "bulk"), "red": ("async",), "cp": ("reduce", "cp_mask", "tensor")}
"""Modifiers that make another instruction of one, which is not covered."""
_ALONE = (
    "bar",
    "barrier",
    "shfl",
    "vote",
    "match",
    "redux",
    "elect",
    "mma",
    "wmma",
    "ldmatrix",
    "stmatrix",
    "movmatrix",
)


def lift_ptx(program: Program) -> Routine:
    """Return a PTX program, its calls expanded, as a routine."""
    program = expand_calls(program)
    builder = PtxBuilder(program)
    indexed = {
        program.labels[t] for i in program.instructions if i.opcode.startswith("brx") for t in i.targets
    }
    language = Language(_lift, _guard, PtxBuilder.clear, _alone, lambda at: at if at in indexed else None)
    return drive(program, builder, language)


def _lift(builder: PtxBuilder, instruction: Instruction) -> None:
    how = opcode(instruction.opcode)
    if how.has(*_UNCOVERED.get(how.name, ()), "oob") or "b128" in how.kinds:
        raise UncoveredError
    table = real.TABLE if how.kind in _REAL and how.name in real.TABLE else _TABLE
    semantics = table.get(how.name)
    if semantics is None:
        raise UncoveredError
    semantics(builder, how, instruction)


def _guard(builder: PtxBuilder, guard: Guard) -> Value:
    builder.register(guard.register, Type.I1)
    value = builder.get(guard.register)
    return builder.not_(value) if guard.negated else value


def _alone(instruction: Instruction) -> bool:
    """Whether lanes meet at an instruction, so that its guard must be a branch around it."""
    return instruction.flow is Flow.BARRIER or instruction.opcode.partition(".")[0] in _ALONE
