"""Scalars of a function: computed on the host, private to a thread, or one element in device memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.dependence import exposed
from warpwatt.published.resios.c_loops.nest import (
    Array,
    Assign,
    Declare,
    Element,
    If,
    Loop,
    Name,
    expressions,
    integer,
    walk,
    walk_expression,
)  # fmt: skip
from warpwatt.published.resios.c_loops.rewrite import rewritten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from warpwatt.published.resios.c_loops.nest import Expression, Function, Statement


@dataclass(frozen=True, slots=True)
class Scalars:
    """What becomes of every scalar that a function sets.

    ``host`` are known before the first kernel; ``private`` has the loops that set one anew in every
    iteration; ``promoted`` live in device memory, because one kernel or iteration sets what another reads.
    """

    host: tuple[str, ...]
    private: dict[str, tuple[Loop, ...]]
    promoted: tuple[str, ...]


def classified(function: Function) -> Scalars:
    """Return what becomes of the scalars a function sets."""
    written = {s.target.name for s in walk(function.body) if _sets_scalar(s)}  # type: ignore[union-attr]
    declared = {s.name for s in walk(function.body) if isinstance(s, Declare) and s.value is not None}
    host: list[str] = []
    private: dict[str, tuple[Loop, ...]] = {}
    promoted: list[str] = []
    for name in _ordered(function, written | declared):
        loops = _private(function.body, name)
        if _on_host(function, name, host):
            host.append(name)
        elif loops is not None:
            private[name] = loops
        else:
            promoted.append(name)
    return Scalars(tuple(host), private, tuple(promoted))


def _sets_scalar(statement: Statement) -> bool:
    return isinstance(statement, Assign) and isinstance(statement.target, Name)


def _ordered(function: Function, names: set[str]) -> list[str]:
    """Return names in the order in which the source first sets them."""
    found: dict[str, None] = {}
    for statement in walk(function.body):
        name = _set_name(statement)
        if name in names:
            found[name] = None
    return list(found)


def _set_name(statement: Statement) -> str:
    if isinstance(statement, Declare):
        return statement.name if statement.value is not None else ""
    if isinstance(statement, Assign) and isinstance(statement.target, Name):
        return statement.target.name
    return ""


def _on_host(function: Function, name: str, host: Iterable[str]) -> bool:
    """Whether every value of a scalar is computed outside all loops from what the host knows."""
    top = [s for s in function.body if _set_name(s) == name]
    if len(top) != sum(_set_name(s) == name for s in walk(function.body)):
        return False
    known = {s.name for s in function.scalars} | set(host)
    known -= {_set_name(s) for s in walk(function.body)} - set(host)
    for statement in top:
        assert isinstance(statement, (Declare, Assign))
        assert statement.value is not None
        for part in walk_expression(statement.value):
            if isinstance(part, Element) or (isinstance(part, Name) and part.name not in known | {name}):
                return False
    first = function.body.index(top[0])
    used_before = any(name in mentioned(s) for s in function.body[:first] if not isinstance(s, Declare))
    settled = all(not _between(function, name, one) for one in top[1:])
    return not used_before and settled


def _between(function: Function, name: str, later: Statement) -> bool:
    """Whether a loop uses a scalar before a later statement sets it again."""
    return any(
        isinstance(s, Loop) and name in mentioned(s) for s in function.body[: function.body.index(later)]
    )


def mentioned(statement: Statement) -> set[str]:
    """Return the scalars that a statement reads or sets, nested ones included."""
    found: set[str] = set()
    for one in walk((statement,)):
        if isinstance(one, Declare):
            found.add(one.name)
        for expression in expressions(one):
            found |= {p.name for p in walk_expression(expression) if isinstance(p, Name)}
    return found


def _private(body: tuple[Statement, ...], name: str) -> tuple[Loop, ...] | None:
    """Return the innermost loops that set a scalar anew in each iteration; None if there are none."""
    found: list[Loop] = []
    for number, statement in enumerate(body):
        if isinstance(statement, Declare) and statement.value is None:
            continue
        if name not in mentioned(statement):
            continue
        inside: tuple[Loop, ...] | None = None
        needed_later = _exposes(body[number + 1 :], name)
        if isinstance(statement, Loop) and not needed_later:
            inside = _within(statement, name)
        elif isinstance(statement, If) and not needed_later:
            inside = _in_branches(statement, name)
        if inside is None:
            return None
        found += inside
    return tuple(found)


def _within(loop: Loop, name: str) -> tuple[Loop, ...] | None:
    if any(isinstance(s, Declare) and s.name == name for s in _own(loop.body)):
        return (loop,)
    if _exposes(loop.body, name):
        return None
    return _private(loop.body, name) or (loop,)


def _own(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield statements and those under their conditions, inner loops left out."""
    for statement in body:
        yield statement
        if isinstance(statement, If):
            yield from _own((*statement.then, *statement.other))


def _in_branches(statement: If, name: str) -> tuple[Loop, ...] | None:
    condition = {p.name for p in walk_expression(statement.condition) if isinstance(p, Name)}
    sides = [_private(side, name) for side in (statement.then, statement.other)]
    if name in condition or None in sides:
        return None
    return tuple(loop for side in sides for loop in side or ())


def _exposes(body: tuple[Statement, ...], name: str) -> bool:
    return any(found == name for found, _ in exposed(body))


def promoted(function: Function, names: Iterable[str]) -> Function:
    """Return the function with scalars kept in device memory, as arrays of one element.

    Those that the caller gives are copied there first.
    """
    chosen = set(names)
    types = {s.name: s.type for s in walk(function.body) if isinstance(s, Declare)}
    types |= {s.name: s.type for s in function.scalars}
    given = {s.name for s in function.scalars} & chosen
    arrays = {
        name: Array(
            f"{name}_kept" if name in given else name, types[name], (integer(1),), True, True,
            parameter=False, line=0, temporary=True,
        )
        for name in sorted(chosen)
    }  # fmt: skip

    def element(part: Expression) -> Expression:
        if isinstance(part, Name) and part.name in arrays:
            return Element(arrays[part.name], (integer(0, part.line),), part.line)
        return part

    def statement(one: Statement) -> Statement | None:
        if isinstance(one, Declare) and one.name in arrays:
            if one.value is None:
                return None
            return Assign(
                Element(arrays[one.name], (integer(0, one.line),), one.line), "", one.value, one.line
            )
        return one

    line = function.line
    first = tuple(
        Assign(Element(arrays[name], (integer(0),), line), "", Name(name, types[name], line), line)
        for name in sorted(given)
    )
    body = (*first, *rewritten(function.body, element, statement))
    return replace(
        function,
        arrays=(*function.arrays, *arrays.values()),
        body=body,
        nests=tuple(s for s in body if isinstance(s, Loop)),
    )
