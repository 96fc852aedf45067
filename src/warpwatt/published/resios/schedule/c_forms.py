"""Affine forms as C: sums, comparisons, largest and least of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.affine_form import Affine
from warpwatt.published.resios.c_loops.nest import Binary, Call, Cast, Name, Number, Unary, integer
from warpwatt.published.resios.c_loops.types import INT, LONG

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Expression
    from warpwatt.published.resios.c_loops.types import CType


def combined(function: str, parts: list[Expression]) -> Expression:
    """Return max or min of expressions."""
    first, *rest = parts
    for other in rest:
        wide = LONG if LONG.size in (first.type.size, other.type.size) else INT
        both = tuple(p if p.type == wide or (isinstance(p, Number) and wide is INT) else Cast(p, wide, p.line)
                     for p in (first, other))  # fmt: skip
        first = Call(function, both, wide, first.line)
    return first


def conjunction(tests: list[Expression]) -> Expression:
    """Return whether all of some conditions hold."""
    first, *rest = tests
    for other in rest:
        first = Binary("&&", first, other, INT, first.line)
    return first


def comparison(form: Affine, types: Mapping[str, CType], line: int) -> Expression:
    """Return a constraint as C, positive terms to the left.

    >>> from warpwatt.published.resios.c_loops.printer import Printer
    >>> Printer({}).expression(comparison(Affine(-1, {"i": 1, "k": -1}), {}, 0))
    'i >= k + 1'
    """
    left = Affine(max(form.constant, 0), {n: f for n, f in form.terms.items() if f > 0})
    right = Affine(max(-form.constant, 0), {n: -f for n, f in form.terms.items() if f < 0})
    return Binary(">=", written(left, types, line), written(right, types, line), INT, line)


def written(form: Affine, types: Mapping[str, CType], line: int = 0) -> Expression:
    """Return a form as C, variables first."""
    found: Expression | None = None
    for name, factor in sorted(form.terms.items(), key=lambda one: one[1] < 0):
        variable: Expression = Name(name, types.get(name, INT), line)
        if abs(factor) != 1:
            variable = Binary("*", integer(abs(factor), line), variable, variable.type, line)
        if found is None:
            found = variable if factor > 0 else Unary("-", variable, variable.type, line)
        else:
            kind = max(found.type, variable.type, key=lambda t: t.rank)
            found = Binary("+" if factor > 0 else "-", found, variable, kind, line)
    if found is None:
        return (
            integer(form.constant, line)
            if form.constant >= 0
            else Unary("-", integer(-form.constant), INT, line)
        )
    if form.constant:
        sign = "+" if form.constant > 0 else "-"
        found = Binary(sign, found, integer(abs(form.constant), line), found.type, line)
    return found
