"""From the parser's expressions to ours, typed as C types them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from warpwatt.published.resios.c_loops import types
from warpwatt.published.resios.c_loops.nest import (
    Array,
    Binary,
    Call,
    Cast,
    Element,
    Name,
    Number,
    Scalar,
    Select,
    Unary,
    integer,
)  # fmt: skip
from warpwatt.published.resios.c_loops.parser import c_ast, c_generator
from warpwatt.published.resios.c_loops.refuse import line_of
from warpwatt.published.resios.c_loops.scope import Row, Rows, Structure, View
from warpwatt.published.resios.c_loops.structures import object_type

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Expression
    from warpwatt.published.resios.c_loops.scope import Entry, Scope
    from warpwatt.published.resios.c_loops.types import CType

_DOUBLE_FUNCTIONS = [
    "sqrt", "exp", "exp2", "log", "log2", "log10", "pow", "sin", "cos", "tan", "asin", "acos", "atan",
    "atan2", "sinh", "cosh", "tanh", "fabs", "fmin", "fmax", "floor", "ceil", "trunc", "round", "rint",
    "fmod", "cbrt", "hypot", "erf", "expm1", "log1p", "fma",
]  # fmt: skip
FUNCTIONS: Mapping[str, CType] = {
    **dict.fromkeys(_DOUBLE_FUNCTIONS, types.DOUBLE),
    **{f"{name}f": types.FLOAT for name in _DOUBLE_FUNCTIONS},
    "abs": types.INT,
    "labs": types.LONG,
}
"""Functions of the C library that a kernel has too, with the type of their result."""
_COMPARING = {"<", ">", "<=", ">=", "==", "!=", "&&", "||"}
_SHIFTS = {"<<", ">>"}
_INTEGER_SUFFIX = re.compile(r"[uUlL]+$")
_SIDE_EFFECTS = (c_ast.Assignment, c_ast.ExprList)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads expressions under a scope."""

    scope: Scope

    def read(self, node: Any) -> Expression:  # noqa: PLR0911 - one per kind of node
        """Return an expression.

        Raises
        ------
        UnportableError
            For anything that is not plain arithmetic on scalars and array elements.
        """
        line = line_of(node)
        match node:
            case c_ast.Constant():
                return self._constant(node, line)
            case c_ast.ID() | c_ast.StructRef():
                return self._scalar(node, line)
            case c_ast.ArrayRef():
                return self._element(node, line)
            case c_ast.BinaryOp():
                return self._binary(node, line)
            case c_ast.UnaryOp():
                return self._unary(node, line)
            case c_ast.TernaryOp():
                guarded = Reader(self.scope.guarded())
                then, other = guarded.read(node.iftrue), guarded.read(node.iffalse)
                return Select(self.read(node.cond), then, other, types.common(then.type, other.type), line)
            case c_ast.Cast():
                return self._cast(node, line)
            case c_ast.FuncCall():
                return self._call(node, line)
        if isinstance(node, _SIDE_EFFECTS):
            raise self.scope.place.refused(
                "an assignment inside an expression", line, "give it a statement of its own"
            )
        raise self.scope.place.refused(
            f"{type(node).__name__} is no arithmetic on scalars and array elements", line
        )

    def _constant(self, node: Any, line: int) -> Number:
        text = node.value
        if node.type == "char":
            return Number(text, float(ord(text[1:-1].encode().decode("unicode_escape"))), types.INT, line)
        if "float" in node.type or "double" in node.type:
            single = text[-1] in "fF" and not text.lower().startswith("0x")
            digits = text.rstrip("fFlL")
            value = float.fromhex(digits) if digits.lower().startswith("0x") else float(digits)
            return Number(text, value, types.FLOAT if single else types.DOUBLE, line)
        if "int" not in node.type:
            raise self.scope.place.refused(f"{node.type} {text} in a computation", line)
        suffix = _INTEGER_SUFFIX.search(text)
        letters = suffix[0].lower() if suffix else ""
        digits = _INTEGER_SUFFIX.sub("", text)
        value = int(digits, 8) if re.fullmatch(r"0[0-7]+", digits) else int(digits, 0)
        words = ["unsigned"] * ("u" in letters) + ["long"] * ("l" in letters or value >= 2**31) + ["int"]
        found = types.of_words(words)
        assert found is not None
        return Number(text, value, found, line)

    def _scalar(self, node: Any, line: int) -> Expression:
        """Return a variable, an enumerator or a scalar member."""
        entry = self.entry(node)
        match entry:
            case Scalar(name=name, type=kind):
                return Name(name, kind, line)
            case Number() | Element():
                return replace(entry, line=line)
        text = _text(node)
        hint = f"write which element: {text}[...]"
        raise self.scope.place.refused(f"the address of {text!r} in a computation", line, hint)

    def entry(self, node: Any) -> Entry:
        """Return what a name or a member of a structure is.

        Raises
        ------
        UnportableError
            If it is not declared, or of a type that no kernel has.
        """
        line = line_of(node)
        match node:
            case c_ast.ID(name=name):
                found = self.scope.entries.get(name)
                if found is None:
                    raise self.scope.place.refused(f"{name!r} is not declared", line)
                return found
            case c_ast.StructRef(name=owner, field=c_ast.ID(name=name)):
                return self._member(self.entry(owner), name, line)
            case c_ast.ArrayRef(name=owner, subscript=subscript):
                return _at(self.entry(owner), self.read(subscript), line) or self._element(node, line)
        found = self._structure(node, line)
        if found is not None:
            return found
        raise self.scope.place.refused("where this pointer points to is unknown", line, "index a named array")

    def _structure(self, node: Any, line: int) -> Structure | Rows | Row | None:
        """Return the structure a pointer expression points to, or that a function returns."""
        found: Entry | None = None
        match node:
            case c_ast.UnaryOp(op="*", expr=owner):
                found = _at(self.entry(owner), integer(0, line), line)
            case c_ast.UnaryOp(op="&", expr=owner):
                found = self.entry(owner)
            case c_ast.BinaryOp(op="+", left=owner, right=offset):
                found = _at(self.entry(owner), self.read(offset), line)
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name in self.scope.functions:
                made = self._called(node, line)
                found = made if isinstance(made, Structure) else None
        return found if isinstance(found, (Structure, Rows, Row)) else None

    def _member(self, owner: Entry, name: str, line: int) -> Entry:
        found: Entry | None = None
        match owner:
            case Structure(members=members):
                found = members.get(name)
            case Rows():
                return self._member(Row(owner, integer(0, line), line), name, line)
            case Row(rows=rows, index=index):
                member = rows.members.get(name)
                if isinstance(member, Rows):
                    return Row(member, index, line)
                if member is not None and len(member.extents) == 1:
                    return Element(member, (index,), line)
                found = None if member is None else View(member, (index,), None, line)
        if found is None:
            hint = "members that are scalars, arrays of them, or pointers to them are read"
            raise self.scope.place.refused(f"member {name!r} has no counterpart in a kernel", line, hint)
        return found

    def object(self, node: Any) -> Structure | Rows | Row:
        """Return the structure, or array of structures, that an expression is or points to.

        Raises
        ------
        UnportableError
            If it is none.
        """
        found = self.entry(node)
        if not isinstance(found, (Structure, Rows, Row)):
            raise self.scope.place.refused("a structure is expected here", line_of(node))
        return found

    def _element(self, node: Any, line: int) -> Element:
        subscripts = []
        while isinstance(node, c_ast.ArrayRef):
            subscripts.append(self.read(node.subscript))
            node = node.name
        subscripts.reverse()
        found = self.address(node)
        if isinstance(found, Array):
            return self._checked(found, tuple(subscripts), line)
        first = subscripts[0] if found.offset is None else _sum(found.offset, subscripts[0], line)
        return self._checked(found.array, (*found.prefix, first, *subscripts[1:]), line)

    def _checked(self, array: Array, subscripts: tuple[Expression, ...], line: int) -> Element:
        if len(subscripts) != len(array.extents):
            wanted = f"{len(array.extents)} subscript{'s' * (len(array.extents) > 1)}"
            raise self.scope.place.refused(f"{array.name!r} takes {wanted}, not {len(subscripts)}", line)
        if any(subscript.type.floating for subscript in subscripts):
            raise self.scope.place.refused(f"a subscript of {array.name!r} is not an integer", line)
        return Element(array, subscripts, line)

    def address(self, node: Any) -> Array | View:
        """Return the array, or the part of one, that a pointer expression points into.

        Raises
        ------
        UnportableError
            If nobody can tell.
        """
        line = line_of(node)
        match node:
            case c_ast.ID() | c_ast.StructRef():
                entry = self.entry(node)
                if isinstance(entry, (Array, View)):
                    return entry
            case c_ast.BinaryOp(op="+"):
                return _moved(self.address(node.left), self.read(node.right), line)
            case c_ast.ArrayRef():
                return self._row(self.address(node.name), self.read(node.subscript), line)
            case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef() as element):
                return _moved(self.address(element.name), self.read(element.subscript), line)
            case c_ast.UnaryOp(op="&", expr=inner):
                found = self.read(inner)
                if isinstance(found, Element):
                    return View(found.array, found.subscripts[:-1], found.subscripts[-1], line)
            case c_ast.Cast():
                raise self.scope.place.refused("a pointer is cast: what it points to is unknown", line)
        raise self.scope.place.refused("where this pointer points to is unknown", line, "index a named array")

    def _row(self, found: Array | View, subscript: Expression, line: int) -> View:
        """Return the row of an array of several dimensions."""
        view = found if isinstance(found, View) else View(found, (), None, line)
        first = subscript if view.offset is None else _sum(view.offset, subscript, line)
        if len(view.prefix) + 1 >= len(view.array.extents):
            raise self.scope.place.refused(f"{view.array.name!r} has no more dimensions", line)
        return View(view.array, (*view.prefix, first), None, line)

    def _null_test(self, node: Any, line: int) -> Number | None:
        """Return what comparing an array with NULL gives: every array is there."""
        sides = (node.left, node.right)
        array = any(
            isinstance(s, c_ast.ID) and isinstance(self.scope.entries.get(s.name), Array) for s in sides
        )
        null = any(isinstance(s, c_ast.Constant) and s.value == "0" for s in sides)
        return integer(int(node.op == "!="), line) if array and null and node.op in ("==", "!=") else None

    def _binary(self, node: Any, line: int) -> Expression:
        known = self._null_test(node, line)
        if known is not None:
            return known
        left = self.read(node.left)
        lazy = node.op in ("&&", "||")
        right = (Reader(self.scope.guarded()) if lazy else self).read(node.right)
        if node.op in _COMPARING:
            type_ = types.INT
        elif node.op in _SHIFTS:
            type_ = types.promoted(left.type)
        else:
            type_ = types.common(left.type, right.type)
        return Binary(node.op, left, right, type_, line)

    def _unary(self, node: Any, line: int) -> Expression:
        if node.op == "*":
            view = self._at_start(self.address(node.expr), line)
            assert view.offset is not None
            return self._checked(view.array, (*view.prefix, view.offset), line)
        if node.op == "sizeof":
            return self._size_of(node.expr, line)
        if node.op not in ("-", "+", "!", "~"):
            hint = "give it a statement of its own" if node.op in ("p++", "p--", "++", "--") else ""
            raise self.scope.place.refused(
                f"operator {node.op.lstrip('p')!r} inside an expression", line, hint
            )
        operand = self.read(node.expr)
        type_ = types.INT if node.op == "!" else types.promoted(operand.type)
        return Unary(node.op, operand, type_, line)

    def _size_of(self, node: Any, line: int) -> Number:
        found = (
            self.scope.scalar_type(node.type) if isinstance(node, c_ast.Typename) else self.read(node).type
        )
        if found is None:
            raise self.scope.place.refused("the size of a type that has no counterpart in a kernel", line)
        return Number(str(found.size), found.size, types.UNSIGNED_LONG, line)

    def _cast(self, node: Any, line: int) -> Expression:
        type_ = self.scope.scalar_type(node.to_type.type)
        if type_ is None or not isinstance(node.to_type.type, c_ast.TypeDecl):
            raise self.scope.place.refused("a cast to a type that has no counterpart in a kernel", line)
        return Cast(self.read(node.expr), type_, line)

    def _at_start(self, found: Array | View, line: int) -> View:
        """Return where a pointer points to with an offset, if only zero."""
        if isinstance(found, Array):
            return View(found, (), integer(0, line), line)
        return found if found.offset is not None else replace(found, offset=integer(0, line))

    def _called(self, node: Any, line: int) -> Expression | Structure | None:
        """Return what a call of a function of the file returns; None if that is nothing."""
        function = self.scope.functions[node.name.name]
        if (
            _chooses(list(function.body.block_items or ()))
            and object_type(self.scope, function.decl.type.type) is None
        ):
            return self._substituted(function, node, line)
        assert self.scope.inline is not None
        return self.scope.inline(self.scope, function, node, line)

    def _substituted(self, function: Any, node: Any, line: int) -> Expression:
        """Return what a function of nothing but returns gives for the arguments of a call."""
        listed = function.decl.type.args
        parameters = [p for p in (listed.params if listed else ()) if isinstance(p, c_ast.Decl)]
        given = list(node.args.exprs if node.args else ())
        inner = self.scope.callee()
        inner.before = self.scope.before
        values: dict[str, Expression] = {}
        for parameter, argument in zip(parameters, given, strict=True):
            kind = self.scope.scalar_type(parameter.type)
            if isinstance(parameter.type, c_ast.TypeDecl) and kind is not None:
                value = self.read(argument)
                own = self.scope.fresh(parameter.name)
                values[own] = value if value.type == kind else Cast(value, kind, line)
                inner.entries[parameter.name] = Scalar(own, kind, line)
            elif object_type(self.scope, parameter.type) is not None:
                inner.entries[parameter.name] = self.object(argument)
            else:
                inner.entries[parameter.name] = self.address(argument)
        body = Reader(inner).returned(list(function.body.block_items or ()), function)
        kind = self.scope.scalar_type(function.decl.type.type)
        result = _replaced(body, values)
        return result if kind is None or kind == result.type else Cast(result, kind, line)

    def returned(self, items: list[Any], function: Any) -> Expression:
        """Return what statements return: conditions that choose between returns become choices of values."""
        first = items[0] if items else None
        match first:
            case c_ast.Return(expr=expr) if expr is not None:
                return self.read(expr)
            case c_ast.Compound(block_items=inner):
                return self.returned([*(inner or ()), *items[1:]], function)
            case c_ast.If(cond=cond, iftrue=then, iffalse=other):
                guarded = Reader(self.scope.guarded())
                yes = guarded.returned([then, *items[1:]], function)
                no = guarded.returned([*([other] if other is not None else ()), *items[1:]], function)
                return Select(self.read(cond), yes, no, types.common(yes.type, no.type), line_of(first))
        raise AssertionError(f"{function.decl.name!r} does more than return a value")

    def _call(self, node: Any, line: int) -> Expression:
        name = node.name.name if isinstance(node.name, c_ast.ID) else "a function pointer"
        if name in self.scope.functions and name not in FUNCTIONS:
            found = self._called(node, line)
            if found is None or isinstance(found, Structure):
                raise self.scope.place.refused(f"{name!r} returns no number", line)
            return found
        if name not in FUNCTIONS:
            hint = "write what it computes in place of the call; functions of math.h are known"
            raise self.scope.place.refused(f"a call of {name!r}", line, hint)
        arguments = tuple(self.read(argument) for argument in (node.args.exprs if node.args else ()))
        return Call(name, arguments, FUNCTIONS[name], line)


