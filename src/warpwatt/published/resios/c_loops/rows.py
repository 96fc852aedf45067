"""Subscripts with products of sizes, ``a[i * m + j]``, as rows and columns whose lengths are sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.affine_form import Affine
from warpwatt.published.resios.c_loops.nest import Binary, Cast

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.affine import Environment
    from warpwatt.published.resios.c_loops.nest import Expression

Product = tuple[str, ...]
"""Names of sizes that are multiplied, in order of the alphabet."""
Polynomial = dict[Product, Affine]
"""Forms by the product of sizes that each is multiplied with."""


def polynomial(expression: Expression, known: Environment) -> Polynomial | None:
    """Return an integer expression as forms times products of sizes, None if it is none."""
    form = known.affine(expression)
    if form is not None:
        return {(): form}
    match expression:
        case Cast(operand=operand, type=kind) if kind.size >= 4 and not kind.floating:
            return polynomial(operand, known)
        case Binary(operator="+" | "-" | "*" as sign, left=left, right=right):
            one, two = polynomial(left, known), polynomial(right, known)
            if one is None or two is None:
                return None
            return _times(one, two) if sign == "*" else _sum(one, two, 1 if sign == "+" else -1)
    return None


def _sum(one: Polynomial, other: Polynomial, sign: int) -> Polynomial:
    zero = Affine(0)
    return {p: one.get(p, zero) + other.get(p, zero).scaled(sign) for p in {**one, **other}}


def _times(one: Polynomial, other: Polynomial) -> Polynomial | None:
    left, right = _pure(one), _pure(other)
    if left is not None and right is not None:
        return {tuple(sorted(left + right)): Affine(1)}
    if right is None:
        one, right = other, left
    return None if right is None else {tuple(sorted(p + right)): form for p, form in one.items()}


def _pure(one: Polynomial) -> Product | None:
    """Return a product of sizes that is all of a polynomial."""
    if len(one) != 1:
        return None
    ((product, form),) = one.items()
    if form == Affine(1):
        return product
    names = [name for name in form.terms if "@" not in name]
    return (*product, *names) if names and form == Affine(0, {names[0]: 1}) else None


def strides(every: Iterable[Polynomial]) -> tuple[str, ...]:
    """Return the lengths of rows, the outermost first, of which subscripts are made; () if there are none.

    >>> strides([{("c", "t"): Affine(1), ("c",): Affine(2), (): Affine(0)}, {(): Affine(3)}])
    ('t', 'c')
    >>> strides([{("c",): Affine(1)}, {("t",): Affine(2)}])
    ()
    """
    products = sorted({p for one in every for p in one if p}, key=len)
    names: list[str] = []
    for product in products:
        rest = list(product)
        for name in names:
            if name not in rest:
                return ()
            rest.remove(name)
        if len(rest) != 1:
            return ()
        names += rest
    return tuple(reversed(names))


def subscripts(one: Polynomial, lengths: Sequence[str]) -> tuple[Affine, ...]:
    """Return a subscript as one of each dimension, the rows' lengths being sizes.

    >>> subscripts({("n",): Affine(0, {"j@1": 1}), (): Affine(2, {"n": 1})}, ("n",))
    (Affine(constant=1, terms={'j@1': 1}), Affine(constant=2, terms={}))
    """
    found: list[Affine] = []
    product: Product = ()
    carried = Affine(0)
    for length in (*reversed(lengths), ""):
        form = one.get(product, Affine(0)) + carried
        carried = Affine(form.terms.get(length, 0))
        found.append(form.replaced(length, Affine(0)))
        product = tuple(sorted((*product, length)))
    return tuple(reversed(found))
