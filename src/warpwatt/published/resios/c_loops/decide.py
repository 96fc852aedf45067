"""Conditions outside all loops that the sizes decide: the branch that is taken stands in their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.evaluate import converted, evaluated
from warpwatt.published.resios.c_loops.nest import Assign, Declare, If, Loop, Name, While, walk
from warpwatt.published.resios.c_loops.refuse import Place

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.evaluate import Value
    from warpwatt.published.resios.c_loops.nest import Function, Statement


def decided(function: Function, values: Mapping[str, Value]) -> Function:
    """Return the function without conditions outside its loops that scalars of these values decide.

    Raises
    ------
    UnportableError
        If no loop is left.
    """
    types = {s.name: s.type for s in function.scalars}
    set_ = {
        s.target.name for s in walk(function.body) if isinstance(s, Assign) and isinstance(s.target, Name)
    }
    known = {n: converted(v, types[n]) for n, v in values.items() if n in types and n not in set_}
    body = tuple(_decided(function.body, known))
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


def _decided(body: tuple[Statement, ...], known: dict[str, Value]) -> list[Statement]:
    found: list[Statement] = []
    for statement in body:
        if isinstance(statement, Declare) and statement.value is not None:
            _note(statement, known)
        if not isinstance(statement, If):
            found.append(statement)
            continue
        try:
            holds = evaluated(statement.condition, known)
        except KeyError:
            found.append(statement)
            continue
        found += _decided(statement.then if holds else statement.other, known)
    return found


def _note(statement: Declare, known: dict[str, Value]) -> None:
    """Remember the value of a variable that is set once, if it is known."""
    assert statement.value is not None
    try:
        known[statement.name] = converted(evaluated(statement.value, known), statement.type)
    except (KeyError, OverflowError, ValueError):
        known.pop(statement.name, None)
