"""Semantics of loads, stores and asynchronous copies, and the addresses of all memory instructions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.core.program import Address, Immediate, Operand, Register
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift.sass.operands import is_uniform, is_zero, next_register, register_of, require
from warpwatt.emulate.lift.sass.reserved import PARITY, in_reserved
from warpwatt.emulate.lift.sass.table import lifts

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.sass.operands import Step

SPACES = {
    "LD": "generic", "LDG": "global", "LDS": "shared", "LDL": "local", "LDSM": "shared",
    "ST": "generic", "STG": "global", "STS": "shared", "STL": "local", "STSM": "shared",
    "ATOM": "generic", "ATOMG": "global", "ATOMS": "shared", "RED": "global", "REDG": "global",
}  # fmt: skip
"""Opcode -> state space."""
_WIDE = ("global", "generic")
_SCALES = {"X4": 2, "X8": 3, "X16": 4}
_SIZES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "32": 4, "64": 8, "128": 16}
_SCOPE = "E SYS STRONG WEAK GPU CTA SM CONSTANT PRIVATE MMIO"
_HINTS = "EF EL LU EU NA LTC64B LTC128B LTC256B U"
ACCESS = f"{_SCOPE} {_HINTS}"
"""Modifiers that say who sees an access and what a cache should keep: of no effect here."""
_WORD = 4


def address(s: Step, operand: Operand, space: str) -> Value:
    """Return the address of a memory operand: I64 in global and generic space, else I32."""
    require(isinstance(operand, Address), "no address")
    assert isinstance(operand, Address)
    wide = space in _WIDE
    if wide:
        require(s.has("E"), "32-bit address")
    type_ = Type.I64 if wide else Type.I32
    known = ("desc[",)
    require(all(m.startswith(known) for m in operand.modifiers), f"address {operand.modifiers}")
    registers = [register_of(r) for r in (operand.base, operand.index) if r is not None]
    terms = [_term(s, register, wide=wide) for register in registers]
    if operand.offset or not terms:
        terms.insert(0, s.b.const(type_, operand.offset))
    total, *others = terms
    for term in others:
        total = s.b.add(term, total)
    return total


def _term(s: Step, register: Register, *, wide: bool) -> Value:
    """Return what a register adds to an address: scaled, or of two words."""
    suffixes = [m for m in register.modifiers if m != "reuse"]
    plain = replace(register, modifiers=())
    if not wide:
        require(len(suffixes) <= 1 and all(m in _SCALES for m in suffixes), f"address {suffixes}")
        value = s.value(plain)
        return s.b.shl(value, _SCALES[suffixes[0]]) if suffixes else value
    require(suffixes in ([], ["64"], ["U32"]), f"address {suffixes}")
    if suffixes == ["U32"] and not is_uniform(register):
        return s.b.zext(s.value(plain), Type.I64)
    return s.b.const(Type.I64, 0) if is_zero(register) else s.value(plain, Type.I64)


def size(s: Step) -> str:
    """Return the modifier that says how much is accessed; ``32`` where none does."""
    return s.one_of(_SIZES, "32")


def load(s: Step, space: str, at: Value, kind: str) -> list[Value]:
    """Return the 32-bit words that an access of ``kind`` reads; small ones are extended."""
    bytes_ = _SIZES[kind]
    if bytes_ >= _WORD:
        return list(s.b.load(space, at, Type.I32, bytes_ // _WORD))
    (value,) = s.b.load(space, at, Type.I8 if bytes_ == 1 else Type.I16)
    return [s.b.sext(value, Type.I32) if kind[0] == "S" else s.b.zext(value, Type.I32)]


def set_words(s: Step, operand: Operand, words: list[Value]) -> None:
    """Write words to a register and those behind it."""
    operand = register_of(operand)
    for part, value in enumerate(words):
        s.set(next_register(operand.name, part), value)


def words_of(s: Step, operand: Operand, count: int) -> list[Value]:
    """Return the words of a register and those behind it."""
    operand = register_of(operand)
    require(not operand.negated and set(operand.modifiers) <= {"reuse"})
    return [s.get(next_register(operand.name, part)) for part in range(count)]


@lifts("LDG", "LD", "LDS", "LDL", knows=f"{ACCESS} {' '.join(_SIZES)}")
def load_register(s: Step) -> None:
    """Read a register, a pair or four from memory."""
    require(len(s.operands) == 2, "predicate of a load")
    space, place = SPACES[s.opcode], s.operands[1]
    if space == "shared" and in_reserved(s, place):
        s.set(s.operands[0], s.b.i32(0 if isinstance(place, Address) and place.offset == PARITY else -1))
        return
    words = load(s, space, address(s, place, space), size(s))
    set_words(s, s.operands[0], words)


@lifts("LDG.ENL2.256", "LD.ENL2.256", knows=ACCESS)
def load_eight(s: Step) -> None:
    """Read eight registers: the first operand takes the high four, the second the low four.

    A mask as last operand leaves out words.
    """
    high, low, place, *mask = s.operands
    require(len(mask) <= 1 and all(isinstance(m, Immediate) for m in mask))
    space = SPACES[s.opcode]
    at = address(s, place, space)
    words = s.b.load(space, at, Type.I32, 8)
    kept = int(mask[0].value) if mask and isinstance(mask[0], Immediate) else 0xFF
    require(kept in (0xFF, 0x3, 0xF), "mask of a load")
    set_words(s, low, [w for k, w in enumerate(words[:4]) if kept >> k & 1])
    set_words(s, high, [w for k, w in enumerate(words[4:]) if kept >> (4 + k) & 1])


@lifts("STG", "ST", "STS", "STL", knows=f"{ACCESS} {' '.join(_SIZES)}")
def store_register(s: Step) -> None:
    """Write a register, a pair or four to memory."""
    require(len(s.operands) == 2)
    space, kind = SPACES[s.opcode], size(s)
    at = address(s, s.operands[0], space)
    bytes_ = _SIZES[kind]
    words = words_of(s, s.operands[1], max(bytes_ // _WORD, 1))
    if bytes_ < _WORD:
        words = [s.b.trunc(words[0], Type.I8 if bytes_ == 1 else Type.I16)]
    s.b.store(space, at, *words)


@lifts("STG.ENL2.256", "ST.ENL2.256", knows=ACCESS)
def store_eight(s: Step) -> None:
    """Write eight registers: the first operand holds the low four."""
    require(len(s.operands) == 3)
    space = SPACES[s.opcode]
    words = words_of(s, s.operands[1], 4) + words_of(s, s.operands[2], 4)
    s.b.store(space, address(s, s.operands[0], space), *words)


@lifts("LDGSTS", knows=f"{ACCESS} BYPASS ACCESS ZFILL 32 64 128")
def copy(s: Step) -> None:
    """Copy from global to shared memory, at once instead of some time before the wait for it.

    Where the predicate behind the addresses fails, zeros are written. With ``.ZFILL`` the low bits of the
    global address say how many bytes at the end are zeros.
    """
    require(len(s.operands) in (2, 3))
    to, source = address(s, s.operands[0], "shared"), address(s, s.operands[1], "global")
    bytes_ = _SIZES[size(s)]
    missing = s.b.and_(source, s.b.const(Type.I64, bytes_ - 1)) if s.has("ZFILL") else None
    if missing is not None:
        source = s.b.sub(source, missing)
    words = _guarded_load(s, source, bytes_ // _WORD)
    if missing is not None:
        lost = s.b.trunc(missing, Type.I32)
        words = [_cut(s, word, lost, bytes_ - _WORD * k) for k, word in enumerate(words)]
    s.b.store("shared", to, *words)


def _guarded_load(s: Step, at: Value, count: int) -> list[Value]:
    """Return words of global memory where the guard and the third operand hold, else zeros."""
    outer = s.b.guard
    if len(s.operands) == 3:
        wanted = s.predicate(s.operands[2])
        s.b.guard = wanted if outer is None else s.b.op(Op.AND, outer, wanted)
    try:
        return list(s.b.load("global", at, Type.I32, count))
    finally:
        s.b.guard = outer


def _cut(s: Step, word: Value, lost: Value, rest: int) -> Value:
    """Return a word without its bytes behind the last valid one; ``rest`` bytes begin with it."""
    valid = s.b.sub(s.b.i32(rest), lost)  # bytes of this word and behind it that are copied, maybe negative
    none = s.b.compare("sle", valid, s.b.i32(0))
    some = s.b.compare("slt", valid, s.b.i32(_WORD))
    mask = s.b.sub(s.b.shl(s.b.i32(1), s.b.shl(valid, 3)), s.b.i32(1))
    return s.b.select(none, s.b.i32(0), s.b.select(some, s.b.and_(word, mask), word))


@lifts("QSPC", knows="E S L G")
def query_space(s: Step) -> None:
    """Set P where a generic address lies in shared (S), local (L) or global (G) memory."""
    require(len(s.operands) == 3 and is_zero(s.operands[1]))
    slot = s.b.lshr(address(s, s.operands[2], "generic"), 40)
    inside = {k: s.b.compare("eq", slot, s.b.const(Type.I64, v)) for k, v in (("S", 0xF0), ("L", 0xF1))}
    inside["G"] = s.b.not_(s.b.or_(inside["S"], inside["L"]))
    s.set(s.operands[0], inside[s.one_of(("S", "L", "G"))])
