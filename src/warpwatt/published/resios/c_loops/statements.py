"""From the parser's statements to ours: declarations, assignments, alternatives, normalised loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

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
    Scalar,
    Skip,
    Unary,
    While,
    integer,
    walk,
    walk_expression,
)  # fmt: skip
from warpwatt.published.resios.c_loops.parser import c_ast
from warpwatt.published.resios.c_loops.refuse import line_of
from warpwatt.published.resios.c_loops.scope import View, declared
from warpwatt.published.resios.c_loops.types import INT

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Expression, Statement
    from warpwatt.published.resios.c_loops.scope import Scope

_REFUSED = {
    c_ast.Goto: "goto: where control goes is unknown",
    c_ast.Label: "a label: goto may lead anywhere",
    c_ast.DoWhile: "a do loop: how often it runs is unknown",
    c_ast.Switch: "switch is not supported",
    c_ast.Return: "return from inside the computation",
}
_HINTS = {
    c_ast.DoWhile: "write it as for (i = start; i < stop; i++)",
    c_ast.Switch: "write it with if and else",
}
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_STEPS = {"p++": 1, "++": 1, "p--": -1, "--": -1}


@dataclass(frozen=True, slots=True)
class Body:
    """Reads statements under a scope; ``top`` says that they are the function's own, outside all blocks."""

    scope: Scope
    top: bool = False

    def block(self, node: Any) -> tuple[Statement, ...]:
        """Return the statements of a body in a scope of its own."""
        inner = Body(self.scope.inner())
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
                yield from self._declaration(node, line)
            case c_ast.DeclList(decls=decls):
                for decl in decls:
                    yield from self._declaration(decl, line_of(decl))
            case c_ast.Compound():
                yield from self.block(node)
            case c_ast.Assignment(op="=", rvalue=c_ast.Assignment(op="=") as inner):
                yield from self.statement(inner)
                yield Assign(self._target(node.lvalue, line), "", self._reader.read(inner.lvalue), line)
            case c_ast.Assignment() | c_ast.UnaryOp():
                yield self._assignment(node, line)
            case c_ast.If():
                then, other = self.block(node.iftrue), self.block(node.iffalse)
                yield If(self._reader.read(node.cond), then, other, line)
            case c_ast.For():
                yield self._loop(node, line)
            case c_ast.While():
                yield While(self._reader.read(node.cond), self._whole(self.block(node.stmt)), line)
            case c_ast.Break():
                yield Leave(line)
            case c_ast.Continue():
                yield Skip(line)
            case c_ast.ExprList(exprs=exprs):
                for expr in exprs:
                    yield from self.statement(expr)
            case c_ast.FuncCall():
                self._reader.read(node)
                raise self.scope.place.refused("a call whose result is not used", line)
            case _:
                reason = _REFUSED.get(type(node), f"{type(node).__name__} is not supported")
                raise self.scope.place.refused(reason, line, _HINTS.get(type(node), ""))

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
        if isinstance(node.type, c_ast.PtrDecl):
            self._view(node, line)
            return
        entry = declared(self.scope, node, self._reader.read, parameter=False)
        if isinstance(entry, Array) and self.top and node.init is None:
            self.scope.add(node.name, replace(entry, temporary=True), line)
            return
        if isinstance(entry, Array) and node.init is None:
            own = replace(entry, local=True)
            self.scope.add(node.name, own, line)
            yield DeclareArray(own, line)
            return
        if isinstance(entry, Array):
            hint = "set its elements by assignments"
            raise self.scope.place.refused(f"array {node.name!r} is local and initialised", line, hint)
        assert isinstance(entry, Scalar)
        value = None if node.init is None else self._reader.read(node.init)
        self.scope.add(node.name, entry, line)
        yield Declare(node.name, entry.type, value, line)

    def _view(self, node: Any, line: int) -> None:
        """Remember a local pointer as a part of the array it points into."""
        if node.init is None:
            hint = "declare it where it is set"
            raise self.scope.place.refused(f"where pointer {node.name!r} points to changes", line, hint)
        array, offset = self._reader.address(node.init)
        if len(array.extents) > 1:
            raise self.scope.place.refused(
                f"{node.name!r} points to rows of {array.name!r}", line, "index the array itself"
            )
        view = View(array, offset or integer(0, line), line)
        self.scope.views.append(view)
        self.scope.add(node.name, view, line)

    def _assignment(self, node: Any, line: int) -> Assign:
        if isinstance(node, c_ast.UnaryOp):
            if node.op not in _STEPS:
                raise self.scope.place.refused("a statement without effect", line)
            target, operator, value = node.expr, "+" if _STEPS[node.op] > 0 else "-", integer(1, line)
            return Assign(self._target(target, line), operator, value, line)
        value_ = self._reader.read(node.rvalue)
        return Assign(self._target(node.lvalue, line), node.op[:-1], value_, line)

    def _target(self, node: Any, line: int) -> Name | Element:
        if isinstance(node, c_ast.ID) and isinstance(self.scope.entries.get(node.name), View):
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

    def _loop(self, node: Any, line: int) -> Loop:
        scope = self.scope.inner()
        inner = Body(scope)
        name, start, own = inner._start(node.init, line)
        relation, stop = inner._condition(node.cond, name, line)
        step = inner._step(node.next, name, line)
        if (step > 0) != (relation in ("<", "<=")):
            raise self.scope.place.refused(f"the loop over {name.name!r} runs away from its end", line)
        body = self._whole(inner.block(node.stmt))
        for inside in walk(body):
            if isinstance(inside, Assign) and inside.target == Name(name.name, name.type, inside.target.line):
                raise self.scope.place.refused(
                    f"the loop over {name.name!r} changes its own variable", inside.line
                )
        return Loop(name, start, stop, relation, step, body, line, own)

    def _start(self, node: Any, line: int) -> tuple[Name, Expression, bool]:
        if isinstance(node, c_ast.DeclList) and len(node.decls) == 1 and node.decls[0].init is not None:
            (found,) = self.statement(node.decls[0])
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

    def _condition(self, node: Any, name: Name, line: int) -> tuple[str, Expression]:
        if isinstance(node, c_ast.BinaryOp) and node.op in _MIRRORED:
            left, right = self._reader.read(node.left), self._reader.read(node.right)
            if isinstance(left, Name) and left.name == name.name:
                return node.op, right
            if isinstance(right, Name) and right.name == name.name:
                return _MIRRORED[node.op], left
        hint = f"compare {name.name} with a bound: {name.name} < stop"
        raise self.scope.place.refused("how often this loop runs is not known before it runs", line, hint)

    def _step(self, node: Any, name: Name, line: int) -> int:
        if node is not None:
            step = self._increment(node, name)
            if step:
                return step
        hint = f"step by a constant: {name.name}++ or {name.name} += 2"
        raise self.scope.place.refused(f"the loop over {name.name!r} does not step by a constant", line, hint)

    def _increment(self, node: Any, name: Name) -> int | None:
        if isinstance(node, c_ast.UnaryOp) and node.op in _STEPS and _is(node.expr, name):
            return _STEPS[node.op]
        if not isinstance(node, c_ast.Assignment) or not _is(node.lvalue, name):
            return None
        value = self._reader.read(node.rvalue)
        if node.op in ("+=", "-="):
            step = constant(value)
            return step if step is None or node.op == "+=" else -step
        match value:
            case Binary(operator="+" | "-" as sign, left=Name(name=n), right=right) if n == name.name:
                step = constant(right)
                return step if step is None or sign == "+" else -step
            case Binary(operator="+", left=left, right=Name(name=n)) if n == name.name:
                return constant(left)
        return None


