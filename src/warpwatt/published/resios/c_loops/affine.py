"""Which integer expressions are affine in the loop counters, once sizes have values."""

from __future__ import annotations

import operator as operators
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.integers import Affine
from warpwatt.published.resios.c_loops.nest import Binary, Call, Cast, Name, Number, Select, Unary

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Expression

_COMPARING = {
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
    "==": operators.eq,
    "!=": operators.ne,
}
_EXACT = _COMPARING | {
    "+": operators.add, "-": operators.sub, "*": operators.mul,
    "&": operators.and_, "|": operators.or_, "^": operators.xor,
}  # fmt: skip
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(slots=True)
class Environment:
    """What is known of integer variables at one place: their affine values."""

    known: dict[str, Affine | None] = field(default_factory=dict)

    def copy(self) -> Environment:
        """Return an environment that changes apart from this one."""
        return Environment(dict(self.known))

    def assign(self, name: str, value: Expression | None) -> None:
        """Note a new value; None for one that is not known."""
        self.known[name] = None if value is None or value.type.floating else self.affine(value)

    def forget(self, names: Iterable[str]) -> None:
        """Note that variables may hold anything."""
        self.known.update(dict.fromkeys(names))

    def affine(self, expression: Expression) -> Affine | None:  # noqa: PLR0911 - one per kind of node
        """Return an integer expression as an affine form, None if it is none or not known.

        Arithmetic is that of whole numbers: sizes are taken not to overflow.
        """
        if expression.type.floating:
            return None
        match expression:
            case Number(value=value):
                return Affine(int(value))
            case Name(name=name):
                return self.known.get(name)
            case Cast(operand=operand, type=kind):
                return self.affine(operand) if kind.size >= 4 else None
            case Unary(operator="-" | "+" as sign, operand=operand):
                form = self.affine(operand)
                return form if form is None or sign == "+" else form.scaled(-1)
            case Binary():
                return self._binary(expression)
            case Select(condition=condition, then=then, other=other):
                decided = self.affine(condition)
                if decided is None or decided.terms:
                    return None
                return self.affine(then if decided.constant else other)
            case Call(function="max" | "min", arguments=arguments):
                return self._extreme([self.affine(a) for a in arguments], expression.function == "max")
        return None

    def _extreme(self, forms: list[Affine | None], largest: bool) -> Affine | None:
        """Return the larger or smaller of two constants; of forms, the one that varies (kernels of ours)."""
        if None in forms:
            return None
        known = [form for form in forms if form is not None]
        varying = [form for form in known if form.terms]
        constants = [form.constant for form in known]
        return varying[0] if varying else Affine(max(constants) if largest else min(constants))

    def _binary(self, expression: Binary) -> Affine | None:  # noqa: PLR0911 - one per kind of operator
        left, right = self.affine(expression.left), self.affine(expression.right)
        if left is None or right is None:
            return None
        if expression.operator == "+":
            return left + right
        if expression.operator == "-":
            return left - right
        if expression.operator == "*" and not left.terms:
            return right.scaled(left.constant)
        if expression.operator == "*" and not right.terms:
            return left.scaled(right.constant)
        if left.terms or right.terms:
            return None
        number = number_of(expression.operator, left.constant, right.constant)
        return None if number is None else Affine(number)


def number_of(operator: str, left: int, right: int) -> int | None:
    """Return what C computes of two integers, None where it is undefined or not an integer's business.

    >>> number_of("/", -7, 2), number_of("%", -7, 2), number_of("/", 1, 0)
    (-3, -1, None)
    """
    if operator in _EXACT:
        return int(_EXACT[operator](left, right))
    if operator in ("/", "%"):
        if right == 0:
            return None
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - quotient * right
    if operator in ("<<", ">>") and 0 <= right < 64:
        return left << right if operator == "<<" else left >> right
    return None


Comparison = tuple[str, Affine] | None
"""``form OPERATOR 0``; None where a condition is not affine."""


def comparisons(condition: Expression, known: Environment) -> list[Comparison]:
    """Return the parts of a conjunction."""
    if isinstance(condition, Binary) and condition.operator == "&&":
        return comparisons(condition.left, known) + comparisons(condition.right, known)
    if isinstance(condition, Binary) and condition.operator in _NEGATED:
        left, right = known.affine(condition.left), known.affine(condition.right)
        if left is not None and right is not None:
            return [(condition.operator, left - right)]
    return [None]


def both_ways(found: list[Comparison]) -> tuple[list[Affine | None], list[Affine | None]]:
    """Return what is not negative where all comparisons hold, and where they do not.

    >>> both_ways([("<", Affine(-3, {"i": 1}))])
    ([Affine(constant=2, terms={'i': -1})], [Affine(constant=-3, terms={'i': 1})])
    """
    then: list[Affine | None] = [form for comparison in found for form in _not_negative(comparison)]
    only = found[0] if len(found) == 1 else None
    other: list[Affine | None] = [None] if only is None else _not_negative((_NEGATED[only[0]], only[1]))
    return then, other


def _not_negative(comparison: Comparison) -> list[Affine | None]:
    if comparison is None:
        return [None]
    operator, form = comparison
    one = Affine(-1)
    forms: dict[str, list[Affine | None]] = {
        "<": [form.scaled(-1) + one], "<=": [form.scaled(-1)], ">": [form + one], ">=": [form],
        "==": [form, form.scaled(-1)], "!=": [None],
    }  # fmt: skip
    return forms[operator]
