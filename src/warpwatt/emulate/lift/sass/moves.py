"""Moves between registers of threads, of the warp, special registers and constant banks."""

from __future__ import annotations

import re

from warpwatt.core.program import Address, Immediate, Register, Symbol
from warpwatt.emulate.ir import Memory, Op, Type, Value
from warpwatt.emulate.lift.sass.operands import (
    BANKS,
    Step,
    Unsupported,
    is_register,
    next_register,
    register_of,
    require,
)
from warpwatt.emulate.lift.sass.special import special_value
from warpwatt.emulate.lift.sass.table import lifts

_BANK = re.compile(r"c\[(0x[0-9a-f]+)\]$")
_NARROW = {"U8": (Type.I8, False), "S8": (Type.I8, True), "U16": (Type.I16, False), "S16": (Type.I16, True)}
_WORDS = {"64": 2, "128": 4}


@lifts("MOV", "UMOV", "MOV32I", knows="64 U32")
def move(step: Step) -> None:
    """Copy a register, a constant or a number."""
    require(len(step.operands) == 2, "move under a mask")
    dest, source = step.operands
    step.set(dest, step.value(source, Type.I64 if step.has("64") else Type.I32))


@lifts("R2UR")
def register_to_uniform(step: Step) -> None:
    """Copy the first active lane's register to one of the warp."""
    *_, dest, source = step.operands
    require(all(isinstance(o, Register) and o.name in ("PT", "UPT") for o in step.operands[:-2]))
    step.set(dest, step.value(source))


@lifts("S2R", "S2UR")
def special_register(step: Step) -> None:
    """Read 32 bits of a special register."""
    dest, source = step.operands
    step.set(dest, special_value(step, register_of(source).name))


@lifts("CS2R", "CS2UR", knows="32")
def clock_register(step: Step) -> None:
    """Read a special register of 64 bits: mostly zero, or the clock."""
    dest, source = step.operands
    step.set(dest, special_value(step, register_of(source).name, wide=not step.has("32")))


@lifts("LDC", "ULDC", "LDCU", knows="U8 S8 U16 S16 64 128")
def load_constant(step: Step) -> None:
    """Read a constant bank at an offset that registers may shift."""
    dest, place = step.operands
    dest = register_of(dest)
    if not isinstance(place, Address) or place.modifiers:
        raise Unsupported("signs around a loaded constant")
    narrow = next((m for m in step.modifiers if m in _NARROW), None)
    element, signed = _NARROW[narrow] if narrow else (Type.I32, False)
    words = next((_WORDS[m] for m in step.modifiers if m in _WORDS), 1)
    values = _load(step, place, element, words)
    for i, value in enumerate(values):
        wide = step.b.sext(value, Type.I32) if signed else step.b.zext(value, Type.I32)
        step.set(next_register(dest.name, i), wide)


def _load(step: Step, place: Address, element: Type, count: int) -> tuple[Value, ...]:
    """Return ``count`` neighbouring constants."""
    found = _BANK.match(place.base.name) if isinstance(place.base, Symbol) else None
    require(found, "constant without a bank's number")
    assert found
    bank = int(found[1], 16)
    require(bank < BANKS, f"constant bank {bank}")
    size = element.bits // 8
    if place.index is None:
        return tuple(step.b.constant(bank, place.offset + size * i, element) for i in range(count))
    require(place.scale == 1 and not set(place.index.modifiers) - {"reuse"})
    address = step.b.add(step.value(place.index), step.b.i32(place.offset))
    memory = Memory("const", element, count, bank)
    return step.b.emit(Op.LOAD, element, address, data=memory, mask=step.b.guard, results=count)


@lifts("LEPC")
def load_code_address(step: Step) -> None:
    """Read the address of this instruction or, where a number follows, that address."""
    dest, *rest = step.operands
    require(is_register(dest) and len(rest) <= 1)
    address = step.value(rest[0], Type.I64) if rest else step.b.const(Type.I64, step.address)
    require(not rest or isinstance(rest[0], Immediate))
    step.set(dest, address)
