"""A place of its own per iteration for scalars and arrays that every iteration fills anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.nest import (
    Array,
    Assign,
    Declare,
    DeclareArray,
    Element,
    If,
    Leave,
    Loop,
    Name,
    While,
    integer,
    walk,
)  # fmt: skip
from warpwatt.published.resios.c_loops.rewrite import replaced, rewritten
from warpwatt.published.resios.c_loops.types import INT
from warpwatt.published.resios.schedule.plan import coordinate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.published.resios.c_loops.bound import Access, BoundFunction, BoundLoop
    from warpwatt.published.resios.c_loops.nest import Expression, Function, Statement
    from warpwatt.published.resios.c_loops.types import CType
    from warpwatt.published.resios.schedule.scalars import Scalars

MOST_BYTES = 1 << 30
"""Device memory that all renamed arrays may take."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a name is kept instead: an array whose first subscripts are the iteration."""

    array: Array
    way: tuple[BoundLoop, ...]

    def element(self, subscripts: Sequence[Expression], line: int) -> Element:
        """Return the element for the current iteration."""
        return Element(self.array, (*(_index(loop, line) for loop in self.way), *subscripts), line)


def own_scalars(bound: BoundFunction, scalars: Scalars) -> Function | None:
    """Return the function with private scalars as arrays with an element per iteration, None for none."""
    function = bound.function
    types = {s.name: s.type for s in walk(function.body) if isinstance(s, Declare)}
    types |= {s.name: s.type for s in function.scalars}
    ways = {id(way[-1]): way for way in _ways(function.body, ())}
    places: dict[tuple[int, str], _Place] = {}
    for name, loops in scalars.private.items():
        for number, loop in enumerate(loops, start=1):
            way = tuple(bound.of(one) for one in ways[id(loop)])
            array = _array(f"{name}_{number}", types[name], way, (), bound)
            if array is None:
                return None
            places[id(loop), name] = _Place(array, way)
    total = sum(_size(place.array) for place in places.values())
    if not places or total > MOST_BYTES:
        return None
    body = _renamed(function.body, places, {})
    return with_body(function, body, [place.array for place in places.values()])


def own_arrays(bound: BoundFunction) -> Function | None:
    """Return the function with arrays that each iteration fills before it reads them kept per iteration.

    What the last iteration leaves in them is copied back at the end. None where there is no such array.
    """
    function = bound.function
    made: list[_Place] = []
    after: list[Statement] = []
    by_array: dict[str, _Place] = {}
    for array in function.arrays:
        mine = [a for a in bound.accesses if a.element.array.name == array.name]
        way = _filled_anew(mine)
        if not way:
            continue
        extents = [integer(n) for n in bound.shapes[array.name]]
        own = _array(f"{array.name}_own", array.type, way, extents, bound)
        if own is None or _size(own) > MOST_BYTES:
            continue
        by_array[array.name] = _Place(own, way)
        made.append(by_array[array.name])
        if not array.temporary:
            after.append(_last(array, by_array[array.name], mine))
    if not made:
        return None
    body = tuple(_moved(s, by_array) for s in function.body)
    return with_body(function, (*body, *after), [place.array for place in made])


def with_body(function: Function, body: tuple[Statement, ...], arrays: Sequence[Array] = ()) -> Function:
    """Return a function with another body and more arrays."""
    nests = tuple(s for s in body if isinstance(s, Loop))
    return replace(function, body=body, nests=nests, arrays=(*function.arrays, *arrays))


def _ways(body: tuple[Statement, ...], way: tuple[Loop, ...]) -> list[tuple[Loop, ...]]:
    """Return the loops that lead to every loop, itself last."""
    found: list[tuple[Loop, ...]] = []
    for statement in body:
        if isinstance(statement, Loop):
            found += [(*way, statement), *_ways(statement.body, (*way, statement))]
        elif isinstance(statement, If):
            found += _ways((*statement.then, *statement.other), way)
    return found


def _array(
    name: str, kind: CType, way: tuple[BoundLoop, ...], extents: Sequence[Expression], bound: BoundFunction
) -> Array | None:
    """Return a temporary with an extent per loop, None where a loop skips or starts below zero."""
    taken = {a.name for a in bound.function.arrays} | {s.name for s in bound.function.scalars}
    while name in taken:
        name += "_"
    found = []
    box = {loop.counter: (0, loop.most - 1) for loop in way}
    for loop in way:
        low, high = coordinate(loop).range(box)
        if abs(loop.loop.step) != 1 or low < 0:
            return None
        found.append(integer(high + 1))
    return Array(name, kind, (*found, *extents), True, True, parameter=False, line=0, temporary=True)


def _size(array: Array) -> int:
    total = array.type.size
    for extent in array.extents:
        total *= int(extent.value)  # type: ignore[union-attr]
    return total


def _index(loop: BoundLoop, line: int) -> Expression:
    return replace(loop.loop.variable, line=line)


