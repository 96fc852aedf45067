"""SIMD video instructions (PTX ISA 9.7.17): vadd2, vabsdiff4 and their kin, without selectors and masks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warpwatt.core.program import Instruction
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift.bits import clamp, field
from warpwatt.emulate.lift.driver import UncoveredError
from warpwatt.emulate.lift.ptx.opcode import signed

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.ptx.opcode import Opcode
    from warpwatt.emulate.lift.ptx.operands import PtxBuilder
    from warpwatt.emulate.lift.ptx.patterns import Semantics

_NAME = re.compile(r"v(add|sub|avrg|absdiff|min|max)([24])", re.ASCII)


def _packed(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    match = _NAME.fullmatch(how.name)
    if match is None or len(how.kinds) != 3 or set(how.words) - {"add", "sat"}:
        raise UncoveredError
    operation, parts = match[1], int(match[2])
    bits = 32 // parts
    d_kind, a_kind, b_kind = how.kinds
    x, y, z = (b.read(o, Type.I32) for o in i.operands[1:4])
    total: Value | None = None
    for k in range(parts):
        left = field(b, x, k * bits, bits, signed=signed(a_kind))
        right = field(b, y, k * bits, bits, signed=signed(b_kind))
        result = _one(b, operation, left, right)
        if how.has("sat"):
            result = clamp(b, result, bits, signed=signed(d_kind))
        if how.has("add"):
            total = b.add(z if total is None else total, result)
        else:
            moved = b.shl(b.and_(result, b.i32((1 << bits) - 1)), k * bits)
            total = moved if total is None else b.or_(total, moved)
    assert total is not None
    b.write(i.operands[0], total)


def _one(b: PtxBuilder, operation: str, x: Value, y: Value) -> Value:
    """Return the result of one part, in 32 bits, where it is exact and signed."""
    if operation in ("add", "sub"):
        return b.op(Op.ADD if operation == "add" else Op.SUB, x, y)
    if operation == "avrg":  # half away from zero
        total = b.add(x, y)
        return b.ashr(b.add(total, b.i32(1)), 1)
    if operation == "absdiff":
        return b.sub(b.op(Op.SMAX, x, y), b.op(Op.SMIN, x, y))
    return b.op(Op.SMIN if operation == "min" else Op.SMAX, x, y)


TABLE: dict[str, Semantics] = {
    f"v{name}{parts}": _packed for name in ("add", "sub", "avrg", "absdiff", "min", "max") for parts in (2, 4)
}
