"""Shapes that many instructions share: one result from operands of one type, element by element if packed.

A *maker* takes an opcode apart once and returns its semantics, ``(builder, instruction) -> None``.
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

Semantics = Callable[[PtxBuilder, Instruction], None]
Maker = Callable[[Opcode], Semantics]
Function = Callable[..., "Value"]
"""``(builder, opcode, values...) -> value``, of the type that belongs to the opcode's kind."""


def plain(function: Function) -> Maker:
    """Return the maker of d = function(a, b, ...), all of the opcode's first type; ``x2`` types in halves."""

    def make(how: Opcode) -> Semantics:
        whole = packed(function) if how.kind.endswith("x2") else function
        type_, sign = type_of(how.kind), signed(how.kind)

        def lift(b: PtxBuilder, i: Instruction) -> None:
            values = [b.read(o, type_) for o in i.operands[1:]]
            b.write(i.operands[0], whole(b, how, *values), signed=sign)

        return lift

    return make


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
