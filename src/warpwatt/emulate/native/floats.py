"""LLVM text of floating-point arithmetic: rounding modes, half precision, minimum, functions.

Rounding other than to nearest goes through the processor's own mode: arguments are written to memory, the
mode is set, they are read back, and likewise the result, so that no step can move across the mode's change.

f16 is computed in f32, which rounds right because 24 >= 2·11 + 2 bits (Figueroa, "When is double rounding
innocuous?", SIGNUM 1995); a fused multiply-add in f64, rounded to odd on the way (Boldo and Melquiond,
"Emulation of a FMA and correctly rounded sums", IEEE Trans. Computers 2008).
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.native.records import MACHINE, offset_of
from warpwatt.emulate.native.values import suffix

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Operation
    from warpwatt.emulate.native.values import Text

_ARM = platform.machine().lower() in ("arm64", "aarch64")
_MODES = {"rz": 0xC00000, "rm": 0x800000, "rp": 0x400000} if _ARM else {"rz": 0xC00, "rm": 0x400, "rp": 0x800}
"""The C library's ``FE_TOWARDZERO``, ``FE_DOWNWARD``, ``FE_UPWARD``."""
_BINARY = {Op.FADD: "fadd", Op.FSUB: "fsub", Op.FMUL: "fmul", Op.FDIV: "fdiv"}
_WHOLE = {Op.FFLOOR: "floor", Op.FCEIL: "ceil", Op.FTRUNC: "trunc", Op.FRINT: "nearbyint"}
_ORDERED = {Op.FEQ: "oeq", Op.FLT: "olt", Op.FLE: "ole", Op.FUNO: "uno"}
_LIBRARY = {"ex2": "exp2", "lg2": "log2", "sin": "sin", "cos": "cos", "tanh": "tanh"}


def rounding_mode(mode: object) -> int:
    """Return the C library's number of a rounding mode; 0, to nearest, for None."""
    return 0 if mode in (None, "rn") else _MODES[str(mode)]


class _Form:
    """Types of one operation: scalar or all lanes."""

    def __init__(self, text: Text, *, scalar: bool) -> None:
        self.text, self.is_scalar = text, scalar

    def of(self, short: str) -> str:
        """Return ``float``, ``i32``, ... for a scalar or for the lanes."""
        return short if self.is_scalar else f"<32 x {short}>"

    def cast(self, how: str, name: str, start: str, end: str) -> str:
        """Convert."""
        return self.text.let(f"{how} {self.of(start)} {name} to {self.of(end)}")

    def call(self, intrinsic: str, short: str, *names: str) -> str:
        """Call an intrinsic on values of one type."""
        kind = self.of(short)
        arguments = ", ".join(f"{kind} {name}" for name in names)
        return self.text.let(f"call {kind} @llvm.{intrinsic}.{suffix(kind)}({arguments})")

    def constant(self, kind: str, value: str) -> str:
        """Return a constant of all lanes."""
        return value if self.is_scalar else f"splat ({kind} {value})"

    def widen(self, type_: Type, name: str, to: str) -> str:
        """Return a value as ``float`` or ``double``, exactly."""
        if type_ is Type.F16:
            name = self.cast("fpext", self.cast("bitcast", name, "i16", "half"), "half", "float")
            type_ = Type.F32
        if type_ is Type.F32 and to == "double":
            name = self.cast("fpext", name, "float", "double")
        return name

    def narrow(self, name: str, start: str, type_: Type, *, nearest: bool) -> str:
        """Return a ``float`` or ``double`` rounded once to a type, by the processor's mode."""
        if type_ is Type.F64 or (type_ is Type.F32 and start == "float"):
            return name
        if type_ is Type.F32:
            return self.cast("fptrunc", name, "double", "float")
        if start == "double":
            name = self.to_odd(name) if nearest else self.cast("fptrunc", name, "double", "float")
        return self.cast("bitcast", self.cast("fptrunc", name, "float", "half"), "half", "i16")

    def to_odd(self, name: str) -> str:
        """Return a double as float, of the two neighbours the one with an odd last bit unless exact."""
        text, wide, ints, truth = self.text, self.of("double"), self.of("i32"), self.of("i1")
        near = self.cast("fptrunc", name, "double", "float")
        back = self.cast("fpext", near, "float", "double")
        bits = self.cast("bitcast", near, "float", "i32")
        inexact = text.let(f"fcmp one {wide} {back}, {name}")
        low = text.let(f"and {ints} {bits}, {self.constant('i32', '1')}")
        even = text.let(f"icmp eq {ints} {low}, {self.constant('i32', '0')}")
        size, near_size = self.call("fabs", "double", name), self.call("fabs", "double", back)
        above = text.let(f"fcmp ogt {wide} {size}, {near_size}")
        step = text.let(
            f"select {truth} {above}, {ints} {self.constant('i32', '1')}, {ints} {self.constant('i32', '-1')}"
        )
        moved = text.let(f"add {ints} {bits}, {step}")
        wrong = text.let(f"and {truth} {inexact}, {even}")
        return self.cast(
            "bitcast", text.let(f"select {truth} {wrong}, {ints} {moved}, {ints} {bits}"), "i32", "float"
        )


