"""C text of expressions and statements: as the source has them, but for arrays, which are flattened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.nest import (
    Assign,
    Binary,
    Call,
    Cast,
    Declare,
    DeclareArray,
    Element,
    If,
    Leave,
    Loop,
    Name,
    Number,
    Select,
    Unary,
    While,
)  # fmt: skip

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Array, Expression, Statement

_LEVELS = ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
_PRECEDENCE = {operator: level for level, line in enumerate(_LEVELS, start=3) for operator in line.split()}
_UNARY, _PRIMARY, _TERNARY = 14, 15, 2
KEYWORDS = frozenset([
    "alignas", "and", "asm", "bitand", "bitor", "catch", "char16_t", "char32_t", "class", "compl",
    "constexpr", "const_cast", "decltype", "delete", "dynamic_cast", "explicit", "export", "false",
    "friend", "mutable", "namespace", "new", "noexcept", "not", "nullptr", "operator", "or", "private",
    "protected", "public", "reinterpret_cast", "static_assert", "static_cast", "template", "this",
    "thread_local", "throw", "true", "try", "typeid", "typename", "using", "virtual", "wchar_t", "xor",
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize",
    *(f"{name}{kind}" for kind in ("", "f") for name in (
        "acospi", "asinpi", "atanpi", "cospi", "erfcinv", "erfcx", "erfinv", "norm", "norm3d", "norm4d",
        "normcdf", "normcdfinv", "rcbrt", "rhypot", "rnorm", "rnorm3d", "rnorm4d", "rsqrt", "saturate",
        "sincospi", "sinpi")),
])  # fmt: skip
"""Names that C allows and CUDA C++ does not: its keywords, variables and mathematical functions."""
INDENT = "    "


def safe(name: str) -> str:
    """Return a name CUDA C++ accepts.

    >>> safe("n"), safe("new")
    ('n', 'new_')
    """
    return f"{name}_" if name in KEYWORDS else name


@dataclass(slots=True)
class Printer:
    """Prints, and remembers in ``used`` which names it printed.

    ``wide`` names arrays too large for 32-bit indices.
    """

    shapes: Mapping[str, tuple[int, ...]]
    wide: frozenset[str] = frozenset()
    used: set[str] = field(default_factory=set)
    local: set[str] = field(default_factory=set)

    def expression(self, expression: Expression, least: int = 0) -> str:
        """Return an expression, in parentheses if it binds weaker than ``least``."""
        text, level = self._text(expression)
        return f"({text})" if level < least else text

    def _text(self, expression: Expression) -> tuple[str, int]:  # noqa: PLR0911 - one per kind of node
        match expression:
            case Number(text=text):
                return text, _PRIMARY
            case Name(name=name):
                self.used.add(name)
                return safe(name), _PRIMARY
            case Element():
                return self.element(expression), _PRIMARY
            case Call(function=function, arguments=arguments):
                return f"{function}({', '.join(self.expression(a) for a in arguments)})", _PRIMARY
            case Unary(operator=sign, operand=operand):
                inner = self.expression(operand, _UNARY)
                return f"{sign} {inner}" if inner.startswith(sign) else f"{sign}{inner}", _UNARY
            case Cast(operand=operand, type=kind):
                return f"({kind.spelling}){self.expression(operand, _UNARY)}", _UNARY
            case Binary(operator=sign, left=left, right=right):
                level = _PRECEDENCE[sign]
                return f"{self.expression(left, level)} {sign} {self.expression(right, level + 1)}", level
            case Select(condition=condition, then=then, other=other):
                chosen = (
                    self.expression(condition, _TERNARY + 1),
                    self.expression(then),
                    self.expression(other, 2),
                )
                return f"{chosen[0]} ? {chosen[1]} : {chosen[2]}", _TERNARY

    def element(self, element: Element) -> str:
        """Return an element of a flattened array."""
        self.used.add(element.array.name)
        if element.array.local:
            return safe(element.array.name) + "".join(f"[{self.expression(s)}]" for s in element.subscripts)
        return f"{safe(element.array.name)}[{self._index(element.array, element.subscripts)}]"

    def _index(self, array: Array, subscripts: tuple[Expression, ...]) -> str:
        if len(subscripts) == 1:
            return self.expression(subscripts[0])
        text = self.expression(subscripts[0], _PRECEDENCE["*"])
        if array.name in self.wide:
            text = f"(long){self.expression(subscripts[0], _UNARY)}"
        for number, subscript in enumerate(subscripts[1:], start=1):
            outer = text if number == 1 else f"({text})"
            inner = self.expression(subscript, _PRECEDENCE["+"] + 1)
            text = f"{outer} * {self._extent(array, number)} + {inner}"
        return text

    def _extent(self, array: Array, dimension: int) -> str:
        extent = array.extents[dimension]
        assert extent is not None  # only the first may be left out
        return self.expression(extent, _PRECEDENCE["*"] + 1)

    def statements(self, body: tuple[Statement, ...], depth: int) -> Iterator[str]:
        """Yield the lines of statements."""
        for statement in body:
            yield from self._statement(statement, INDENT * depth, depth)

    def _statement(self, statement: Statement, margin: str, depth: int) -> Iterator[str]:
        match statement:
            case Declare(name=name, type=kind, value=value):
                start = "" if value is None else f" = {self.expression(value)}"
                yield f"{margin}{kind.spelling} {safe(name)}{start};"
            case Assign(target=target, operator=sign, value=value):
                yield f"{margin}{self.expression(target)} {sign}= {self.expression(value)};"
            case If(condition=Number(text="1"), then=then, other=()):
                yield f"{margin}{{"
                yield from self.statements(then, depth + 1)
                yield f"{margin}}}"
            case If(condition=condition, then=then, other=other):
                yield f"{margin}if ({self.expression(condition)}) {{"
                yield from self.statements(then, depth + 1)
                if other:
                    yield f"{margin}}} else {{"
                    yield from self.statements(other, depth + 1)
                yield f"{margin}}}"
            case DeclareArray(array=array):
                sides = "".join(f"[{self.expression(e)}]" for e in array.extents if e is not None)
                self.local.add(array.name)
                yield f"{margin}{array.type.spelling} {safe(array.name)}{sides};"
            case While(condition=condition, body=body):
                yield f"{margin}while ({self.expression(condition)}) {{"
                yield from self.statements(body, depth + 1)
                yield f"{margin}}}"
            case Leave():
                yield f"{margin}break;"
            case Loop(body=body):
                yield f"{margin}for ({self.loop_head(statement)}) {{"
                yield from self.statements(body, depth + 1)
                yield f"{margin}}}"

    def loop_head(self, loop: Loop) -> str:
        """Return what stands between the parentheses of a for."""
        name = safe(loop.variable.name)
        self.used.add(loop.variable.name)
        kind = f"{loop.variable.type.spelling} " if loop.declared else ""
        step = {1: f"{name}++", -1: f"{name}--"}.get(loop.step, f"{name} += {loop.step}")
        stop = self.expression(loop.stop, _PRECEDENCE["<"] + 1)
        return f"{kind}{name} = {self.expression(loop.start)}; {name} {loop.relation} {stop}; {step}"
