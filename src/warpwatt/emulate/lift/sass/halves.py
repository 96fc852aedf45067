"""Semantics of packed half precision: two fp16 or bfloat16 numbers in a register."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.core.program import Address, Immediate, Operand, Register
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift.bits import join_halves, split_halves
from warpwatt.emulate.lift.floats import (
    flush,
    from_bf16,
    fused_bf16,
    least,
    relu,
    saturate,
    to_bf16,
)
from warpwatt.emulate.lift.sass.floats import COMPARING, combined, holds
from warpwatt.emulate.lift.sass.operands import Unsupported, is_zero, require
from warpwatt.emulate.lift.sass.table import lifts

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.sass.operands import Step

_ARITHMETIC = {"HADD2": Op.FADD, "HMUL2": Op.FMUL, "HFMA2": Op.FMA}
_SWIZZLES = {"H0_H0": (0, 0), "H1_H1": (1, 1), "H1_H0": (0, 1), "H0_H1": (1, 0)}
"""Suffix -> the half of the register that the low and the high result take (written high first)."""


def pairs(s: Step, operands: tuple[Operand, ...]) -> Iterator[tuple[Value, Value]]:
    """Yield (low, high) of each packed operand: F16, or F32 of bfloat16.

    Two literals side by side are one operand, the high half first.
    """
    at = 0
    while at < len(operands):
        operand = operands[at]
        if isinstance(operand, Immediate):
            require(at + 1 < len(operands), "one half literal")
            yield _number(s, _literal(s, operands[at + 1])), _number(s, _literal(s, operand))
            at += 2
        else:
            yield _read(s, operand)
            at += 1


def _literal(s: Step, operand: Operand) -> Value:
    """Return the 16 bits of a literal."""
    if not isinstance(operand, Immediate):
        raise Unsupported("one half literal")
    return s.b.const(Type.I16, half_bits(operand, bfloat=s.has("BF16_V2")))


def half_bits(operand: Immediate, *, bfloat: bool) -> int:
    """Return the pattern of a half-precision literal.

    >>> hex(half_bits(Immediate(1.5, "1.5"), bfloat=False)), hex(half_bits(Immediate(1.0, "1"), bfloat=True))
    ('0x3e00', '0x3f80')
    """
    if isinstance(operand.value, int):
        return operand.value & 0xFFFF
    if operand.value != operand.value:
        return 0x7FFF | 0x8000 * operand.text.strip().startswith("-")
    if bfloat:
        return int.from_bytes(struct.pack("<f", operand.value), "little") >> 16
    return int.from_bytes(struct.pack("<e", operand.value), "little")


def _read(s: Step, operand: Operand) -> tuple[Value, Value]:
    """Return both halves of a register or constant, swizzled, with bars and sign."""
    if not isinstance(operand, Register | Address):
        raise Unsupported(f"operand {operand}")
    around = operand.modifiers
    if around == ("F32",):
        return _rounded(s, operand)
    known = {*_SWIZZLES, "abs", "neg", "reuse"}
    require(set(around) <= known, f"operand modifiers {around}")
    chosen = next((_SWIZZLES[m] for m in around if m in _SWIZZLES), (0, 1))
    negated = "neg" in around or (isinstance(operand, Register) and operand.negated)
    word = s.value(_bare(operand))
    halves = split_halves(s.b, word)
    low, high = (_number(s, halves[k]) for k in chosen)
    if "abs" in around:
        low, high = s.b.op(Op.FABS, low), s.b.op(Op.FABS, high)
    return (s.b.op(Op.FNEG, low), s.b.op(Op.FNEG, high)) if negated else (low, high)


def _rounded(s: Step, operand: Register | Address) -> tuple[Value, Value]:
    """Return both halves of a single-precision operand, which ptxas only adds to zero: it is rounded once."""
    require(s.opcode == "HADD2" and is_zero(s.operands[1]))
    half = s.b.convert(Op.FPTRUNC, Type.F16, s.value(_bare(operand), Type.F32), "rn")
    return half, half


def _bare(operand: Register | Address) -> Operand:
    """Return an operand without what stands around it."""
    if isinstance(operand, Register):
        return replace(operand, negated=False, modifiers=())
    return replace(operand, modifiers=())


def _number(s: Step, bits: Value) -> Value:
    """Return the number of a 16-bit pattern: F16, or F32 for bfloat16."""
    return from_bf16(s.b, bits) if s.has("BF16_V2") else s.b.cast_bits(bits, Type.F16)


def _pattern(s: Step, value: Value) -> Value:
    """Return the 16-bit pattern of a result, I16."""
    return to_bf16(s.b, value) if s.has("BF16_V2") else s.b.cast_bits(value, Type.I16)


def _write(s: Step, low: Value, high: Value) -> None:
    """Write two I16 patterns to the destination."""
    s.set(s.operands[0], join_halves(s.b, low, high))


@lifts("HADD2", "HMUL2", "HFMA2", knows="MMA BF16_V2 SAT RELU FTZ")
def arithmetic(s: Step) -> None:
    """Compute both halves of two or three packed operands, each rounded once."""
    if _is_move(s):
        _move(s)
        return
    op = _ARITHMETIC[s.opcode]
    operands = list(pairs(s, s.operands[1:]))
    require(len(operands) == (3 if op is Op.FMA else 2))
    low, high = (_computed(s, op, [pair[k] for pair in operands]) for k in (0, 1))
    _write(s, low, high)


def _is_move(s: Step) -> bool:
    """Tell whether an instruction only writes a literal: -0 x 0 + literal."""
    operands = s.operands
    shape = s.opcode == "HFMA2" and len(operands) == 5 and isinstance(operands[3], Immediate)
    return shape and is_zero(operands[1]) and is_zero(operands[2]) and not s.has("SAT", "RELU", "FTZ")


def _move(s: Step) -> None:
    high, low = (half_bits(o, bfloat=s.has("BF16_V2")) for o in s.operands[3:] if isinstance(o, Immediate))
    s.set(s.operands[0], s.b.i32(high << 16 | low))


def _computed(s: Step, op: Op, values: list[Value]) -> Value:
    """Return the pattern of one half's result."""
    bfloat = s.has("BF16_V2")
    if s.has("FTZ"):
        require(not bfloat)
        values = [flush(s.b, v) for v in values]
    result = _bfloat_fma(s, values) if bfloat and op is Op.FMA else s.b.op(op, *values, data="rn")
    result = flush(s.b, result) if s.has("FTZ") else result
    result = saturate(s.b, result) if s.has("SAT") else result
    return _pattern(s, relu(s.b, result) if s.has("RELU") else result)


