"""Shapes that many instructions share: one result from operands of one type, element by element if packed.

*Semantics* are functions ``(builder, opcode, instruction) -> None``, the opcode taken apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.core.program import Instruction
from warpwatt.emulate.lift.bits import join_halves, split_halves
from warpwatt.emulate.lift.ptx.opcode import Opcode, signed, type_of
from warpwatt.emulate.lift.ptx.operands import PtxBuilder

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value

Semantics = Callable[[PtxBuilder, Opcode, Instruction], None]
Function = Callable[..., "Value"]
"""``(builder, opcode, values...) -> value``, of the type that belongs to the opcode's kind."""


def nothing(_b: PtxBuilder, _how: Opcode, _i: Instruction) -> None:
    """Lift what changes no value: prefetches, hints, fences, commits of copies made at once."""


def plain(function: Function) -> Semantics:
    """Return semantics d = function(a, b, ...), all of the opcode's first type; ``x2`` types in halves."""

    def lift(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
        whole = packed(function) if how.kind.endswith("x2") else function
        values = [b.read(o, type_of(how.kind)) for o in i.operands[1:]]
        b.write(i.operands[0], whole(b, how, *values), signed=signed(how.kind))

    return lift


def packed(function: Function) -> Function:
    """Return ``function`` applied to both 16-bit halves of 32-bit values."""

    def whole(b: PtxBuilder, how: Opcode, *values: Value) -> Value:
        half = single(how)
        type_ = type_of(half.kind)
        parts = zip(*(split_halves(b, v) for v in values), strict=True)
        low, high = (function(b, half, *(b.cast_bits(v, type_) for v in part)) for part in parts)
        return join_halves(b, low, high)

    return whole


def single(how: Opcode) -> Opcode:
    """Return the opcode of one half of a packed one."""
    return replace(how, kinds=tuple(k.removesuffix("x2") for k in how.kinds))


def immediate(instruction: Instruction, position: int) -> int | None:
    """Return an operand that is a whole literal; None if it is anything else, or missing."""
    if position >= len(instruction.operands):
        return None
    value = getattr(instruction.operands[position], "value", None)
    return value if isinstance(value, int) else None
