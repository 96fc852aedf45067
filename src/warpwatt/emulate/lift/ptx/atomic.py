"""Atomics (PTX ISA 9.7.13: atom, red) on every space; packed and vector ones element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Instruction
from warpwatt.emulate.ir import Type
from warpwatt.emulate.lift.bits import join_halves, split_halves
from warpwatt.emulate.lift.driver import UncoveredError
from warpwatt.emulate.lift.ptx.memory import space_of
from warpwatt.emulate.lift.ptx.opcode import bits_of, signed, type_of

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.ptx.opcode import Opcode
    from warpwatt.emulate.lift.ptx.operands import PtxBuilder
    from warpwatt.emulate.lift.ptx.patterns import Semantics

_OPERATIONS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")


def _atomic(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    name = next((w for w in how.words if w in _OPERATIONS), None)
    if name is None or bits_of(how.kind) > 64 or how.kind.startswith("bf16"):
        raise UncoveredError
    if name in ("min", "max") and how.kind[0] != "f" and not signed(how.kind):
        name = f"u{name}"
    space, returns = space_of(how), how.name == "atom"
    count = next((int(w[1:]) for w in how.words if w in ("v2", "v4", "v8")), 1)
    one = _packed_halves if how.kind == "f16x2" else _single
    type_ = Type.I16 if how.kind in ("b16", "u16") else type_of(how.kind)
    step = bits_of(how.kind) // 8
    rest = i.operands[1:] if returns else i.operands
    address = b.address(rest[0], space)
    values = [b.elements(o, count) for o in rest[1 : 3 if name == "cas" else 2]]
    targets = b.elements(i.operands[0], count) if returns else ()
    for at in range(count):
        here = b.add(address, b.const(address.type, at * step)) if at else address
        operands = [b.read(v[at], type_) for v in values]
        old = one(b, space, name, here, *operands, returns=returns)
        if returns:
            b.write(targets[at], old, signed=signed(how.kind))


def _single(b: PtxBuilder, space: str, name: str, address: Value, *operands: Value, returns: bool) -> Value:
    return b.atomic(space, name, address, *operands, returns=returns)


def _packed_halves(
    b: PtxBuilder, space: str, name: str, address: Value, *operands: Value, returns: bool
) -> Value:
    """Return the old pair; its halves are two atomics, as PTX allows."""
    pairs = [split_halves(b, v) for v in operands]
    low, high = ([b.cast_bits(pair[k], Type.F16) for pair in pairs] for k in (0, 1))
    first = b.atomic(space, name, address, *low, returns=returns)
    behind = b.add(address, b.const(address.type, 2))
    return join_halves(b, first, b.atomic(space, name, behind, *high, returns=returns))


TABLE: dict[str, Semantics] = {"atom": _atomic, "red": _atomic}