def _bfloat_fma(s: Step, values: list[Value]) -> Value:
    """Return a x b + c so that rounding it to bfloat16 rounds once.

    A product of two bfloat16 is exact in single precision; where nothing, or only one factor 1, stands
    beside it, a rounded sum has enough bits to be rounded again. Else the sum is rounded to odd.
    """
    if is_zero(s.operands[-1]):
        return s.b.op(Op.FMA, *values, data="rn")
    if isinstance(s.operands[2], Immediate) and abs(s.operands[2].value) == 1 == abs(_value(s.operands[3])):
        return s.b.op(Op.FMA, *values, data="rn")
    return fused_bf16(s.b, *values)


def _value(operand: Operand) -> float:
    """Return a literal's value, 0 for anything else."""
    return operand.value if isinstance(operand, Immediate) else 0


@lifts("HADD2.F32")
def to_single(s: Step) -> None:
    """Add two low halves in single precision: how halves become floats."""
    require(len(s.operands) == 3)
    (x, _), (y, _) = pairs(s, s.operands[1:])
    wide = [s.b.convert(Op.FPEXT, Type.F32, v) for v in (x, y)]
    s.set(s.operands[0], s.b.op(Op.FADD, *wide, data="rn"))


@lifts("FHADD", knows="BF16 F16")
def add_to_single(s: Step) -> None:
    """Add a half, the upper one of a register by ``H1``, to a single float."""
    require(len(s.operands) == 3 and isinstance(s.operands[1], Register))
    half = s.operands[1]
    assert isinstance(half, Register)
    require(not half.negated)
    upper = "H1" in half.modifiers
    word = s.value(replace(half, modifiers=()))
    bits = s.b.trunc(s.b.lshr(word, 16) if upper else word, Type.I16)
    if s.has("BF16"):
        wide = from_bf16(s.b, bits)
    else:
        wide = s.b.convert(Op.FPEXT, Type.F32, s.b.cast_bits(bits, Type.F16))
    single = s.value(s.operands[2], Type.F32)
    s.set(s.operands[0], s.b.op(Op.FADD, wide, single, data="rn"))


@lifts("HMNMX2", knows="BF16_V2 NAN FTZ")
def minimum(s: Step) -> None:
    """Take the minimum of each half where the last predicate holds, else the maximum."""
    operands = list(pairs(s, s.operands[1:-1]))
    require(len(operands) == 2 and not (s.has("FTZ") and s.has("BF16_V2")))
    chooser = s.predicate(s.operands[-1])
    halves = []
    for k in (0, 1):
        x, y = (flush(s.b, p[k]) if s.has("FTZ") else p[k] for p in operands)
        halves.append(_pattern(s, least(s.b, x, y, chooser, nan=s.has("NAN"))))
    _write(s, halves[0], halves[1])


def _compared(s: Step, operands: tuple[Operand, ...]) -> list[Value]:
    """Return the comparison of the low and of the high halves, combined with the last predicate."""
    values = list(pairs(s, operands))
    require(len(values) == 2)
    results = []
    for k in (0, 1):
        x, y = (flush(s.b, p[k]) if s.has("FTZ") else p[k] for p in values)
        results.append(combined(s, holds(s, x, y), s.operands[-1]))
    return results


@lifts("HSET2", knows=f"BF16_V2 BF FTZ {COMPARING}")
def set_halves(s: Step) -> None:
    """Write all ones, or 1.0 with ``.BF``, to each half where a comparison holds, else 0."""
    require(not (s.has("FTZ") and s.has("BF16_V2")))
    one = (0x3F80 if s.has("BF16_V2") else 0x3C00) if s.has("BF") else 0xFFFF
    yes, no = s.b.const(Type.I16, one), s.b.const(Type.I16, 0)
    low, high = (s.b.select(r, yes, no) for r in _compared(s, s.operands[1:-1]))
    _write(s, low, high)


@lifts("HSETP2", knows=f"BF16_V2 FTZ {COMPARING}")
def set_predicates(s: Step) -> None:
    """Set P from the low halves, Q from the high ones."""
    require(not (s.has("FTZ") and s.has("BF16_V2")))
    low, high = _compared(s, s.operands[2:-1])
    s.set(s.operands[0], low)
    s.set(s.operands[1], high)
