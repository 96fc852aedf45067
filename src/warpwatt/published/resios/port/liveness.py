"""Which arrays a port copies to the device and back: by which elements are written, and which are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.published.resios.accesses import flat
from warpwatt.published.resios.c_loops.nest import Assign, Element, If, Leave, Loop, left_early, walk
from warpwatt.published.resios.port.extents import filled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpwatt.published.resios.c_loops.bound import Access, BoundFunction
    from warpwatt.published.resios.c_loops.nest import Statement

Span = tuple[int, int]
MANY = 1 << 62
"""The last element of any array, where sizes are not known."""


def copies(
    bound: BoundFunction, symbolic: BoundFunction | None = None
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the arrays to copy to the device and back, with their bytes; temporaries stay on the device.

    An array that is written is copied back whole. It is copied to the device first unless the function
    writes every element on every path, and reads none before; ``symbolic``: at any sizes.
    """
    own = sorted(a.name for a in bound.function.arrays if not a.temporary)
    touched = {a.element.array.name for a in bound.accesses}
    written = {a.element.array.name for a in bound.accesses if a.write}
    needed = [name for name in own if name in touched and _needs_contents(symbolic or bound, name)]
    return (
        {name: bound.nbytes(name) for name in needed},
        {name: bound.nbytes(name) for name in own if name in written},
    )


def _needs_contents(bound: BoundFunction, name: str) -> bool:
    """Whether an array holds something that the function reads, or does not overwrite."""
    certain = {id(element) for element in _certain(bound, bound.function.body)}
    size = bound.function.array(name).type.size
    whole = (0, MANY if bound.sizes else bound.nbytes(name) // size - 1)
    written: list[Span] = []
    for found in bound.by_statement:
        sure: list[Access] = []
        for access in (a for a in found if a.element.array.name == name):
            if access.write:
                sure += [access] if id(access.element) in certain else []
            elif not (
                any(_just_written(access, write) for write in sure)
                or _inside(_reach(access, bound) or whole, written)
            ):
                return True
        written += [span for write in sure if (span := _span(write, bound)) is not None]
    return not _inside(whole, written)


def _certain(bound: BoundFunction, body: tuple[Statement, ...]) -> Iterator[Element]:
    """Yield the elements that statements assign in every execution, of two branches the second one's."""
    for statement in body:
        match statement:
            case Assign(target=Element() as target):
                yield target
            case If(then=then, other=other):
                one = [_subscripts(bound, e) for e in _certain(bound, then)]
                yield from (e for e in _certain(bound, other) if _subscripts(bound, e) in one)
            case Loop(body=inner) if not left_early(statement):
                yield from _certain(bound, inner)
        if any(isinstance(inner, Leave) for inner in walk((statement,))) and not isinstance(statement, Loop):
            return


def _subscripts(bound: BoundFunction, element: Element) -> object:
    """Return an array and its subscripts as forms; what equals nothing where they are not affine."""
    access = next(a for a in bound.accesses if a.write and a.element is element)
    return (element.array.name, access.subscripts) if access.affine else object()


def _just_written(read: Access, write: Access) -> bool:
    """Whether the same iteration has written what is read."""
    same = read.affine and read.subscripts == write.subscripts
    return same and read.loops[: len(write.loops)] == write.loops


def _reach(access: Access, bound: BoundFunction) -> Span | None:
    """Return the first and last element that an access may touch, None if that is not known."""
    form = flat(access, bound)
    if form is None or bound.sizes:
        return None
    box = access.box()
    return form.range(box) if box or not access.loops else None


def _span(write: Access, bound: BoundFunction) -> Span | None:
    """Return the elements from the first to the last that a write touches, None where it leaves gaps."""
    form, run = flat(write, bound), 1
    if bound.sizes:
        return (0, MANY) if filled(bound, write) else None
    if form is None or not all(loop.rectangular for loop in write.loops):
        return None
    trips = {loop.counter: loop.most for loop in write.loops}
    for factor, count in sorted((abs(f), trips[name]) for name, f in form.terms.items()):
        if factor > run:
            return None
        run += factor * (count - 1)
    return form.range({name: (0, count - 1) for name, count in trips.items()})


def _inside(span: Span, written: list[Span]) -> bool:
    """Whether all of a span lies in the union of others.

    >>> _inside((0, 9), [(4, 9), (0, 3)]), _inside((0, 9), [(1, 9)])
    (True, False)
    """
    low, high = span
    for start, end in sorted(written):
        if start > low:
            break
        low = max(low, end + 1)
    return low > high
