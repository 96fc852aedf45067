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
from warpwatt.published.resios.c_loops.parser import c_ast
from warpwatt.published.resios.c_loops.refuse import line_of
from warpwatt.published.resios.c_loops.scope import View

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Expression
    from warpwatt.published.resios.c_loops.scope import Scope
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
            case c_ast.ID():
                return self._name(node, line)
            case c_ast.ArrayRef():
                return self._element(node, line)
            case c_ast.BinaryOp():
                return self._binary(node, line)
            case c_ast.UnaryOp():
                return self._unary(node, line)
            case c_ast.TernaryOp():
                then, other = self.read(node.iftrue), self.read(node.iffalse)
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

    def _name(self, node: Any, line: int) -> Expression:
        entry = self.scope.entries.get(node.name)
        if entry is None:
            raise self.scope.place.refused(f"{node.name!r} is not declared", line)
        if not isinstance(entry, Scalar):
            hint = f"write which element: {node.name}[...]"
            raise self.scope.place.refused(f"the address of {node.name!r} in a computation", line, hint)
        return Name(node.name, entry.type, line)

    def _element(self, node: Any, line: int) -> Element:
        subscripts = []
        while isinstance(node, c_ast.ArrayRef):
            subscripts.append(self.read(node.subscript))
            node = node.name
        array, offset = self.address(node)
        subscripts.reverse()
        if offset is not None:
            subscripts[0] = _sum(offset, subscripts[0], line)
        return self._checked(array, tuple(subscripts), line)

    def _checked(self, array: Array, subscripts: tuple[Expression, ...], line: int) -> Element:
        if len(subscripts) != len(array.extents):
            wanted = f"{len(array.extents)} subscript{'s' * (len(array.extents) > 1)}"
            raise self.scope.place.refused(f"{array.name!r} takes {wanted}, not {len(subscripts)}", line)
        if any(subscript.type.floating for subscript in subscripts):
            raise self.scope.place.refused(f"a subscript of {array.name!r} is not an integer", line)
        return Element(array, subscripts, line)

    def address(self, node: Any) -> tuple[Array, Expression | None]:
        """Return the array a pointer expression points into, and how many elements behind its start."""
        line = line_of(node)
        match node:
            case c_ast.ID():
                entry = self.scope.entries.get(node.name)
                if isinstance(entry, Array):
                    return entry, None
                if isinstance(entry, View):
                    return entry.array, entry.offset
            case c_ast.BinaryOp(op="+"):
                array, offset = self.address(node.left)
                return array, _sum(offset, self.read(node.right), line)
            case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef() as element) if isinstance(
                element.name, c_ast.ID
            ):
                array, offset = self.address(element.name)
                return array, _sum(offset, self.read(element.subscript), line)
            case c_ast.Cast():
                raise self.scope.place.refused("a pointer is cast: what it points to is unknown", line)
        raise self.scope.place.refused("where this pointer points to is unknown", line, "index a named array")

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
        left, right = self.read(node.left), self.read(node.right)
        if node.op in _COMPARING:
            type_ = types.INT
        elif node.op in _SHIFTS:
            type_ = types.promoted(left.type)
        else:
            type_ = types.common(left.type, right.type)
        return Binary(node.op, left, right, type_, line)

    def _unary(self, node: Any, line: int) -> Expression:
        if node.op == "*":
            array, offset = self.address(node.expr)
            return self._checked(array, (offset or integer(0, line),), line)
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

    def _inlined(self, function: Any, node: Any, line: int) -> Expression:
        """Return what a function of the file returns for the arguments of a call."""
        listed = function.decl.type.args
        parameters = [p for p in (listed.params if listed else ()) if isinstance(p, c_ast.Decl)]
        given = list(node.args.exprs if node.args else ())
        inner = self.scope.inner()
        values: dict[str, Expression] = {}
        for parameter, argument in zip(parameters, given, strict=True):
            kind = self.scope.scalar_type(parameter.type)
            if isinstance(parameter.type, c_ast.TypeDecl) and kind is not None:
                value = self.read(argument)
                values[parameter.name] = value if value.type == kind else Cast(value, kind, line)
                inner.entries[parameter.name] = Scalar(parameter.name, kind, line)
            else:
                array, offset = self.address(argument)
                inner.entries[parameter.name] = (
                    View(array, offset or integer(0, line), line) if offset else array
                )
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
                yes = self.returned([then, *items[1:]], function)
                no = self.returned([*([other] if other is not None else ()), *items[1:]], function)
                return Select(self.read(cond), yes, no, types.common(yes.type, no.type), line_of(first))
        name = function.decl.name
        hint = "functions of one return, or of conditions that choose between returns, are written in place"
        raise self.scope.place.refused(
            f"a call of {name!r}, which does more than return a value", line_of(function.decl), hint
        )

    def _call(self, node: Any, line: int) -> Expression:
        name = node.name.name if isinstance(node.name, c_ast.ID) else "a function pointer"
        if name in self.scope.functions and name not in FUNCTIONS:
            return self._inlined(self.scope.functions[name], node, line)
        if name not in FUNCTIONS:
            hint = "write what it computes in place of the call; functions of math.h are known"
            raise self.scope.place.refused(f"a call of {name!r}", line, hint)
        arguments = tuple(self.read(argument) for argument in (node.args.exprs if node.args else ()))
        return Call(name, arguments, FUNCTIONS[name], line)


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