def _chooses(items: list[Any]) -> bool:
    """Whether statements only choose between returns, and certainly return."""
    match items[0] if items else None:
        case c_ast.Return(expr=expr):
            return expr is not None
        case c_ast.Compound(block_items=inner):
            return _chooses([*(inner or ()), *items[1:]])
        case c_ast.If(iftrue=then, iffalse=other):
            rest = items[1:]
            return _chooses([then, *rest]) and _chooses([*([other] if other is not None else ()), *rest])
    return False


def _text(node: Any) -> str:
    """Return a name or member as the source writes it."""
    return str(c_generator.CGenerator().visit(node))


def _at(entry: Entry, index: Expression, line: int) -> Structure | Row | None:
    """Return a structure at a place behind another one, None for what is no structure."""
    match entry:
        case Rows():
            return Row(entry, index, line)
        case Row(index=first):
            return replace(entry, index=_sum(first, index, line))
        case Structure() if isinstance(index, Number) and not index.value:
            return entry
    return None


def _moved(found: Array | View, offset: Expression, line: int) -> View:
    """Return where a pointer points to, so many elements further on."""
    if isinstance(found, Array):
        return View(found, (), offset, line)
    return replace(found, offset=offset if found.offset is None else _sum(found.offset, offset, line))


def _replaced(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """Return an expression with parameters replaced by arguments."""
    if isinstance(expression, Name):
        return values.get(expression.name, expression)
    changed = {
        field.name: _replaced_part(getattr(expression, field.name), values)
        for field in fields(expression)
        if field.name in _OPERANDS
    }
    return replace(expression, **changed)


def _replaced_part(part: Any, values: Mapping[str, Expression]) -> Any:
    if isinstance(part, tuple):
        return tuple(_replaced(one, values) for one in part)
    return _replaced(part, values)


_OPERANDS = {"operand", "left", "right", "condition", "then", "other", "arguments", "subscripts"}


def _sum(offset: Expression | None, subscript: Expression, line: int) -> Expression:
    if offset is None:
        return subscript
    return Binary("+", offset, subscript, types.common(offset.type, subscript.type), line)


def assigned_names(node: Any) -> set[str]:
    """Return the variables that the parser's statements set."""
    found = {name for _, child in node.children() for name in assigned_names(child)}
    target = node.lvalue if isinstance(node, c_ast.Assignment) else None
    if isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--", "&"):
        target = node.expr
    return found | {target.name} if isinstance(target, c_ast.ID) else found