def _working(type_: Type) -> str:
    """Return the LLVM type a float type is computed in."""
    return "double" if type_ is Type.F64 else "float"


def rounded(
    text: Text, mode: object, kinds: Sequence[str], names: Sequence[str], result: str,
    compute: Callable[[Sequence[str]], str],
) -> str:  # fmt: skip
    """Return what ``compute`` makes of values while the processor rounds as ``mode`` says."""
    if mode in (None, "rn"):
        return compute(names)
    area = text.at("%m", offset_of(MACHINE, "values"))
    for number, (kind, name) in enumerate(zip(kinds, names, strict=True)):
        text.store(kind, name, area, 256 * number, 64)
    text.do(f"call i32 @fesetround(i32 {rounding_mode(mode)})")
    again = [text.load(kind, area, 256 * number, 64) for number, kind in enumerate(kinds)]
    text.store(result, compute(again), area, 0, 64)
    text.do("call i32 @fesetround(i32 0)")
    return text.load(result, area, 0, 64)


def arithmetic(text: Text, operation: Operation) -> None:
    """FADD FSUB FMUL FDIV FMA FSQRT."""
    (result,) = operation.results
    scalar = text.is_scalar(*operation.args)
    form, type_ = _Form(text, scalar=scalar), result.type
    fused = operation.op is Op.FMA
    work = "double" if fused and type_ is Type.F16 else _working(type_)

    def compute(names: Sequence[str]) -> str:
        wide = [form.widen(type_, name, work) for name in names]
        if operation.op in _BINARY:
            made = text.let(f"{_BINARY[operation.op]} {form.of(work)} {wide[0]}, {wide[1]}")
        else:
            made = form.call("fma" if fused else "sqrt", work, *wide)
        return form.narrow(made, work, type_, nearest=operation.data in (None, "rn"))

    kind = text.kind(type_, scalar=scalar)
    names = [text.operand(value, scalar=scalar) for value in operation.args]
    text.bind(result, rounded(text, operation.data, [kind] * len(names), names, kind, compute), scalar=scalar)


def sign(text: Text, operation: Operation) -> None:
    """FNEG FABS, on the bits."""
    (value,), (result,) = operation.args, operation.results
    scalar = text.is_scalar(value)
    form, name = _Form(text, scalar=scalar), text.operand(value, scalar=scalar)
    bits = value.type.bits
    short, top = f"i{bits}", 1 << (bits - 1)
    raw = name if value.type is Type.F16 else form.cast("bitcast", name, _working(value.type), short)
    how, mask = ("xor", top) if operation.op is Op.FNEG else ("and", top - 1)
    made = text.let(f"{how} {form.of(short)} {raw}, {form.constant(short, str(mask))}")
    if value.type is not Type.F16:
        made = form.cast("bitcast", made, short, _working(value.type))
    text.bind(result, made, scalar=scalar)


