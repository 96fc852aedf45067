"""Dependences broken by a copy of what is read, or by splitting loops where another loop's iteration lies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.nest import (
    Array,
    Assign,
    Binary,
    Declare,
    Element,
    If,
    Loop,
    Name,
    integer,
)  # fmt: skip
from warpwatt.published.resios.c_loops.rewrite import replaced, rewritten
from warpwatt.published.resios.c_loops.types import INT
from warpwatt.published.resios.schedule.dependences import dependences
from warpwatt.published.resios.schedule.expand import MOST_BYTES, with_body
from warpwatt.published.resios.schedule.plan import coordinate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.published.resios.c_loops.affine_form import Affine
    from warpwatt.published.resios.c_loops.bound import Access, BoundFunction, BoundLoop
    from warpwatt.published.resios.c_loops.nest import Expression, Function, Statement
    from warpwatt.published.resios.schedule.units import Unit


def copied(bound: BoundFunction, units: Sequence[Unit]) -> Function | None:
    """Return the function with arrays copied before a nest that reads what it later overwrites.

    Only reads that no write of the nest comes before read the copy. None where there are none.
    """
    deps = dependences(units)
    function = bound.function
    body: list[Statement] = []
    made: list[Array] = []
    for number, statement in enumerate(function.body):
        mine = bound.accesses_of(number)
        late = {
            id(d.second) for d in deps if d.first.write and _inside(d.first, mine) and _inside(d.second, mine)
        }
        early = {id(d.first) for d in deps if d.anti and _inside(d.first, mine) and _inside(d.second, mine)}
        reads = [a for a in mine if id(a) in early - late and not _updates(a)]
        arrays = {a.element.array.name: a.element.array for a in reads}
        for name, array in arrays.items():
            if bound.nbytes(name) > MOST_BYTES:
                continue
            old = Array(f"{name}_before", array.type, tuple(map(integer, bound.shapes[name])), True, True,
                        parameter=False, line=0, temporary=True)  # fmt: skip
            made.append(old)
            body.append(_copy(array, old, bound.shapes[name], statement.line))
            elements = [a.element for a in reads if a.element.array.name == name]
            (statement,) = _reading((statement,), elements, old)  # noqa: PLW2901
        body.append(statement)
    return with_body(function, tuple(body), made) if made else None


def _inside(access: Access, mine: Sequence[Access]) -> bool:
    return any(access is one for one in mine)


def _updates(access: Access) -> bool:
    """Whether a read is that of ``target operator= value``: it stays with its write."""
    return isinstance(access.statement, Assign) and access.element is access.statement.target


def _copy(array: Array, old: Array, shape: tuple[int, ...], line: int) -> Statement:
    names = tuple(Name(f"{array.name}_{'ijkl'[n]}", INT, line) for n in range(len(shape)))
    body: tuple[Statement, ...] = (Assign(Element(old, names, line), "", Element(array, names, line), line),)
    for name, extent in reversed(list(zip(names, shape, strict=True))):
        body = (Loop(name, integer(0), integer(extent), "<", 1, body, line),)
    return body[0]


def _reading(body: tuple[Statement, ...], elements: Sequence[Element], old: Array) -> tuple[Statement, ...]:
    """Return statements whose given reads go to another array; targets of assignments stay."""

    def moved(part: Expression) -> Expression:
        if isinstance(part, Element) and part in elements:
            return Element(old, part.subscripts, part.line)
        return part

    found: list[Statement] = []
    for statement in body:
        match statement:
            case Loop():
                found.append(replace(statement, body=_reading(statement.body, elements, old)))
            case If():
                found.append(
                    replace(
                        statement,
                        condition=replaced(statement.condition, moved),
                        then=_reading(statement.then, elements, old),
                        other=_reading(statement.other, elements, old),
                    )
                )
            case Assign():
                found.append(replace(statement, value=replaced(statement.value, moved)))
            case Declare(value=value) if value is not None:
                found.append(replace(statement, value=replaced(value, moved)))
            case _:
                found.append(statement)
    return tuple(found)


def split(bound: BoundFunction) -> Function | None:
    """Return the function with loops split at an outer loop's iteration whose elements they read.

    Where a loop over ``j`` writes ``a[i][j]`` and reads ``a[i][k]``, its iterations before ``k``, at ``k``
    and after it depend on each other in one direction only. None where there is nothing to split.
    """
    places = _places(bound)
    if not places:
        return None
    return with_body(bound.function, _split(bound.function.body, places))


def _places(bound: BoundFunction) -> dict[int, BoundLoop]:
    """Return loops to split, by identity, with the outer loop at whose iteration."""
    found: dict[int, BoundLoop] = {}
    for write in (a for a in bound.accesses if a.write and a.affine):
        for read in (
            a for a in bound.accesses if a.statement is write.statement and not a.write and a.affine
        ):
            if read.element.array.name != write.element.array.name:
                continue
            for one, other in zip(write.subscripts, read.subscripts, strict=True):
                inner, outer = _loop_of(write, one), _loop_of(read, other)
                if inner is None or outer is None or inner is outer or not _contains(inner, outer):
                    continue
                if write.loops.index(outer) < write.loops.index(inner):
                    found[id(inner.loop)] = outer
    return found


def _loop_of(access: Access, form: Affine | None) -> BoundLoop | None:
    """Return the loop whose variable a subscript is, None if it is anything else."""
    return next((loop for loop in access.loops if coordinate(loop) == form and loop.loop.step == 1), None)


def _contains(inner: BoundLoop, outer: BoundLoop) -> bool:
    """Whether every value of an outer loop's variable is one of a rectangular inner loop's."""
    if not inner.rectangular or not outer.rectangular or inner.start.terms or outer.start.terms:
        return False
    low, high = inner.start.constant, inner.start.constant + inner.most - 1
    return low <= outer.start.constant and outer.start.constant + outer.most - 1 <= high


def _split(body: tuple[Statement, ...], places: dict[int, BoundLoop]) -> tuple[Statement, ...]:
    found: list[Statement] = []
    for statement in body:
        if not isinstance(statement, Loop):
            found.append(statement)
            continue
        inner = _split(statement.body, places)
        if id(statement) not in places:
            found.append(replace(statement, body=inner))
            continue
        at = replace(places[id(statement)].loop.variable, line=statement.line)
        after = Binary("+", at, integer(1, statement.line), at.type, statement.line)
        ends = ((statement.start, at, "<"), (at, at, "<="), (after, statement.stop, statement.relation))
        for start, stop, relation in ends:
            again = rewritten(inner, lambda part: part)
            found.append(replace(statement, start=start, stop=stop, relation=relation, body=again))
    return tuple(found)
