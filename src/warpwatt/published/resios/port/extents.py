"""How many elements arrays have, as C over sizes that are known only when the emitted program runs."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.affine_form import Affine
from warpwatt.published.resios.c_loops.integers import System
from warpwatt.published.resios.c_loops.projection import bounds_of, projected, strongest, tightened
from warpwatt.published.resios.schedule.c_forms import combined, comparison, written
from warpwatt.published.resios.schedule.limits import united

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from warpwatt.published.resios.c_loops.affine_form import Box
    from warpwatt.published.resios.c_loops.bound import Access, BoundFunction
    from warpwatt.published.resios.c_loops.nest import Array
    from warpwatt.published.resios.c_loops.printer import Printer

End = tuple[tuple[Affine, ...], ...]
"""The largest of alternatives that are each the least of some forms."""
MOST_ELEMENTS = (1 << 31) - 1
"""Elements that the kernels' indices can number."""


CAST = "@"
"""Stands in a count for what makes its arithmetic wide enough."""


def counts(
    bound: BoundFunction, shapes: Mapping[str, tuple[int, ...]], forms: Sequence[Affine], printer: Printer
) -> dict[str, str] | None:
    """Return every array's elements as C, None where they are not known or others than ``shapes`` say.

    Sizes keep ``forms`` from being negative. None also where an array has more than indices can number:
    kernels are then written for it.
    """
    box = System(bound.sizes, (), forms).narrowed(dict(bound.sizes)) or {}
    types = {s.name: s.type for s in bound.function.scalars}
    found: dict[str, str] = {}

    def text(end: End) -> str:
        least = [combined("min", [written(f, types) for f in forms]) for forms in end]
        return printer.expression(combined("max", least), 13)

    def now(end: End) -> int:
        return max(int(min(f.at(bound.values) for f in forms)) for forms in end)

    for array in bound.function.arrays:
        rows = len(bound.extents[array.name]) > len(array.extents)
        every = (
            _last(bound, array, box) if rows else [ends(bound, array, n) for n in range(len(array.extents))]
        )
        if not every or not all(every):
            return None
        first, *rest = every
        total, name = now(first), f"{CAST}{text(first)}"
        for side, length in zip(rest, bound.extents[array.name][1:], strict=True):
            assert length is not None
            by = ((length,),)
            total = total * now(by) + now(side) if rows else total * now(side)
            name = f"({name}) * {text(by)} + {text(side)}" if rows else f"{name} * {text(side)}"
        if total + rows != prod(shapes[array.name]) or total >= MOST_ELEMENTS:
            return None
        found[array.name] = f"{name} + 1" if rows else name
    return found


def _last(bound: BoundFunction, array: Array, box: Box) -> list[End]:
    """Return the subscripts of the last element that is touched of an array in rows; none if not known."""
    every: list[list[Affine]] = []
    for access in (a for a in bound.accesses if a.element.array is array):
        highs = [_range(form, access)[1] for form in access.subscripts if form is not None]
        if any(len(high) != 1 for high in highs):
            return []
        every.append([high[0] for high in highs])
    for one in every:
        if all(_behind(one, other, box) for other in every):
            return [((form,),) for form in one]
    return []


def _behind(one: Sequence[Affine], other: Sequence[Affine], box: Box) -> bool:
    """Whether an element lies behind another one, or is the same, at any sizes; rows do not overlap."""
    for mine, yours in zip(one, other, strict=True):
        low, high = (mine - yours).range(box)
        if low > 0:
            return True
        if low < 0 or high > 0:
            return False
    return True


def ends(bound: BoundFunction, array: Array, dimension: int) -> End:
    """Return an extent; () if it is not known."""
    form = bound.extents[array.name][dimension]
    if form is not None:
        return ((form,),)
    return () if array.extents[dimension] is not None else reached(bound, array, dimension)


def reached(bound: BoundFunction, array: Array, dimension: int) -> End:
    """Return what is one more than the largest subscript; () if it is not known."""
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
            least, most = _range(form, access)
            sides = [least] if extent is None else [least, [extent + Affine(-1) - one for one in most]]
            if not all(sides):
                return None
            found += [side[0] for side in sides if all(f.range(dict(bound.sizes))[0] < 0 for f in side)]
    forms = tightened(found)
    return forms if forms and all(form.at(bound.values) >= 0 for form in forms) else None


def conditions(
    bound: BoundFunction, printer: Printer, elements: Mapping[str, str], forms: Iterable[Affine]
) -> list[str]:
    """Return what sizes must obey as C: forms are not negative, indices can number all elements."""
    types = {s.name: s.type for s in bound.function.scalars}
    found = [printer.expression(comparison(form, types, 0)) for form in forms]
    several = [text.replace(CAST, "1.0 * ") for text in elements.values() if " * " in text]
    products = [text for text in several if re.search("[A-Za-z_]", text)]
    return [*found, *(f"{text} <= {MOST_ELEMENTS}" for text in dict.fromkeys(products))]


def other_sizes(bound: BoundFunction, forms: Iterable[Affine]) -> dict[str, int]:
    """Return other sizes that obey the forms; none if there are none near the given ones."""
    given = {name: value for name in bound.sizes if isinstance(value := bound.values[name], int)}
    changes: tuple[Callable[[int], int], ...] = (
        lambda n: n // 2 + 1, lambda n: n + 3, lambda n: n - 1, lambda n: n + 1,
    )  # fmt: skip
    for change in changes:
        sizes = {name: change(value) for name, value in given.items()}
        if all(form.at(sizes) >= 0 for form in forms):
            return sizes
    return {}