def extreme(text: Text, operation: Operation) -> None:
    """FMIN FMAX: the number where the other is NaN; -0 below +0."""
    a, b = operation.args
    (result,) = operation.results
    scalar = text.is_scalar(a, b)
    names = [text.operand(value, scalar=scalar) for value in (a, b)]
    text.bind(result, extreme_of(text, operation.op, result.type, *names, scalar=scalar), scalar=scalar)


def extreme_of(text: Text, op: Op, type_: Type, a: str, b: str, *, scalar: bool) -> str:
    """Return the smaller or the larger of two floats."""
    form, work = _Form(text, scalar=scalar), _working(type_)
    kind, short = text.kind(type_, scalar=scalar), f"i{type_.bits}"
    x, y = form.widen(type_, a, work), form.widen(type_, b, work)
    wide, truth = form.of(work), form.of("i1")
    first = text.let(f"fcmp {'olt' if op is Op.FMIN else 'ogt'} {wide} {x}, {y}")
    absent = text.let(f"fcmp uno {wide} {y}, {y}")
    choose = text.let(f"or {truth} {first}, {absent}")
    chosen = text.let(f"select {truth} {choose}, {kind} {a}, {kind} {b}")
    same = text.let(f"fcmp oeq {wide} {x}, {y}")
    bits = [n if type_ is Type.F16 else form.cast("bitcast", n, work, short) for n in (a, b)]
    both = text.let(f"{'or' if op is Op.FMIN else 'and'} {form.of(short)} {bits[0]}, {bits[1]}")
    if type_ is not Type.F16:
        both = form.cast("bitcast", both, short, work)
    return text.let(f"select {truth} {same}, {kind} {both}, {kind} {chosen}")


def whole(text: Text, operation: Operation) -> None:
    """FFLOOR FCEIL FTRUNC FRINT."""
    (value,), (result,) = operation.args, operation.results
    scalar = text.is_scalar(value)
    form, work = _Form(text, scalar=scalar), _working(value.type)
    name = form.widen(value.type, text.operand(value, scalar=scalar), work)
    made = form.call(_WHOLE[operation.op], work, name)
    text.bind(result, form.narrow(made, work, value.type, nearest=True), scalar=scalar)


def compare(text: Text, operation: Operation) -> None:
    """FEQ FLT FLE FUNO."""
    scalar = text.is_scalar(*operation.args)
    type_ = operation.args[0].type
    form, work = _Form(text, scalar=scalar), _working(type_)
    x, y = (form.widen(type_, text.operand(v, scalar=scalar), work) for v in operation.args)
    made = text.let(f"fcmp {_ORDERED[operation.op]} {form.of(work)} {x}, {y}")
    text.bind(operation.results[0], made, scalar=scalar)


def resize(text: Text, operation: Operation) -> None:
    """FPEXT FPTRUNC."""
    (value,), (result,) = operation.args, operation.results
    scalar = text.is_scalar(value)
    form, name = _Form(text, scalar=scalar), text.operand(value, scalar=scalar)
    if operation.op is Op.FPEXT:
        text.bind(result, form.widen(value.type, name, _working(result.type)), scalar=scalar)
        return
    nearest = operation.data in (None, "rn")

    def compute(names: Sequence[str]) -> str:
        return form.narrow(names[0], _working(value.type), result.type, nearest=nearest)

    start, end = text.kind(value.type, scalar=scalar), text.kind(result.type, scalar=scalar)
    text.bind(result, rounded(text, operation.data, [start], [name], end, compute), scalar=scalar)


