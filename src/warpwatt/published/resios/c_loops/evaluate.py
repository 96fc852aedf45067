"""What the host computes before the first kernel: scalars outside all loops, as C computes them."""

from __future__ import annotations

import math
import operator as operators
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.published.resios.c_loops.affine import number_of
from warpwatt.published.resios.c_loops.nest import (
    Assign,
    Binary,
    Call,
    Cast,
    Declare,
    Name,
    Number,
    Select,
    Unary,
)  # fmt: skip
from warpwatt.published.resios.c_loops.types import FLOAT

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Expression, Function
    from warpwatt.published.resios.c_loops.types import CType

Value = int | float
_REAL: Mapping[str, Callable[[float, float], float]] = {
    "+": operators.add, "-": operators.sub, "*": operators.mul, "/": lambda a, b: a / b if b else math.nan,
    "<": operators.lt, ">": operators.gt, "<=": operators.le, ">=": operators.ge,
    "==": operators.eq, "!=": operators.ne, "&&": lambda a, b: int(bool(a and b)),
    "||": lambda a, b: int(bool(a or b)),
}  # fmt: skip


def host_values(
    function: Function, names: tuple[str, ...], values: Mapping[str, Value]
) -> tuple[dict[str, Value], dict[str, CType]]:
    """Return values and types of the scalars that the host computes, statement by statement."""
    given = {s.name: s.type for s in function.scalars}
    known: dict[str, Value] = {n: converted(v, given[n]) if n in given else v for n, v in values.items()}
    types = {s.name: s.type for s in function.body if isinstance(s, Declare)}
    types |= given
    for statement in function.body:
        if isinstance(statement, Declare) and statement.value is not None and statement.name in names:
            known[statement.name] = converted(evaluated(statement.value, known), types[statement.name])
        elif isinstance(statement, Assign) and isinstance(statement.target, Name):
            name = statement.target.name
            if name in names:
                value = statement.value
                if statement.operator:
                    wide = max(types[name], value.type, key=lambda t: t.rank)
                    value = Binary(statement.operator, statement.target, value, wide, statement.line)
                known[name] = converted(evaluated(value, known), types[name])
    return {n: known[n] for n in names}, {n: types[n] for n in names}


def evaluated(expression: Expression, known: Mapping[str, Value]) -> Value:  # noqa: PLR0911 - one per kind of node
    """Return what C computes of known scalars.

    Raises
    ------
    KeyError
        If a scalar is not known.
    """
    match expression:
        case Number(value=value, type=kind):
            return converted(value, kind)
        case Name(name=name):
            return known[name]
        case Cast(operand=operand, type=kind):
            return converted(evaluated(operand, known), kind)
        case Unary(operator=sign, operand=operand, type=kind):
            value = evaluated(operand, known)
            changed = {"-": -value, "+": value, "!": int(not value), "~": ~int(value)}[sign]
            return converted(changed, kind)
        case Select(condition=condition, then=then, other=other):
            return evaluated(then if evaluated(condition, known) else other, known)
        case Call(function=function, arguments=arguments, type=kind):
            found = [float(evaluated(a, known)) for a in arguments]
            return converted(_called(function, kind)(*found), kind)
        case Binary(operator=sign, left=left, right=right, type=kind):
            one, two = evaluated(left, known), evaluated(right, known)
            if isinstance(one, int) and isinstance(two, int):
                form = number_of(sign, one, two)
                return converted(form if form is not None else _REAL[sign](one, two), kind)
            return converted(_REAL[sign](one, two), kind)
    raise KeyError(type(expression).__name__)


def converted(value: Value, kind: CType) -> Value:
    """Return a value as a type holds it."""
    if kind == FLOAT:
        return float(np.float32(value))
    return float(value) if kind.floating else int(value)


def _called(function: str, kind: CType) -> Callable[..., float]:
    name = function.removesuffix("f") if kind == FLOAT else function
    known: dict[str, Callable[..., float]] = {
        "fabs": math.fabs, "fmin": min, "fmax": max, "abs": abs, "labs": abs, "cbrt": math.cbrt,
        "rint": round, "round": lambda x: math.floor(x + 0.5),
    }  # fmt: skip
    found: Callable[..., float] = known.get(name) or getattr(math, name)
    return found
