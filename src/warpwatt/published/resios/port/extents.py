"""How many elements arrays have, as C over sizes that are known only when the emitted program runs."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.affine_form import Affine
from warpwatt.published.resios.c_loops.projection import bounds_of, projected, strongest, tightened
from warpwatt.published.resios.schedule.c_forms import combined, comparison, written
from warpwatt.published.resios.schedule.limits import united

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from warpwatt.published.resios.c_loops.bound import Access, BoundFunction
    from warpwatt.published.resios.c_loops.nest import Array, Expression
    from warpwatt.published.resios.c_loops.printer import Printer

MOST_ELEMENTS = (1 << 31) - 1
"""Elements that the kernels' indices can number."""


def counts(bound: BoundFunction, printer: Printer) -> dict[str, tuple[str, ...]] | None:
    """Return every array's extents as C, None where one of them is no form of the sizes."""
    found: dict[str, tuple[str, ...]] = {}
    for array in bound.function.arrays:
        sides = [_side(bound, array, number) for number in range(len(array.extents))]
        known = [side for side in sides if side is not None]
        if len(known) < len(sides) or prod(_now(bound, array)) != prod(bound.shapes[array.name]):
            return None
        found[array.name] = tuple(printer.expression(side, 13) for side in known)
    return found


def _now(bound: BoundFunction, array: Array) -> Iterator[int]:
    """Yield the extents at the sizes given."""
    for number in range(len(array.extents)):
        yield max(int(min(f.at(bound.values) for f in forms)) for forms in ends(bound, array, number) or ())


def _side(bound: BoundFunction, array: Array, dimension: int) -> Expression | None:
    types = {s.name: s.type for s in bound.function.scalars}
    found = ends(bound, array, dimension)
    if not found:
        return None
    return combined("max", [combined("min", [written(f, types) for f in forms]) for forms in found])


def ends(bound: BoundFunction, array: Array, dimension: int) -> tuple[tuple[Affine, ...], ...]:
    """Return an extent: the largest of alternatives that are each the least of some forms; () if unknown."""
    if array.extents[dimension] is not None:
        form = bound.extents[array.name][dimension]
        return () if form is None else ((form,),)
    highs = []
    for access in (a for a in bound.accesses if a.element.array is array):
        form = access.subscripts[dimension]
        if form is None or not (high := _range(form, access)[1]):
            return ()
        highs.append(tuple(one + Affine(1) for one in strongest(high, dict(bound.sizes), -1)))
    return united([], highs, dict(bound.sizes)).upper


def _range(form: Affine, access: Access) -> tuple[list[Affine], list[Affine]]:
    """Return what a subscript is at least and at most, as forms of the sizes."""
    value = Affine(0, {"value": 1}) - form
    known = [*(loop.inside for loop in access.loops), *access.constraints, value, value.scaled(-1)]
    known += [Affine(0, {loop.counter: 1}) for loop in access.loops]
    return bounds_of(projected(known, [*access.sizes, "value"]) or [], "value")


def filled(bound: BoundFunction, write: Access) -> bool:
    """Whether the loops around a write run through all elements of its array, at any sizes."""
    seen: set[str] = set()
    counters = {loop.counter for loop in write.loops}
    if any({*loop.start.terms, *loop.inside.terms} & counters - {loop.counter} for loop in write.loops):
        return False
    for dimension, form in enumerate(write.subscripts):
        mine = [loop for loop in write.loops if form == Affine(0, {loop.counter: 1})]
        if not mine or mine[0].counter in seen:
            return False
        (loop,) = mine
        seen.add(loop.counter)
        last = loop.inside + Affine(1, {loop.counter: 1})
        if ends(bound, write.element.array, dimension) != ((last,),):
            return False
    return True


def needed(bound: BoundFunction) -> list[Affine] | None:
    """Return the forms that sizes must keep from being negative, None if they are no forms of the sizes.

    Every loop runs, sizes are in their ranges, and subscripts in their arrays.
    """
    loops = [loop for nest in bound.nests for loop in nest.loops.values()]
    found = [loop.inside.replaced(loop.counter, Affine(0)) for loop in loops]
    found = [form for form in found if set(form.terms) <= set(bound.sizes)]
    for name, (low, high) in bound.sizes.items():
        found += [Affine(-low, {name: 1}), Affine(high, {name: -1})]
    for access in bound.accesses:
        pairs = zip(access.subscripts, bound.extents[access.element.array.name], strict=True)
        for form, extent in ((f, e) for f, e in pairs if f is not None):
            low, high = _range(form, access)
            sides = [low] if extent is None else [low, [extent + Affine(-1) - one for one in high]]
            if not all(sides):
                return None
            found += [side[0] for side in sides if all(f.range(dict(bound.sizes))[0] < 0 for f in side)]
    return tightened(found)


def conditions(
    bound: BoundFunction, printer: Printer, sides: Mapping[str, tuple[str, ...]], forms: Iterable[Affine]
) -> list[str]:
    """Return what sizes must obey as C: forms are not negative, indices can number all elements."""
    types = {s.name: s.type for s in bound.function.scalars}
    found = [printer.expression(comparison(form, types, 0)) for form in forms]
    small = [a.name for a in bound.function.arrays if prod(bound.shapes[a.name]) <= MOST_ELEMENTS]
    every = [sides[name] for name in small if len(sides[name]) > 1]
    products = [
        f"1.0 * {' * '.join(each)} <= {MOST_ELEMENTS}" for each in every if not all(map(str.isdigit, each))
    ]
    return [*found, *dict.fromkeys(products)]


def other_sizes(bound: BoundFunction, forms: Iterable[Affine]) -> dict[str, int]:
    """Return other sizes that obey the forms, the given ones if there are none near them."""
    given = {name: value for name in bound.sizes if isinstance(value := bound.values[name], int)}
    changes: tuple[Callable[[int], int], ...] = (
        lambda n: n // 2 + 1, lambda n: n + 3, lambda n: n - 1, lambda n: n + 1,
    )  # fmt: skip
    for change in changes:
        sizes = {name: change(value) for name, value in given.items()}
        if sizes != given and all(form.at(sizes) >= 0 for form in forms):
            return sizes
    return given