def from_integer(text: Text, operation: Operation) -> None:
    """SITOFP UITOFP."""
    (value,), (result,) = operation.args, operation.results
    scalar = text.is_scalar(value)
    form, name = _Form(text, scalar=scalar), text.operand(value, scalar=scalar)
    start = f"i{value.type.bits}"
    how = operation.op.value
    if value.type.bits < 64:  # exact in 64 bits with a sign, which every rounding mode converts right
        name = form.cast("sext" if how == "sitofp" else "zext", name, start, "i64")
        start, how = "i64", "sitofp"
    work = "double" if result.type is Type.F16 else _working(result.type)
    nearest = operation.data in (None, "rn")

    def compute(names: Sequence[str]) -> str:
        made = form.cast(how, names[0], start, work)
        return form.narrow(made, work, result.type, nearest=nearest)

    end = text.kind(result.type, scalar=scalar)
    text.bind(result, rounded(text, operation.data, [form.of(start)], [name], end, compute), scalar=scalar)


def to_integer(text: Text, operation: Operation) -> None:
    """FPTOSI FPTOUI: towards zero, saturating; NaN gives 0."""
    (value,), (result,) = operation.args, operation.results
    scalar = text.is_scalar(value)
    form, work = _Form(text, scalar=scalar), _working(value.type)
    name = form.widen(value.type, text.operand(value, scalar=scalar), work)
    start, end = form.of(work), text.kind(result.type, scalar=scalar)
    intrinsic = f"@llvm.{operation.op.value}.sat.{suffix(end)}.{suffix(start)}"
    text.bind(result, text.let(f"call {end} {intrinsic}({start} {name})"), scalar=scalar)


def function(text: Text, operation: Operation) -> None:
    """MATH: in double precision, rounded to the type."""
    (value,), (result,) = operation.args, operation.results
    scalar = text.is_scalar(value)
    form = _Form(text, scalar=scalar)
    x = form.widen(value.type, text.operand(value, scalar=scalar), "double")
    name, wide = str(operation.data), form.of("double")
    if name in ("sqrt", "rsqrt"):
        x = form.call("sqrt", "double", x)
    if name in ("rcp", "rsqrt"):
        one = form.constant("double", "1.0")
        x = text.let(f"fdiv {wide} {one}, {x}")
    if name in _LIBRARY:
        x = _library(text, _LIBRARY[name], x, scalar=scalar)
    text.bind(result, form.narrow(x, "double", value.type, nearest=True), scalar=scalar)


def _library(text: Text, name: str, x: str, *, scalar: bool) -> str:
    """Return a function of the C library, of each lane."""
    if scalar:
        return text.let(f"call double @{name}(double {x})")
    area = text.at("%m", offset_of(MACHINE, "values"))
    text.store("<32 x double>", x, area, 0, 64)
    text.do(f"call void @each(ptr @{name}, ptr {area})")
    return text.load("<32 x double>", area, 0, 64)


EACH = """
define internal void @each(ptr %f, ptr %p) {
  br label %next
next:
  %i = phi i64 [0, %0], [%j, %next]
  %q = getelementptr double, ptr %p, i64 %i
  %x = load double, ptr %q
  %y = call double %f(double %x)
  store double %y, ptr %q
  %j = add i64 %i, 1
  %end = icmp eq i64 %j, 32
  br i1 %end, label %done, label %next
done:
  ret void
}
"""
"""Applies a function to 32 doubles in place."""

FLOATS: dict[Op, Callable[[Text, Operation], None]] = {
    **dict.fromkeys([*_BINARY, Op.FMA, Op.FSQRT], arithmetic),
    **dict.fromkeys([Op.FNEG, Op.FABS], sign),
    **dict.fromkeys([Op.FMIN, Op.FMAX], extreme),
    **dict.fromkeys(_WHOLE, whole),
    **dict.fromkeys(_ORDERED, compare),
    **dict.fromkeys([Op.FPEXT, Op.FPTRUNC], resize),
    **dict.fromkeys([Op.SITOFP, Op.UITOFP], from_integer),
    **dict.fromkeys([Op.FPTOSI, Op.FPTOUI], to_integer),
    Op.MATH: function,
}
"""What writes each floating-point operation."""
