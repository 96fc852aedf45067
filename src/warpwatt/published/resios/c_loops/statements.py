"""From the parser's statements to ours: declarations, assignments, alternatives, normalised loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from warpwatt.published.resios.c_loops.counted import STEPS, Counter
from warpwatt.published.resios.c_loops.expressions import Reader
from warpwatt.published.resios.c_loops.nest import (
    Array,
    Assign,
    Binary,
    Declare,
    DeclareArray,
    Element,
    If,
    Leave,
    Loop,
    Name,
    Number,
    Return,
    Scalar,
    Skip,
    Unary,
    While,
    constant,
    integer,
    walk,
)  # fmt: skip
from warpwatt.published.resios.c_loops.parser import c_ast
from warpwatt.published.resios.c_loops.refuse import line_of
from warpwatt.published.resios.c_loops.scope import Row, Rows, Structure, View, declared
from warpwatt.published.resios.c_loops.structures import leaves, object_type
from warpwatt.published.resios.c_loops.switch import cases
from warpwatt.published.resios.c_loops.types import INT

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Expression, Statement
    from warpwatt.published.resios.c_loops.scope import Scope
    from warpwatt.published.resios.c_loops.structures import ObjectType

_REFUSED = {
    c_ast.Goto: "goto: where control goes is unknown",
    c_ast.Label: "a label: goto may lead anywhere",
    c_ast.Return: "return from inside the computation",
}
_WITHOUT_EFFECT = {"assert"}
"""Calls that a kernel leaves out."""


@dataclass(frozen=True, slots=True)
class Body:
    """Reads statements under a scope; ``top`` says that they are the function's own, outside all blocks.

    ``called``: those of a function written in place of its call, whose value goes to ``result``.
    """

    scope: Scope
    top: bool = False
    called: bool = False
    result: Name | Element | Structure | None = None

    def block(self, node: Any) -> tuple[Statement, ...]:
        """Return the statements of a body in a scope of its own."""
        inner = replace(self, scope=self.scope.inner(), top=False)
        items = (node.block_items or ()) if isinstance(node, c_ast.Compound) else (node,)
        return tuple(found for item in items for found in inner.statement(item))

    def statement(self, node: Any) -> Iterator[Statement]:  # noqa: C901, PLR0912 - one case per kind of node
        """Yield what one statement comes to: nothing for empty ones and pragmas.

        Raises
        ------
        UnportableError
            For control flow other than counted loops and if, and for host code.
        """
        line = line_of(node)
        match node:
            case None | c_ast.EmptyStatement() | c_ast.Pragma():
                return
            case c_ast.Decl():
                yield from self._after_calls(self._declaration(node, line))
            case c_ast.DeclList(decls=decls):
                for decl in decls:
                    yield from self._after_calls(self._declaration(decl, line_of(decl)))
            case c_ast.Compound():
                yield from self.block(node)
            case c_ast.Assignment(op="=", rvalue=c_ast.Assignment(op="=") as inner):
                yield from self.statement(inner)
                yield Assign(self._target(node.lvalue, line), "", self._reader.read(inner.lvalue), line)
            case c_ast.Assignment() | c_ast.UnaryOp():
                yield from self._after_calls(self._assignment(node, line))
            case c_ast.If(cond=condition):
                test = self._reader.read(condition)
                yield from self._called()
                yield If(test, self.block(node.iftrue), self.block(node.iffalse), line)
            case c_ast.For():
                yield from self._loop(node, line)
            case c_ast.While(cond=condition):
                test = Reader(self.scope.guarded()).read(condition)
                yield While(test, self._whole(self.block(node.stmt)), line)
            case c_ast.DoWhile():
                yield self._do(node, line)
            case c_ast.Switch():
                yield from self._switch(node, line)
            case c_ast.Break():
                yield Leave(line)
            case c_ast.Continue():
                yield Skip(line)
            case c_ast.Return() if self.called:
                yield from self._return(node, line)
            case c_ast.ExprList(exprs=exprs):
                for expr in exprs:
                    yield from self.statement(expr)
            case c_ast.FuncCall():
                yield from self._call(node, line)
            case c_ast.Cast(to_type=c_ast.Typename(type=c_ast.TypeDecl())):
                self._reader.read(node.expr)
            case _:
                reason = _REFUSED.get(type(node), f"{type(node).__name__} is not supported")
                raise self.scope.place.refused(reason, line)

    def _called(self) -> list[Statement]:
        """Return what functions called by the expression just read do before it."""
        before = self.scope.before
        if not before:
            return []
        found = list(before)
        before.clear()
        return found

    def _after_calls(self, statements: Iterator[Statement]) -> list[Statement]:
        """Return statements with what the functions they call do in front of them."""
        found = list(statements)
        return [*self._called(), *found]

    def _call(self, node: Any, line: int) -> Iterator[Statement]:
        """Yield what a function does whose value, if it has one, is not used."""
        name = node.name.name if isinstance(node.name, c_ast.ID) else ""
        if name in _WITHOUT_EFFECT:
            return
        if name not in self.scope.functions or self.scope.inline is None:
            self._reader.read(node)
            raise self.scope.place.refused("a call whose result is not used", line)
        self.scope.inline(self.scope, self.scope.functions[name], node, line)
        yield from self._called()

    def _return(self, node: Any, line: int) -> Iterator[Statement]:
        if node.expr is not None and isinstance(self.result, Structure):
            yield from self._after_calls(self._copies(self.result, node.expr, line))
        elif node.expr is not None and isinstance(self.result, (Name, Element)):
            value = self._reader.read(node.expr)
            yield from self._called()
            yield Assign(replace(self.result, line=line), "", value, line)
        yield Return(line)

    def _do(self, node: Any, line: int) -> While:
        """Return a do loop: one without an end of its own, left where the condition fails."""
        body = self.block(node.stmt)
        if any(isinstance(s, Skip) for s in walk(body)):
            raise self.scope.place.refused("continue in a do loop", line, "write it as a while loop")
        test = Reader(self.scope.guarded()).read(node.cond)
        leave = If(Unary("!", test, INT, line), (Leave(line),), (), line)
        return While(integer(1, line), (*body, leave), line)

    def _switch(self, node: Any, line: int) -> Iterator[Statement]:
        """Yield a switch as conditions one after the other."""
        chosen = self._reader.read(node.cond)
        yield from self._called()
        found: tuple[Statement, ...] = ()
        for labels, items in reversed(list(cases(node, self.scope.place))):
            inner = replace(self, scope=self.scope.inner(), top=False)
            body = tuple(s for item in items for s in inner.statement(item))
            if any(isinstance(s, Leave) for s in _own(body)):
                hint = "make it the last statement of its case"
                raise self.scope.place.refused("break in the middle of a case", line, hint)
            if None in labels:
                found = body
                continue
            tests: list[Expression] = [
                Binary("==", chosen, self._reader.read(one), INT, line) for one in labels
            ]
            found = (If(reduce(_either, tests[1:], tests[0]), body, found, line),)
        yield from found

    def _whole(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        """Return a loop's body with what follows a continue under the other side of its condition."""
        found: list[Statement] = []
        for number, statement in enumerate(body):
            if isinstance(statement, Skip):
                return tuple(found)
            if isinstance(statement, If) and _skips(statement):
                rest = body[number + 1 :]
                then = self._whole((*statement.then, *(() if _ends(statement.then) else rest)))
                other = self._whole((*statement.other, *(() if _ends(statement.other) else rest)))
                if not _ends(statement.then) and not _ends(statement.other):
                    hint = "make it the last statement of its branch"
                    raise self.scope.place.refused("continue in the middle of a branch", statement.line, hint)
                if not then:
                    negated = Unary("!", statement.condition, INT, statement.line)
                    found.append(replace(statement, condition=negated, then=other, other=()))
                else:
                    found.append(replace(statement, then=then, other=other))
                return tuple(found)
            found.append(statement)
        return tuple(found)

    @property
    def _reader(self) -> Reader:
        return Reader(self.scope)

    def _declaration(self, node: Any, line: int) -> Iterator[Statement]:
        structure = object_type(self.scope, node.type)
        if structure is not None and structure.extents in ((), (None,)):
            yield from self._structure(node, structure, line)
            return
        if isinstance(node.type, c_ast.PtrDecl):
            self._view(node, line)
            return
        entry = declared(self.scope, node, self._reader.read, parameter=False)
        if isinstance(entry, Array) and self.top and node.init is None:
            self.scope.entries[node.name] = replace(entry, temporary=True)
            return
        if isinstance(entry, Array) and node.init is None:
            own = replace(entry, local=True)
            self.scope.entries[node.name] = own
            yield DeclareArray(own, line)
            return
        if isinstance(entry, Array):
            yield from self._initialised(entry, node, line)
            return
        assert isinstance(entry, Scalar)
        value = None if node.init is None else self._reader.read(node.init)
        known = None if value is None or "const" not in node.quals else constant(value)
        if known is not None and not entry.type.floating:
            self.scope.entries[node.name] = Number(str(known), known, entry.type, line)
            return
        self.scope.entries[node.name] = entry
        yield Declare(entry.name, entry.type, value, line)

    def _initialised(self, entry: Array, node: Any, line: int) -> Iterator[Statement]:
        """Yield a local array and assignments of its first values; those left out are zero."""
        values = node.init.exprs if isinstance(node.init, c_ast.InitList) else None
        if values is None or len(entry.extents) != 1:
            hint = "set its elements by assignments"
            raise self.scope.place.refused(f"array {node.name!r} is local and initialised", line, hint)
        known = constant(entry.extents[0]) if entry.extents[0] is not None else len(values)
        if known is None or self.top:
            hint = "set its elements by assignments"
            raise self.scope.place.refused(f"array {node.name!r} is local and initialised", line, hint)
        own = replace(entry, extents=(integer(known, line),), local=True)
        read = [self._reader.read(value) for value in values]
        self.scope.entries[node.name] = own
        yield DeclareArray(own, line)
        for number in range(known):
            value = read[number] if number < len(read) else integer(0, line)
            yield Assign(Element(own, (integer(number, line),), line), "", value, line)

    def _structure(self, node: Any, kind: ObjectType, line: int) -> Iterator[Statement]:
        """Yield a local structure's members and their values; a pointer to one stands for that."""
        if kind.extents:
            if node.init is None:
                raise self.scope.place.refused(
                    f"where pointer {node.name!r} points to changes", line, "declare it where it is set"
                )
            self.scope.entries[node.name] = self._reader.object(node.init)
            return
        found: list[Statement] = []
        name = self.scope.fresh(node.name) if self.scope.called else node.name
        made = kind.local(self.scope, self._reader.read, name, line, found)
        yield from found
        if node.init is not None:
            yield from self._copies(made, node.init, line)
        self.scope.entries[node.name] = made

    def _copies(self, target: Structure | Row, node: Any, line: int) -> Iterator[Statement]:
        """Yield assignments of all members of a structure."""
        if isinstance(node, c_ast.CompoundLiteral):
            node = node.init
        places = list(leaves(target, line))
        if isinstance(node, c_ast.InitList):
            given = [self._reader.read(one) for one in node.exprs]
            rest = [integer(0, line)] * (len(places) - len(given))
            values: list[Expression] = [*given, *rest]
        else:
            source = self._reader.object(node)
            if isinstance(source, Rows):
                raise self.scope.place.refused("an array of structures is assigned", line)
            values = [*leaves(source, line)]
        for place, value in zip(places, values, strict=True):
            yield Assign(place, "", value, line)

    def _view(self, node: Any, line: int) -> None:
        """Remember a local pointer as a part of the array it points into."""
        if node.init is None:
            hint = "declare it where it is set"
            raise self.scope.place.refused(f"where pointer {node.name!r} points to changes", line, hint)
        found = self._reader.address(node.init)
        view = found if isinstance(found, View) else View(found, (), None, line)
        self.scope.views.append(view)
        self.scope.entries[node.name] = view

    def _assignment(self, node: Any, line: int) -> Iterator[Statement]:
        if isinstance(node, c_ast.UnaryOp):
            if node.op not in STEPS:
                raise self.scope.place.refused("a statement without effect", line)
            target, operator, value = node.expr, "+" if STEPS[node.op] > 0 else "-", integer(1, line)
            yield Assign(self._target(target, line), operator, value, line)
            return
        whole = self._whole_structure(node)
        if whole is not None:
            yield from self._copies(whole, node.rvalue, line)
            return
        target_ = self._target(node.lvalue, line)
        value_ = self._reader.read(node.rvalue)
        yield Assign(target_, node.op[:-1], value_, line)

    def _whole_structure(self, node: Any) -> Structure | Row | None:
        """Return the structure that an assignment sets as a whole, None if it sets a number."""
        target = node.lvalue
        while isinstance(target, (c_ast.ArrayRef, c_ast.UnaryOp)):
            target = target.name if isinstance(target, c_ast.ArrayRef) else target.expr
        if node.op != "=" or not isinstance(target, (c_ast.ID, c_ast.StructRef)):
            return None
        known = target
        while isinstance(known, (c_ast.StructRef, c_ast.ArrayRef)):
            known = known.name
        owner = self.scope.entries.get(known.name) if isinstance(known, c_ast.ID) else None
        if not isinstance(owner, (Structure, Rows, Row)):
            return None
        found = self._reader.entry(node.lvalue)
        return found if isinstance(found, (Structure, Row)) else None

    def _target(self, node: Any, line: int) -> Name | Element:
        if isinstance(node, c_ast.ID) and isinstance(self.scope.entries.get(node.name), (Array, View)):
            raise self.scope.place.refused(
                f"where pointer {node.name!r} points to changes", line, "index the array itself"
            )
        target = self._reader.read(node)
        if isinstance(target, Element) and not target.array.writable:
            raise self.scope.place.refused(f"{target.array.name!r} points to const and is written", line)
        if not isinstance(target, (Name, Element)):
            raise self.scope.place.refused(
                "an assignment to what is neither a scalar nor an array element", line
            )
        return target

    def _loop(self, node: Any, line: int) -> Iterator[Statement]:
        inner = replace(self, scope=self.scope.inner(), top=False)
        name, start, own = inner._start(node.init, line)
        yield from self._called()
        head = Counter(inner.scope.guarded(), name)
        relation, stop = head.condition(node.cond, line)
        step = head.step(node.next, line)
        if (step > 0) != (relation in ("<", "<=")):
            raise self.scope.place.refused(f"the loop over {name.name!r} runs away from its end", line)
        body = self._whole(inner.block(node.stmt))
        for inside in walk(body):
            if isinstance(inside, Assign) and inside.target == Name(name.name, name.type, inside.target.line):
                raise self.scope.place.refused(
                    f"the loop over {name.name!r} changes its own variable", inside.line
                )
        yield Loop(name, start, stop, relation, step, body, line, own)

    def _start(self, node: Any, line: int) -> tuple[Name, Expression, bool]:
        if isinstance(node, c_ast.DeclList) and len(node.decls) == 1 and node.decls[0].init is not None:
            (found,) = self._declaration(node.decls[0], line)
            assert isinstance(found, Declare)
            assert found.value is not None
            return self._integer(Name(found.name, found.type, line)), found.value, True
        if isinstance(node, c_ast.Assignment) and node.op == "=" and isinstance(node.lvalue, c_ast.ID):
            name = self._reader.read(node.lvalue)
            assert isinstance(name, Name)
            return self._integer(name), self._reader.read(node.rvalue), False
        raise self.scope.place.refused(
            "a loop that does not start by setting one variable", line, "for (i = 0; ...)"
        )

    def _integer(self, name: Name) -> Name:
        if name.type.floating:
            raise self.scope.place.refused(f"loop variable {name.name!r} is not an integer", name.line)
        return name


def _ends(body: tuple[Statement, ...]) -> bool:
    """Whether a branch ends in continue."""
    return bool(body) and isinstance(body[-1], Skip)


def _skips(statement: If) -> bool:
    """Whether a condition has a continue in one of its branches, nested conditions included."""
    sides = (*statement.then, *statement.other)
    return any(isinstance(s, Skip) or (isinstance(s, If) and _skips(s)) for s in sides)


def _own(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield statements and those under their conditions, inner loops left out."""
    for statement in body:
        yield statement
        if isinstance(statement, If):
            yield from _own((*statement.then, *statement.other))


def _either(left: Expression, right: Expression) -> Expression:
    return Binary("||", left, right, INT, left.line)
