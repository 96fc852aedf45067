"""``read_function``: from a C file to the loop nests of one of its functions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from warpwatt.core.errors import KernelSelectionError, ParseError
from warpwatt.frontend.options import CompileOptions
from warpwatt.published.resios.c_loops.early import Straightener, returns_from_loop
from warpwatt.published.resios.c_loops.expressions import Reader, assigned_names
from warpwatt.published.resios.c_loops.inline import inlined
from warpwatt.published.resios.c_loops.nest import (
    Array,
    Assign,
    Declare,
    Element,
    Function,
    Loop,
    Name,
    Return,
    Scalar,
    While,
    constant,
    expressions,
    integer,
    names_in,
    walk,
    walk_expression,
)  # fmt: skip
from warpwatt.published.resios.c_loops.parser import c_ast, c_parser
from warpwatt.published.resios.c_loops.preprocess import preprocessed
from warpwatt.published.resios.c_loops.refuse import Place, line_of
from warpwatt.published.resios.c_loops.scope import Scope, Structure, declared
from warpwatt.published.resios.c_loops.statements import Body
from warpwatt.published.resios.c_loops.structures import object_type, parameter
from warpwatt.published.resios.c_loops.types import INT

if TYPE_CHECKING:
    from warpwatt.frontend.compiled import Source
    from warpwatt.published.resios.c_loops.nest import Expression, Statement

_WHERE = re.compile(r"^(.*?):(?:(\d+):)?(?:\d+:)? (.*)$", re.DOTALL)


def read_function(source: Source, name: str = "", options: CompileOptions | None = None) -> Function:
    """Return the loop nests of one function.

    Parameters
    ----------
    name
        The function; empty: the only one of the file that has loops and that no other calls, ``main`` aside.

    Raises
    ------
    ParseError, CompileError
        If it is no C.
    KernelSelectionError
        If no function, or no single one, fits.
    UnportableError
        If the function is not made of counted loops over scalars and arrays.
    """
    options = options or CompileOptions()
    unit = _parsed(preprocessed(source, options), source.name)
    functions = {f.decl.name: f for f in unit.ext if isinstance(f, c_ast.FuncDef)}
    place = Place(source.name)
    chosen = _chosen(functions, name, place)
    _refuse_recursion(functions, chosen.decl.name, place)
    return _Reading(place, unit, chosen).function()


def _parsed(text: str, file: str) -> Any:
    try:
        return c_parser.CParser().parse(text, file)
    except c_parser.ParseError as error:
        where = _WHERE.match(str(error))
        if where is None:
            raise ParseError(f"no C99: {error}", file=file) from None
        raise ParseError(f"no C99: {where[3]}", file=where[1], line=int(where[2] or 0) or None) from None
    except RecursionError:
        raise ParseError("nested too deeply", file=file) from None


def _chosen(functions: dict[str, Any], name: str, place: Place) -> Any:
    if name in functions:
        return functions[name]
    candidates = [n for n, f in functions.items() if n != "main" and _any(f, c_ast.For)]
    if name:
        candidates = [n for n in candidates if name in n]
    elif len(candidates) > 1:
        called = {c for f in functions.values() if f.decl.name != "main" for c in _called(f)}
        candidates = [n for n in candidates if n not in called]
    if len(candidates) == 1:
        return functions[candidates[0]]
    wanted = f"no function {name!r}" if name else "several functions have loops"
    message = (
        wanted if candidates else (f"no function {name!r} with a loop" if name else "no function has a loop")
    )
    known = "\n".join(f"{n} (line {line_of(functions[n].decl)})" for n in candidates or functions)
    raise KernelSelectionError(message, file=place.file, details=known, hint="--function NAME")


def _refuse_recursion(functions: dict[str, Any], name: str, place: Place) -> None:
    """Refuse a function that calls itself, directly or through others of the file."""
    reached, waiting = set(), [name]
    while waiting:
        for callee in _called(functions[waiting.pop()]):
            if callee == name:
                line = line_of(functions[name].decl)
                raise place.refused(
                    f"{name!r} calls itself: recursion has no counterpart in a loop nest", line
                )
            if callee in functions and callee not in reached:
                reached.add(callee)
                waiting.append(callee)


def _called(node: Any) -> set[str]:
    found = _all(node, c_ast.FuncCall)
    return {call.name.name for call in found if isinstance(call.name, c_ast.ID)}


def _all(node: Any, kind: type | tuple[type, ...]) -> list[Any]:
    found = [node] if isinstance(node, kind) else []
    return found + [inside for _, child in node.children() for inside in _all(child, kind)]


def _any(node: Any, kind: type) -> bool:
    return bool(_all(node, kind))


@dataclass(frozen=True, slots=True)
class _Reading:
    """One function being read."""

    place: Place
    unit: Any
    node: Any

    def function(self) -> Function:
        scope = self._globals()
        parameters = self._parameters(scope)
        statements = self._statements(scope)
        used = _used(statements)
        members = {m.name for o in scope.objects for m in o.members}
        nests = tuple(s for s in statements if isinstance(s, Loop))
        prologue = self._prologue(statements)
        self._check_views(scope, statements)
        every = [*scope.entries.values(), *parameters, *scope.made, *_values(scope)]
        arrays = {
            a.name: a
            for a in every
            if isinstance(a, Array) and (a.name in used or (a.parameter and a.name not in members))
        }
        scalars = {s.name: s for s in every if isinstance(s, Scalar) and (s.parameter or s.name in used)}
        locals_ = {s.name for s in walk(statements) if isinstance(s, Declare)}
        return Function(
            name=self.node.decl.name,
            file=self.place.file,
            line=line_of(self.node.decl),
            arrays=tuple(arrays.values()),
            scalars=tuple(s for n, s in scalars.items() if n not in locals_),
            order=tuple(p.name for p in self._nodes()),
            prologue=prologue,
            nests=nests,
            body=statements,
            objects=tuple(o for o in scope.objects if o.parameter or {m.name for m in o.members} & used),
            returned=scope.returned,
        )

    def _globals(self) -> Scope:
        typedefs = {t.name: t.type for t in self.unit.ext if isinstance(t, c_ast.Typedef)}
        functions = {f.decl.name: f for f in self.unit.ext if isinstance(f, c_ast.FuncDef)}
        scope = Scope(self.place, typedefs, functions=functions, inline=inlined, tags=_tags(self.unit))
        scope.taken |= {n.name for n in _all(self.unit, (c_ast.ID, c_ast.Decl)) if n.name}
        mine = [functions[n] for n in _reached(functions, self.node.decl.name)]
        scope.subscripted |= {r for f in mine for r in _subscripted(f)}
        changed = {name for f in mine for name in assigned_names(f)}
        scope.assigned |= {m for f in mine for m in _assigned_members(f)}
        for node in _all(self.unit, c_ast.Enum):
            _enumerators(scope, node)
        reader = Reader(scope)
        for node in self.unit.ext:
            structure = object_type(scope, node.type) if isinstance(node, c_ast.Decl) else None
            if structure is not None and not isinstance(node.type, c_ast.FuncDecl):
                if structure.extents != (None,):
                    scope.entries[node.name] = parameter(scope, node, structure, reader.read, given=False)
                continue
            data = isinstance(node, c_ast.Decl) and isinstance(node.type, (c_ast.TypeDecl, c_ast.ArrayDecl))
            if data and scope.scalar_type(_innermost(node.type)) is not None:
                entry = declared(scope, node, reader.read, parameter=False)
                scope.entries[node.name] = entry
                if isinstance(entry, Scalar) and node.name in changed:
                    scope.entries[node.name] = self._in_memory(scope, entry)
        scope.outermost |= scope.entries
        return scope

    def _in_memory(self, scope: Scope, one: Scalar) -> Element:
        """Return the place in device memory of a global that the function sets."""
        array = Array(one.name, one.type, (integer(1),), True, True, parameter=False, line=one.line)
        scope.made.append(array)
        return Element(array, (integer(0, one.line),), one.line)

    def _nodes(self) -> list[Any]:
        """Return the declarations of the parameters."""
        listed = self.node.decl.type.args
        return [p for p in (listed.params if listed else ()) if isinstance(p, c_ast.Decl)]

    def _parameters(self, scope: Scope) -> list[Array | Scalar]:
        """Declare scalars first: shapes of arrays use them, wherever they stand."""
        nodes = self._nodes()
        found: dict[str, Array | Scalar] = {}
        for plain in (True, False):
            for node in nodes:
                structure = object_type(scope, node.type)
                if structure is not None:
                    if plain:
                        read = Reader(scope).read
                        scope.entries[node.name] = parameter(scope, node, structure, read, given=True)
                elif isinstance(node.type, c_ast.TypeDecl) is plain:
                    entry = declared(scope, node, Reader(scope).read, parameter=True)
                    assert isinstance(entry, (Array, Scalar))
                    scope.entries[node.name] = found[node.name] = entry
        return [found[node.name] for node in nodes if node.name in found]

    def _statements(self, scope: Scope) -> tuple[Statement, ...]:
        items = list(self.node.body.block_items or ())
        last = items[-1] if items and isinstance(items[-1], c_ast.Return) else None
        if last is not None and isinstance(last.expr, c_ast.Constant):
            items.pop()
        body = Body(scope, top=True, called=True, result=self._result(scope, items))
        found = tuple(statement for item in items for statement in body.statement(item))
        if not any(isinstance(s, Return) for s in walk(found)):
            return found
        flag = scope.fresh("returned")
        start = [Declare(flag, INT, integer(0), 0)] if returns_from_loop(found) else []
        return (*start, *Straightener(flag).straight(found))

    def _result(self, scope: Scope, items: list[Any]) -> Element | None:
        """Return the place in device memory for what the function returns, if it returns anything."""
        kind = scope.scalar_type(self.node.decl.type.type)
        if not any(r.expr is not None for item in items for r in _all(item, c_ast.Return)):
            return None
        if kind is None:
            hint = "return a number, or nothing"
            raise self.place.refused(
                "the function returns a pointer or a structure", line_of(self.node.decl), hint
            )
        line = line_of(self.node.decl)
        array = Array(scope.unused("result"), kind, (integer(1),), True, True, parameter=False, line=line)
        scope.made.append(array)
        scope.returned = array.name
        return Element(array, (integer(0, line),), line)

    def _prologue(self, statements: tuple[Statement, ...]) -> tuple[Declare, ...]:
        if not any(isinstance(s, (Loop, While)) for s in walk(statements)):
            raise self.place.refused("the function has no loop", line_of(self.node.decl))
        written = _written(statements)
        for statement in walk(statements):
            self._check_shape(statement, written)
        return tuple(s for s in statements if isinstance(s, Declare))

    def _check_views(self, scope: Scope, statements: tuple[Statement, ...]) -> None:
        """Refuse local pointers whose place changes after they were set."""
        written = _written(statements)
        for view in scope.views:
            read = {n for e in (*view.prefix, view.offset) if e is not None for n in names_in(e)}
            changed = sorted(read & written)
            if changed:
                message = f"a pointer into {view.array.name!r} depends on {changed[0]!r}, which changes"
                raise self.place.refused(message, view.line, "index the array itself")

    def _check_shape(self, statement: Statement, written: set[str]) -> None:
        """Refuse bounds that the loops themselves change."""
        if isinstance(statement, Loop):
            for bound in (statement.start, statement.stop):
                changed = sorted(names_in(bound) & written)
                if changed:
                    message = (
                        f"a bound of the loop over {statement.variable.name!r} depends on {changed[0]!r}"
                    )
                    hint = f"give {changed[0]!r} one value, with ?: in place of later assignments"
                    message += ", which the loops change: not affine"
                    raise self.place.refused(message, statement.line, hint)


def _reached(functions: dict[str, Any], name: str) -> set[str]:
    """Return a function and all that it calls, directly or through others of the file."""
    reached, waiting = {name}, [name]
    while waiting:
        for callee in _called(functions[waiting.pop()]):
            if callee in functions and callee not in reached:
                reached.add(callee)
                waiting.append(callee)
    return reached


def _subscripted(function: Any) -> set[str]:
    """Return the names that a function subscripts, or whose addresses it computes with."""
    found = {r.name.name for r in _all(function, c_ast.ArrayRef) if isinstance(r.name, c_ast.ID)}
    sums = [o for o in _all(function, c_ast.BinaryOp) if o.op == "+" and isinstance(o.left, c_ast.ID)]
    return found | {o.left.name for o in sums}


def _assigned_members(function: Any) -> set[str]:
    """Return the members of structures that a function assigns to."""
    targets = [a.lvalue for a in _all(function, c_ast.Assignment)]
    targets += [u.expr for u in _all(function, c_ast.UnaryOp) if u.op in ("++", "--", "p++", "p--", "&")]
    return {t.field.name for t in targets if isinstance(t, c_ast.StructRef)}


def _tags(unit: Any) -> dict[str, Any]:
    """Return the structures of a file by their tags."""
    return {s.name: s for s in _all(unit, c_ast.Struct) if s.name and s.decls is not None}


def _enumerators(scope: Scope, node: Any) -> None:
    """Declare the constants of an enumeration."""
    value = -1
    for one in node.values.enumerators if node.values is not None else ():
        known = None if one.value is None else constant(Reader(scope).read(one.value))
        value = value + 1 if known is None else known
        scope.entries[one.name] = integer(value, line_of(one))


def _values(scope: Scope) -> list[Scalar]:
    """Return the scalar members of the caller's structures."""
    found: list[Scalar] = []
    waiting = [e for e in scope.entries.values() if isinstance(e, Structure)]
    while waiting:
        for member in waiting.pop().members.values():
            if isinstance(member, Structure):
                waiting.append(member)
            elif isinstance(member, Scalar):
                found.append(replace(member, parameter=False))
    return found


def _innermost(kind: Any) -> Any:
    while isinstance(kind, c_ast.ArrayDecl):
        kind = kind.type
    return kind


def _written(statements: tuple[Statement, ...]) -> set[str]:
    """Return the scalars that statements assign to; loop variables and declarations aside."""
    return {s.target.name for s in walk(statements) if isinstance(s, Assign) and isinstance(s.target, Name)}


def _used(statements: Iterable[Statement]) -> set[str]:
    """Return the names of arrays and scalars that statements touch, shapes of arrays included."""
    found: set[str] = set()
    waiting: list[Expression] = [e for s in walk(tuple(statements)) for e in expressions(s)]
    while waiting:
        for part in walk_expression(waiting.pop()):
            if isinstance(part, Name):
                found.add(part.name)
            elif isinstance(part, Element) and part.array.name not in found:
                found.add(part.array.name)
                waiting += [extent for extent in part.array.extents if extent is not None]
    return found
