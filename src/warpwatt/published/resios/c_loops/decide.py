"""Conditions that the sizes decide: the branch that is taken stands in their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.evaluate import converted, evaluated
from warpwatt.published.resios.c_loops.nest import Assign, Declare, If, Loop, Name, While, walk
from warpwatt.published.resios.c_loops.refuse import Place

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.evaluate import Value
    from warpwatt.published.resios.c_loops.nest import Expression, Function, Statement


def decided(function: Function, values: Mapping[str, Value]) -> Function:
    """Return the function without conditions that scalars of these values decide.

    Raises
    ------
    UnportableError
        If no loop is left.
    """
    types = {s.name: s.type for s in function.scalars}
    changed = _changed(function)
    known = {n: converted(v, types[n]) for n, v in values.items() if n in types and n not in changed}
    body = tuple(_decided(function.body, known, changed))
    nests = tuple(s for s in body if isinstance(s, Loop))
    place = Place(function.file)
    for statement in body:
        if isinstance(statement, While):
            hint = "write it as for (i = start; i < stop; i++), or move it into such a loop"
            raise place.refused("a while loop around the rest stays on the host", statement.line, hint)
        if isinstance(statement, If) and any(isinstance(s, Loop) for s in walk((statement,))):
            hint = "call the function where the condition is decided"
            raise place.refused("a loop under a condition that data decide", statement.line, hint)
    if not nests:
        raise place.refused("the function has no loop", function.line)
    declared = tuple(s for s in body if isinstance(s, Declare))
    return replace(function, body=body, nests=nests, prologue=declared)


def _changed(function: Function) -> set[str]:
    """Return the scalars whose values change: loop variables, and those that are assigned to."""
    found = set()
    for statement in walk(function.body):
        if isinstance(statement, Loop):
            found.add(statement.variable.name)
        elif isinstance(statement, Assign) and isinstance(statement.target, Name):
            found.add(statement.target.name)
    return found


def _decided(body: tuple[Statement, ...], known: dict[str, Value], changed: set[str]) -> list[Statement]:
    found: list[Statement] = []
    for statement in body:
        match statement:
            case Declare(name=name, value=value, type=kind) if value is not None and name not in changed:
                result = _value(value, known)
                known |= {} if result is None else {name: converted(result, kind)}
                found.append(statement)
            case If(condition=condition, then=then, other=other):
                holds = _value(condition, known)
                if holds is not None:
                    found += _decided(then if holds else other, known, changed)
                    continue
                yes, no = _decided(then, dict(known), changed), _decided(other, dict(known), changed)
                found.append(replace(statement, then=tuple(yes), other=tuple(no)))
            case Loop(body=inner):
                found.append(replace(statement, body=tuple(_decided(inner, dict(known), changed))))
            case _:
                found.append(statement)
    return found


def _value(expression: Expression, known: dict[str, Value]) -> Value | None:
    """Return an expression's value, None if it is not known."""
    try:
        return evaluated(expression, known)
    except (KeyError, OverflowError, ValueError):
        return None
