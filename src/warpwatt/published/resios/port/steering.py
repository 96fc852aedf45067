"""Scalars that the analysis of a function depends on: what is emitted holds for their values alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.nest import (
    Assign,
    Binary,
    Declare,
    Element,
    If,
    Loop,
    Name,
    Select,
    expressions,
    names_in,
    walk,
    walk_expression,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from warpwatt.published.resios.c_loops.nest import Expression, Function


def steering(function: Function) -> tuple[str, ...]:
    """Return the scalar parameters that bounds, subscripts, extents and decided conditions come from.

    ``function`` is what was read, before sizes decide any of its conditions.
    """
    return _sources(function, [*_places(function), *_conditions(function)])


def free(function: Function) -> tuple[str, ...]:
    """Return those of :func:`steering` that are whole numbers and decide no condition by themselves."""
    changed = {s.variable.name for s in walk(function.body) if isinstance(s, Loop)}
    alone = [c for c in _conditions(function) if _chooses(c) or not names_in(c) & changed]
    fixed = {*_sources(function, alone), *(s.name for s in function.scalars if s.type.floating)}
    return tuple(name for name in steering(function) if name not in fixed)


def _sources(function: Function, values: Iterable[Expression]) -> tuple[str, ...]:
    """Return the scalar parameters that expressions are computed from."""
    found = {name for value in values for name in names_in(value)}
    sources = [(s.name, s.value) for s in walk(function.body) if isinstance(s, Declare) and s.value]
    assigned = [s for s in walk(function.body) if isinstance(s, Assign)]
    sources += [(s.target.name, s.value) for s in assigned if isinstance(s.target, Name)]
    before = -1
    while len(found) > before:
        before = len(found)
        found |= {name for target, value in sources if target in found for name in names_in(value)}
    return tuple(s.name for s in function.scalars if s.name in found)


def _places(function: Function) -> Iterator[Expression]:
    """Yield extents, bounds and subscripts."""
    for array in function.arrays:
        yield from (extent for extent in array.extents if extent is not None)
    for statement in walk(function.body):
        if isinstance(statement, Loop):
            yield from (statement.start, statement.stop)
        for expression in expressions(statement):
            for part in walk_expression(expression):
                if isinstance(part, Element):
                    yield from part.subscripts


def _conditions(function: Function) -> Iterator[Expression]:
    """Yield the conditions that no array element decides."""
    for statement in walk(function.body):
        if isinstance(statement, If):
            yield from _known_parts(statement.condition)


def _known_parts(condition: Expression) -> Iterator[Expression]:
    """Yield the parts of a conjunction that no array element decides."""
    if isinstance(condition, Binary) and condition.operator in ("&&", "||"):
        yield from _known_parts(condition.left)
        yield from _known_parts(condition.right)
    elif _chooses(condition) or not any(isinstance(p, Element) for p in walk_expression(condition)):
        yield condition


def _chooses(condition: Expression) -> bool:
    """Whether a part of a condition may be left out when it is decided."""
    return any(isinstance(part, Select) for part in walk_expression(condition))
