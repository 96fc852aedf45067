"""Moves between registers of threads, of the warp, special registers and constant banks."""

from __future__ import annotations

import re

from warpwatt.core.program import Address, Immediate, Symbol
from warpwatt.emulate.ir import Memory, Op, Type, Value
from warpwatt.emulate.lift.sass.operands import (
    BANKS,
    Step,
    Unsupported,
    is_predicate,
    is_register,
    is_true,
    next_register,
    register_of,
    require,
)
from warpwatt.emulate.lift.sass.table import lifts

_BANK = re.compile(r"c\[(0x[0-9a-f]+)\]$")
_NARROW = {"U8": (Type.I8, False), "S8": (Type.I8, True), "U16": (Type.I16, False), "S16": (Type.I16, True)}
_WORDS = {"64": 2, "128": 4}
_PLAIN = {
    "SR_TID.X": "tid.x", "SR_TID.Y": "tid.y", "SR_TID.Z": "tid.z",
    "SR_CTAID.X": "ctaid.x", "SR_CTAID.Y": "ctaid.y", "SR_CTAID.Z": "ctaid.z",
    "SR_NTID.X": "ntid.x", "SR_NTID.Y": "ntid.y", "SR_NTID.Z": "ntid.z",
    "SR_NCTAID.X": "nctaid.x", "SR_NCTAID.Y": "nctaid.y", "SR_NCTAID.Z": "nctaid.z",
    "SR_CgaCtaId": "cluster_ctarank", "SR_VIRTUALSMID": "smid", "SR_CLOCKLO": "clock",
    "SR_SMEMSZ": "total_smem_size",
}  # fmt: skip
"""Special register -> name in :data:`~warpwatt.emulate.ir.SPECIALS`."""
_FIXED = {"SRZ": 0, "SR_CgaSize": 0, "SR_SWINHI": 0xF000, "SR_LWINHI": 0xF100}
"""Upper words of the windows; SR_CgaSize picks a set of constants in bank 0, of which we write but one."""
_HALVES = {
    "SR_CLOCKHI": ("clock64", 1),
    "SR_GLOBALTIMERLO": ("globaltimer", 0),
    "SR_GLOBALTIMERHI": ("globaltimer", 1),
}
"""Special register -> 64-bit special value, and which of its words."""
_SHIFTED = {"SR_VIRTID": "warpid", "SR_VIRTCFG": "nwarpid"}
"""Registers of several fields; the one from bit 8 on is all that compiled code was seen to use."""
_WIDE = {"SR_CLOCKLO": "clock64", "SR_GLOBALTIMERLO": "globaltimer"}


@lifts("MOV", "UMOV", "MOV32I", knows="64 U32 SPILL")
def move(step: Step) -> None:
    """Copy a register, a constant or a number."""
    require(len(step.operands) == 2, "move under a mask")
    dest, source = step.operands
    step.set(dest, step.value(source, Type.I64 if step.has("64") else Type.I32))


@lifts("R2UR", knows="OR BROADCAST FILL")
def register_to_uniform(step: Step) -> None:
    """Copy the first active lane's register to one of the warp.

    A predicate in front tells each lane whether its own differs; ``.OR``: or already did.
    """
    *flags, dest, source = step.operands
    require(len(flags) <= 1 and all(is_predicate(o) for o in flags))
    own = step.value(source)
    differs = register_of(flags[0]) if flags and not is_true(flags[0]) else None
    require(differs is not None or not step.has("OR"))
    step.set(dest, own)
    if differs is not None:
        found = step.b.op(Op.NE, own, step.get(register_of(dest).name))
        step.set(differs, step.b.or_(step.get(differs.name), found) if step.has("OR") else found)


@lifts("RPCMOV.32")
def program_counter(step: Step) -> None:
    """Copy from or to half of the register of return addresses."""
    dest, source = step.operands
    kept = next(o for o in (dest, source) if isinstance(o, Symbol))
    require(kept.name in ("Rpc.LO", "Rpc.HI"))
    step.b.declare(kept.name, Type.I32)
    if isinstance(dest, Symbol):
        step.b.set(dest.name, step.value(source))
    else:
        step.set(dest, step.b.get(kept.name))


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


def special_value(step: Step, name: str, *, wide: bool = False) -> Value:
    """Return a special register's value, 64 bits where ``wide``.

    Raises
    ------
    Unsupported
        If the register is not known here.
    """
    b = step.b
    if wide:
        return b.special(_WIDE[name]) if name in _WIDE else b.zext(special_value(step, name), Type.I64)
    if name in _FIXED:
        return b.i32(_FIXED[name])
    if name in _PLAIN:
        return b.special(_PLAIN[name])
    if name in _SHIFTED:
        return b.shl(b.special(_SHIFTED[name]), 8)
    if name in _HALVES:
        return b.halves(b.special(_HALVES[name][0]))[_HALVES[name][1]]
    return _lane_mask(step, name)


def _lane_mask(step: Step, name: str) -> Value:
    """Return the lane's number, or the mask of lanes equal to, less or greater than it."""
    b = step.b
    own = b.shl(b.i32(1), b.lane())
    below = b.sub(own, b.i32(1))
    masks = {
        "SR_LANEID": b.lane(),
        "SR_EQMASK": own,
        "SR_LTMASK": below,
        "SR_LEMASK": b.or_(own, below),
        "SR_GEMASK": b.not_(below),
        "SR_GTMASK": b.op(Op.XOR, b.not_(below), own),
    }
    if name not in masks:
        raise Unsupported(f"special register {name}")
    return masks[name]


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
