"""Functions of the file, written in place of their calls: parameters become variables, results one more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warpwatt.published.resios.c_loops.early import Straightener, returns_from_loop
from warpwatt.published.resios.c_loops.expressions import Reader, assigned_names
from warpwatt.published.resios.c_loops.nest import (
    Declare,
    Name,
    Return,
    Scalar,
    integer,
    walk,
)  # fmt: skip
from warpwatt.published.resios.c_loops.parser import c_ast
from warpwatt.published.resios.c_loops.scope import Structure, View
from warpwatt.published.resios.c_loops.statements import Body
from warpwatt.published.resios.c_loops.structures import object_type
from warpwatt.published.resios.c_loops.types import INT

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Expression, Statement
    from warpwatt.published.resios.c_loops.scope import Scope


def inlined(scope: Scope, function: Any, call: Any, line: int) -> Expression | Structure | None:
    """Write a function's statements in front of the statement that calls it; return what it returns.

    Raises
    ------
    UnportableError
        Where the call might not be executed, or the function returns a pointer.
    """
    name = function.decl.name
    if scope.before is None:
        hint = "give the call a statement of its own"
        raise scope.place.refused(f"a call of {name!r} where C may leave it out", line, hint)
    inner = scope.callee()
    found: list[Statement] = [*_parameters(scope, inner, function, call, line)]
    result = _result(inner, function, line, found)
    body = Body(inner, result=result, called=True).block(function.body)
    if any(isinstance(s, Return) for s in walk(body)):
        flag = inner.fresh("returned")
        if returns_from_loop(body):
            found.append(Declare(flag, INT, integer(0, line), line))
        body = Straightener(flag).straight(body)
        found = [_set(s) if isinstance(s, Declare) and s.value is None else s for s in found]
    scope.before += [*found, *body]
    return result


def _set(statement: Declare) -> Declare:
    """Return a declaration of zero: what sets the variable stands under conditions."""
    return replace(statement, value=integer(0, statement.line))


def _parameters(scope: Scope, inner: Scope, function: Any, call: Any, line: int) -> Iterator[Statement]:
    """Yield declarations of what is passed by value; pointers stand for what they point to."""
    listed = function.decl.type.args
    parameters = [p for p in (listed.params if listed else ()) if isinstance(p, c_ast.Decl)]
    given = list(call.args.exprs if call.args else ())
    if len(given) != len(parameters):
        message = f"{function.decl.name!r} takes {len(parameters)} arguments, not {len(given)}"
        raise scope.place.refused(message, line)
    reader, changed = Reader(scope), assigned_names(function)
    for parameter, argument in zip(parameters, given, strict=True):
        kind = scope.scalar_type(parameter.type)
        if isinstance(parameter.type, c_ast.TypeDecl) and kind is not None:
            value = reader.read(argument)
            if isinstance(value, Name) and value.type == kind and parameter.name not in changed:
                inner.entries[parameter.name] = Scalar(value.name, kind, line)
                continue
            own = inner.fresh(parameter.name)
            inner.entries[parameter.name] = Scalar(own, kind, line)
            yield Declare(own, kind, value, line)
        elif object_type(scope, parameter.type) is not None:
            inner.entries[parameter.name] = reader.object(argument)
        else:
            found = reader.address(argument)
            inner.entries[parameter.name] = found
            if isinstance(found, View):
                scope.views.append(found)


def _result(inner: Scope, function: Any, line: int, found: list[Statement]) -> Name | Structure | None:
    """Return the variable for what a function returns, declared among ``found``."""
    kind = function.decl.type.type
    if isinstance(kind, c_ast.PtrDecl):
        raise inner.place.refused(f"{function.decl.name!r} returns a pointer", line, "index the array itself")
    type_ = inner.scalar_type(kind)
    if type_ is not None:
        name = inner.fresh(function.decl.name)
        found.append(Declare(name, type_, None, line))
        return Name(name, type_, line)
    made = object_type(inner, kind)
    if made is None:
        return None
    return made.local(inner, Reader(inner).read, inner.fresh(function.decl.name), line, found)