def _renamed(
    body: tuple[Statement, ...], places: dict[tuple[int, str], _Place], active: dict[str, _Place]
) -> tuple[Statement, ...]:
    """Return statements in which names, inside their private loops, are elements."""

    def element(part: Expression) -> Expression:
        found = active.get(part.name) if isinstance(part, Name) else None
        return part if found is None else found.element((), part.line)

    kept: list[Statement] = []
    for statement in body:
        match statement:
            case Loop():
                inner = active | {name: place for (at, name), place in places.items() if at == id(statement)}
                start, stop = replaced(statement.start, element), replaced(statement.stop, element)
                kept.append(
                    replace(statement, start=start, stop=stop, body=_renamed(statement.body, places, inner))
                )
            case If():
                then, other = (_renamed(side, places, active) for side in (statement.then, statement.other))
                kept.append(
                    replace(
                        statement, condition=replaced(statement.condition, element), then=then, other=other
                    )
                )
            case Declare(name=name, value=value, line=line) if name in active:
                if value is not None:
                    kept.append(Assign(active[name].element((), line), "", replaced(value, element), line))
            case Declare(value=value):
                kept.append(
                    statement if value is None else replace(statement, value=replaced(value, element))
                )
            case While():
                inner_body = _renamed(statement.body, places, active)
                kept.append(
                    replace(statement, condition=replaced(statement.condition, element), body=inner_body)
                )
            case DeclareArray() | Leave():
                kept.append(statement)
            case Assign():
                target = replaced(statement.target, element)
                assert isinstance(target, (Name, Element))
                kept.append(replace(statement, target=target, value=replaced(statement.value, element)))
    return tuple(kept)


def _moved(statement: Statement, places: dict[str, _Place]) -> Statement:
    """Return a statement in which arrays are replaced by their own places."""

    def element(part: Expression) -> Expression:
        found = places.get(part.array.name) if isinstance(part, Element) else None
        if found is None:
            return part
        assert isinstance(part, Element)
        return found.element(part.subscripts, part.line)

    (changed,) = rewritten((statement,), element)
    return changed


def _filled_anew(accesses: list[Access]) -> tuple[BoundLoop, ...]:
    """Return the loops around all accesses of an array each of whose iterations fills what it reads."""
    if not accesses or not any(a.write for a in accesses) or all(a.write for a in accesses):
        return ()
    way = accesses[0].loops
    for access in accesses:
        while way and access.loops[: len(way)] != way:
            way = way[:-1]
    first = accesses[0]
    while way:
        inside = first.loops[len(way) :]
        whole = first.write and not first.guarded and _rectangle(first, len(way)) is not None
        rectangular = all(loop.rectangular for loop in (*way, *inside))
        if whole and rectangular and all(_covered(a, first, len(way)) for a in accesses[1:] if not a.write):
            return way
        way = way[:-1]
    return ()


def _rectangle(access: Access, depth: int) -> list[tuple[int, int]] | None:
    """Return the range of every subscript where the loops inside ``depth`` run through all of it."""
    inner = {loop.counter: loop for loop in access.loops[depth:]}
    used: set[str] = set()
    ranges = []
    for form in access.subscripts:
        if form is None or not set(form.terms) <= set(inner) or len(form.terms) > 1 or set(form.terms) & used:
            return None
        if any(factor != 1 for factor in form.terms.values()):
            return None
        used |= set(form.terms)
        ranges.append(form.range({c: (0, inner[c].most - 1) for c in form.terms}))
    return ranges


def _covered(read: Access, write: Access, depth: int) -> bool:
    """Whether a read touches only what an earlier write of the same iteration has filled."""
    shared = [a for a, b in zip(read.loops[depth:], write.loops[depth:], strict=False) if a is b]
    if shared:
        return read.subscripts == write.subscripts
    box = {loop.counter: (0, loop.most - 1) for loop in read.loops}
    filled = _rectangle(write, depth) or []
    for form, (low, high) in zip(read.subscripts, filled, strict=True):
        if form is None or form.range(box)[0] < low or form.range(box)[1] > high:
            return False
    return True


def _last(array: Array, place: _Place, accesses: list[Access]) -> Statement:
    """Return the loops that copy what the last iteration left."""
    write = accesses[0]
    ranges = _rectangle(write, len(place.way)) or []
    names = [Name(f"{array.name}_{'ijkl'[n]}", INT, array.line) for n in range(len(ranges))]
    box = {loop.counter: (0, loop.most - 1) for loop in place.way}
    last = [
        integer(int(coordinate(loop).at({c: high for c, (_, high) in box.items()})), array.line)
        for loop in place.way
    ]
    source = Element(place.array, (*last, *names), array.line)
    body: tuple[Statement, ...] = (Assign(Element(array, tuple(names), array.line), "", source, array.line),)
    for name, (low, high) in reversed(list(zip(names, ranges, strict=True))):
        body = (Loop(name, integer(low), integer(high), "<=", 1, body, array.line),)
    return body[0]
