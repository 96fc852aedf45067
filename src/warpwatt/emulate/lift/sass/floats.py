"""Semantics of single- and double-precision arithmetic and comparisons."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.core.program import Immediate, Operand
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift.floats import flush, least, saturate
from warpwatt.emulate.lift.sass.operands import is_zero, next_register, register_of, require
from warpwatt.emulate.lift.sass.table import lifts

if TYPE_CHECKING:
    from warpwatt.emulate.builder import Builder
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.sass.operands import Step

ROUNDINGS = {"RN": "rn", "RM": "rm", "RP": "rp", "RZ": "rz"}
"""``M`` is towards minus infinity, ``P`` towards plus."""
_ARITHMETIC = {"ADD": Op.FADD, "MUL": Op.FMUL, "FMA": Op.FMA}
_ORDERED = ("LT", "EQ", "LE", "GT", "NE", "GE")
_CONDITIONS = (
    {c: "f" + c.lower() for c in _ORDERED}
    | {c + "U": "f" + c.lower() + "u" for c in _ORDERED}
    | {"NUM": "fnum", "NAN": "fnan", "F": "never", "T": "always"}
)
_COMBINES = {"AND": Op.AND, "OR": Op.OR, "XOR": Op.XOR}
COMPARING = " ".join([*_CONDITIONS, *_COMBINES])
"""Modifiers of a comparison."""
_ROUNDING = " ".join(ROUNDINGS)
_SCALES = {"D2": 0.5, "D4": 0.25, "D8": 0.125, "M2": 2.0, "M4": 4.0, "M8": 8.0}
"""What products are multiplied with besides: ptxas folds such a constant into FMUL."""
_PACKINGS = {"F32x2.HI_LO": (0, 1), "F32x2.LO_HI": (1, 0), "F32": (0, 0)}
"""Suffix of a packed operand -> register of the low and of the high float."""


def rounding(s: Step) -> str:
    """Return the rounding that the modifiers name, ``rn`` where they name none."""
    return ROUNDINGS[s.one_of(ROUNDINGS, "RN")]


def width_of(s: Step) -> Type:
    """Return the type an instruction computes in, by its opcode: DADD in F64."""
    return Type.F64 if s.opcode.startswith("D") else Type.F32


def sources(s: Step, *operands: Operand) -> list[Value]:
    """Return the values of some operands, flushed if FTZ."""
    values = [s.value(o, width_of(s)) for o in operands]
    return [flush(s.b, v) for v in values] if s.has("FTZ") else values


def finished(s: Step, value: Value) -> Value:
    """Return a result as FTZ and SAT leave it."""
    value = flush(s.b, value) if s.has("FTZ") else value
    return saturate(s.b, value) if s.has("SAT") else value


@lifts("FADD", "FFMA", "UFADD", "UFFMA", knows=f"FTZ SAT {_ROUNDING}")
@lifts("FMUL", "UFMUL", knows=f"FTZ SAT {_ROUNDING} {' '.join(_SCALES)}")
@lifts("DADD", "DMUL", "DFMA", knows=_ROUNDING)
def arithmetic(s: Step) -> None:
    """Compute one result of two or three operands, rounded once."""
    op = _ARITHMETIC[s.opcode.removeprefix("U")[1:]]
    require(len(s.operands) == (4 if op is Op.FMA else 3))
    first, *others = sources(s, *s.operands[1:])
    if scale := _SCALES.get(s.one_of(_SCALES, "none")):
        first = s.b.op(Op.FMUL, first, s.b.const(Type.F32, scale), data="rn")
    s.set(s.operands[0], finished(s, s.b.op(op, first, *others, data=rounding(s))))


@lifts("FADD2", "FMUL2", "FFMA2", knows=f"FTZ {_ROUNDING}")
def packed(s: Step) -> None:
    """Compute with the two floats of register pairs."""
    op = _ARITHMETIC[s.opcode[1:-1]]
    require(len(s.operands) == (4 if op is Op.FMA else 3))
    halves = []
    for part in (0, 1):
        values = [_of_pair(s, o, part) for o in s.operands[1:]]
        values = [flush(s.b, v) for v in values] if s.has("FTZ") else values
        result = finished(s, s.b.op(op, *values, data=rounding(s)))
        halves.append(s.b.cast_bits(result, Type.I32))
    s.set(s.operands[0], s.b.pair(*halves))


def _of_pair(s: Step, operand: Operand, part: int) -> Value:
    """Return one float of a packed operand, part 0 low.

    ``F32x2.HI_LO`` is a register pair, ``F32x2.LO_HI`` one in the other order, ``F32`` or a literal one
    float for both; ``NP`` changes the sign of the high one, ``PN`` of the low one.
    """
    if isinstance(operand, Immediate):
        return s.value(operand, Type.F32)
    operand = register_of(operand)
    suffixes = [m for m in operand.modifiers if m != "reuse"]
    signs = suffixes.pop() if suffixes[-1:] in (["NP"], ["PN"], ["NN"]) else "PP"
    order = ".".join(suffixes)
    require(order in _PACKINGS or is_zero(operand), f"packed operand {order}")
    name = next_register(operand.name) if _PACKINGS.get(order, (0, 0))[part] else operand.name
    value = s.value(replace(operand, name=name, modifiers=()), Type.F32)
    return s.b.op(Op.FNEG, value) if signs[1 - part] == "N" else value


def holds(s: Step, x: Value, y: Value) -> Value:
    """Return the I1 result of the comparison that the modifiers name."""
    condition = _CONDITIONS[s.one_of(_CONDITIONS)]
    if condition in ("never", "always"):
        return s.b.const(Type.I1, condition == "always")
    return s.b.compare(condition, x, y)


def combined(s: Step, result: Value, operand: Operand) -> Value:
    """Return a comparison's result combined with a predicate."""
    return s.b.op(_COMBINES[s.one_of(_COMBINES, "AND")], result, s.predicate(operand))