def _ends(body: tuple[Statement, ...]) -> bool:
    """Whether a branch ends in continue."""
    return bool(body) and isinstance(body[-1], Skip)


def _skips(statement: If) -> bool:
    """Whether a condition has a continue in one of its branches, nested conditions included."""
    sides = (*statement.then, *statement.other)
    return any(isinstance(s, Skip) or (isinstance(s, If) and _skips(s)) for s in sides)


def _is(node: Any, name: Name) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name.name


def constant(expression: Expression) -> int | None:
    """Return the value of a constant integer expression, None for any other."""
    match expression:
        case Number(value=value, type=kind) if not kind.floating:
            return int(value)
        case Unary(operator="-", operand=operand):
            value_ = constant(operand)
            return None if value_ is None else -value_
        case Binary(operator="+" | "-" | "*" as sign, left=left, right=right):
            one, two = constant(left), constant(right)
            if one is None or two is None:
                return None
            return {"+": one + two, "-": one - two, "*": one * two}[sign]
    return None


def names_in(expression: Expression) -> set[str]:
    """Return the scalars an expression reads.

    >>> from warpwatt.published.resios.c_loops.types import INT
    >>> sorted(names_in(Binary("+", Name("i", INT, 1), Name("n", INT, 1), INT, 1)))
    ['i', 'n']
    """
    return {part.name for part in walk_expression(expression) if isinstance(part, Name)}
