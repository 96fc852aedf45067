"""Steps of arithmetic, conversions and constants: lane by lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.native.floats import rounding_mode
from warpwatt.emulate.native.step_values import NoStepError
from warpwatt.emulate.native.values import literal_bits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warpwatt.emulate.ir import Operation
    from warpwatt.emulate.native.step_values import StepValues


def constant(steps: StepValues, operation: Operation) -> None:
    """CONST."""
    (result,), data = operation.results, operation.data
    assert isinstance(data, (int, float))
    if isinstance(data, int):
        steps.literals[result.index] = data
    bits = literal_bits(result.type, data)
    steps.bind(result, steps.constants.value(result.type.bits, bits), scalar=True)


def plain(steps: StepValues, operation: Operation) -> None:
    """Write what is done by the operation's name and the type of its arguments."""
    steps.let(operation, f"{operation.op} {operation.args[0].type}", _mode(operation))


def resize(steps: StepValues, operation: Operation) -> None:
    """ZEXT SEXT TRUNC."""
    (value,), (result,) = operation.args, operation.results
    if value.type is Type.I1:
        steps.let(operation, f"spread {result.type.bits}", 1 if operation.op is Op.ZEXT else -1)
    elif result.type is Type.I1:
        steps.let(operation, f"lowest bits {value.type.bits}")
    else:
        sign = "signed " if operation.op is Op.SEXT else ""
        steps.let(operation, f"resize {sign}{value.type} {result.type}")


def cast_bits(steps: StepValues, operation: Operation) -> None:
    """BITCAST: the same bytes."""
    (value,), (result,) = operation.args, operation.results
    steps.bind(result, steps.at(value), scalar=steps.are_scalar(value))


def select(steps: StepValues, operation: Operation) -> None:
    """SELECT."""
    steps.let(operation, f"select {operation.results[0].type.bits}")


def convert(steps: StepValues, operation: Operation) -> None:
    """FPTOSI FPTOUI FPEXT FPTRUNC."""
    (value,), (result,) = operation.args, operation.results
    steps.let(operation, f"{operation.op} {value.type} {result.type}", _mode(operation))


def from_integer(steps: StepValues, operation: Operation) -> None:
    """SITOFP UITOFP: in 64 bits with a sign, which every rounding mode converts right."""
    (value,), (result,) = operation.args, operation.results
    mode = _mode(operation)
    at, signed = steps.at(value), operation.op is Op.SITOFP
    if value.type is Type.I1:
        at = steps.make("spread 64", at, number=-1 if signed else 1)
    elif value.type is not Type.I64:
        at = steps.make(f"resize {'signed ' * signed}{value.type} i64", at)
    elif not signed and mode:
        raise NoStepError(operation.op)
    how = "uitofp" if value.type is Type.I64 and not signed else "sitofp"
    made = steps.make(f"{how} i64 {result.type}", at, number=mode)
    steps.bind(result, made, scalar=steps.are_scalar(value))


def function(steps: StepValues, operation: Operation) -> None:
    """MATH."""
    steps.let(operation, f"{operation.data} {operation.results[0].type}")


def _mode(operation: Operation) -> int:
    """Return the rounding mode as C has it; 0: to nearest."""
    return 0 if operation.data is None else rounding_mode(operation.data)


_PLAIN = (
    Op.ADD, Op.SUB, Op.MUL, Op.AND, Op.OR, Op.XOR, Op.SHL, Op.LSHR, Op.ASHR, Op.UDIV, Op.SDIV, Op.UREM,
    Op.SREM, Op.UMIN, Op.UMAX, Op.SMIN, Op.SMAX, Op.POPC, Op.CLZ, Op.BREV, Op.EQ, Op.NE, Op.SLT, Op.SLE,
    Op.ULT, Op.ULE, Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV, Op.FMA, Op.FSQRT, Op.FNEG, Op.FABS, Op.FMIN, Op.FMAX,
    Op.FFLOOR, Op.FCEIL, Op.FTRUNC, Op.FRINT, Op.FEQ, Op.FLT, Op.FLE, Op.FUNO,
)  # fmt: skip
ARITHMETIC: Mapping[Op, Callable[[StepValues, Operation], None]] = {
    Op.CONST: constant,
    **dict.fromkeys(_PLAIN, plain),
    **dict.fromkeys((Op.ZEXT, Op.SEXT, Op.TRUNC), resize),
    Op.BITCAST: cast_bits,
    Op.SELECT: select,
    **dict.fromkeys((Op.FPTOSI, Op.FPTOUI, Op.FPEXT, Op.FPTRUNC), convert),
    **dict.fromkeys((Op.SITOFP, Op.UITOFP), from_integer),
    Op.MATH: function,
}
"""What writes each operation of one lane."""