@lifts("FSETP", "UFSETP", knows=f"FTZ {COMPARING}")
@lifts("DSETP", knows=COMPARING)
def set_predicates(s: Step) -> None:
    """Set P to (x cmp y) combined with p, Q to !(x cmp y) combined with p."""
    first, second, x, y, predicate = s.operands
    result = holds(s, *sources(s, x, y))
    both = [combined(s, value, predicate) for value in (result, s.b.not_(result))]
    s.set(first, both[0])
    s.set(second, both[1])


@lifts("DSETP.MIN", "DSETP.MAX", knows="AND")
def choose_double(s: Step) -> None:
    """Set P where the first operand is the minimum (maximum, a number beside NaN), Q if both are NaN."""
    require(len(s.operands) == 5)
    x, y = s.value(s.operands[2], Type.F64), s.value(s.operands[3], Type.F64)
    best = s.b.op(Op.FMIN if s.has("MIN") else Op.FMAX, x, y)
    x_nan, y_nan = s.b.compare("fnan", x, x), s.b.compare("fnan", y, y)
    same = s.b.compare("eq", s.b.cast_bits(best, Type.I64), s.b.cast_bits(x, Type.I64))
    first = s.b.and_(s.b.or_(same, y_nan), s.b.or_(y_nan, s.b.not_(x_nan)))
    s.set(s.operands[0], combined(s, first, s.operands[4]))
    s.set(s.operands[1], combined(s, s.b.and_(x_nan, y_nan), s.operands[4]))


@lifts("FSET", "UFSET", knows=f"FTZ BF {COMPARING}")
def set_register(s: Step) -> None:
    """Write -1, or 1.0 with ``.BF``, where a comparison holds, else 0."""
    dest, x, y, predicate = s.operands
    result = combined(s, holds(s, *sources(s, x, y)), predicate)
    s.set(dest, s.b.select(result, s.b.i32(0x3F800000 if s.has("BF") else -1), s.b.i32(0)))


@lifts("FSEL", "UFSEL", knows="FTZ")
def select(s: Step) -> None:
    """Take the first operand where the predicate holds, else the second."""
    require(len(s.operands) == 4)
    values = [s.value(o, Type.F32) for o in s.operands[1:3]]
    chosen = s.b.select(s.predicate(s.operands[3]), *values)
    s.set(s.operands[0], flush(s.b, chosen) if s.has("FTZ") else chosen)


@lifts("FMNMX", "FMNMX3", "UFMNMX", knows="FTZ NAN")
@lifts("DMNMX", knows="NAN")
def minimum(s: Step) -> None:
    """Take the minimum where the last predicate holds, else the maximum."""
    form = s.form()
    require(not form.before and not form.outs and len(form.ins) == 1)
    require(len(form.sources) == (3 if s.opcode.endswith("3") else 2))
    result, *others = sources(s, *form.sources)
    chooser = s.predicate(form.ins[0])
    for value in others:
        result = least(s.b, result, value, chooser, nan=s.has("NAN"))
    s.set(form.dest, result)


@lifts("FCHK", knows="DIVIDE")
def division_check(s: Step) -> None:
    """Tell whether x / y needs the slow path, for the fast one would over- or underflow on the way.

    The exact condition is not published; this one holds wherever a step of the fast path (reciprocal,
    quotient, remainder) could leave the normal range: y or the quotient close to the ends of the exponent
    range, or x so small that a remainder would be denormal.
    """
    require(len(s.operands) == 3)
    x, y = _exponent(s, s.operands[1]), _exponent(s, s.operands[2])
    slow = s.b.or_(_outside(s.b, x, 26, 254), _outside(s.b, y, 2, 252))
    s.set(s.operands[0], s.b.or_(slow, _outside(s.b, s.b.sub(x, y), -124, 125)))


def _exponent(s: Step, operand: Operand) -> Value:
    """Return the biased exponent of a float, I32."""
    bits = s.b.cast_bits(s.value(operand, Type.F32), Type.I32)
    return s.b.and_(s.b.lshr(bits, 23), s.b.i32(0xFF))


def _outside(b: Builder, value: Value, low: int, high: int) -> Value:
    """Return whether a signed I32 is below ``low`` or above ``high``."""
    below = b.compare("slt", value, b.i32(low))
    return b.or_(below, b.compare("sgt", value, b.i32(high)))
