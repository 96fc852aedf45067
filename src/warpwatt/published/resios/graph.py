"""The instruction graph of one thread: basic blocks of operations in single-assignment form (chapter 6).

Operations are those of the source, one by one, address arithmetic and loop control included, as a compiler's
intermediate code has them before it optimises; ``a*b + c`` is two (chapter 7). Accesses of a thread's own
arrays count as an addition: the thesis knows no local memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.nest import (
    Assign,
    Binary,
    Call,
    Cast,
    Declare,
    Element,
    If,
    Loop,
    Name,
    Number,
    Select,
    Unary,
    While,
)  # fmt: skip
from warpwatt.published.resios.equations import instruction_parallelism

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import BoundNest
    from warpwatt.published.resios.c_loops.mapping import Mapping
    from warpwatt.published.resios.c_loops.nest import Expression, Statement
    from warpwatt.published.resios.c_loops.types import CType

Value = int | str
"""A result by its number, or the name of a scalar or array that comes from outside the block."""
LOAD, STORE = "ld", "st"
_ADDITIVE = {"+", "-"}
_LOGIC = {"&", "|", "^", "&&", "||", "<<", ">>", "!", "~"}
_DIVIDING = {"/", "%"}
_CHEAP_CALLS = ("fabs", "fmin", "fmax", "abs", "labs")


@dataclass(frozen=True, slots=True)
class Op:
    """One operation: what it reads, the number of its result (None for stores), the element it accesses."""

    kind: str
    uses: tuple[Value, ...]
    result: int | None
    line: int
    element: Element | None = None

    @property
    def memory(self) -> bool:
        """Whether it loads or stores an array element."""
        return self.kind in (LOAD, STORE)


@dataclass(frozen=True, slots=True)
class Block:
    """Operations without a branch between them; ``executions`` is how often one thread runs them."""

    ops: tuple[Op, ...]
    executions: float

    @property
    def longest(self) -> int:
        """Operations on the longest chain of dependent ones."""
        depth: dict[Value, int] = {}
        longest = 0
        for op in self.ops:
            here = 1 + max((depth.get(use, 0) for use in op.uses), default=0)
            longest = max(longest, here)
            if op.result is not None:
                depth[op.result] = here
        return longest

    @property
    def parallelism(self) -> float:
        """ILP (6.1)."""
        return instruction_parallelism(len(self.ops), self.longest)


def blocks(mapping: Mapping) -> tuple[Block, ...]:
    """Return the basic blocks of one thread of a mapped nest, in order; both sides of every if."""
    builder = _Builder(mapping.nest)
    builder.statements(mapping.body, 1.0)
    builder.close(1.0)
    return tuple(builder.done)


@dataclass(slots=True)
class _Builder:
    nest: BoundNest
    done: list[Block] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    names: dict[str, Value] = field(default_factory=dict)
    count: int = 0

    def close(self, executions: float) -> None:
        """End the current block: what follows starts with every scalar in its own register."""
        if self.ops:
            self.done.append(Block(tuple(self.ops), executions))
        self.ops, self.names = [], {}

    def statements(self, body: tuple[Statement, ...], executions: float) -> None:
        for statement in body:
            match statement:
                case Declare(name=name, value=value):
                    if value is not None:
                        self.names[name] = self.converted(value, statement.type, statement.line)
                case Assign():
                    self.assign(statement)
                case If(condition=condition, then=then, other=other):
                    self.expression(condition)
                    self.close(executions)
                    for side in (then, other):
                        self.statements(side, executions)
                        self.close(executions)
                case While(condition=condition, body=inner):
                    self.expression(condition)
                    self.close(executions)
                    self.statements(inner, executions)
                    self.close(executions)
                case Loop():
                    self.loop(statement, executions)

    def loop(self, loop: Loop, executions: float) -> None:
        """Lower a loop that every thread runs: its body, one addition and one comparison per iteration."""
        name = loop.variable.name
        self.names[name] = self.expression(loop.start)
        self.close(executions)
        times = executions * self.nest.of(loop).mean
        self.statements(loop.body, times)
        self.names[name] = self.emit("add", (self.names.get(name, name),), loop.line)
        self.emit("compare", (self.names[name], self.expression(loop.stop)), loop.line)
        self.close(times)

    def emit(self, kind: str, uses: tuple[Value, ...], line: int, element: Element | None = None) -> Value:
        """Append an operation and return its result; constants are no operands."""
        self.count += 1
        known = tuple(use for use in uses if use != "")
        self.ops.append(Op(kind, known, self.count if kind != STORE else None, line, element))
        return self.count

    def assign(self, statement: Assign) -> None:
        target, line = statement.target, statement.line
        address = self.address(target) if isinstance(target, Element) else ()
        if statement.operator:
            old = self.read(target, address)
            new = self.expression(statement.value)
            wide = max(target.type, statement.value.type, key=lambda t: t.rank)
            value = self.emit(operation(statement.operator, wide), (old, new), line)
        else:
            value = self.converted(statement.value, target.type, line)
        if isinstance(target, Name):
            self.names[target.name] = value
        elif target.array.local:
            self.emit("add", (target.array.name, *address, value), line)
        else:
            self.emit(STORE, (target.array.name, *address, value), line, target)

    def read(self, target: Name | Element, address: tuple[Value, ...]) -> Value:
        if isinstance(target, Name):
            return self.names.get(target.name, target.name)
        if target.array.local:
            return self.emit("add", (target.array.name, *address), target.line)
        return self.emit(LOAD, (target.array.name, *address), target.line, target)

    def converted(self, value: Expression, to: CType, line: int) -> Value:
        """Return a value in the type it is kept in; between integers and reals that is an operation."""
        found = self.expression(value)
        if isinstance(value, Number) or (value.type.floating == to.floating and not _narrows(value.type, to)):
            return found
        return self.emit("convert", (found,), line)

    def address(self, element: Element) -> tuple[Value, ...]:
        """Return what the address of an element is made of, after the arithmetic of its subscripts."""
        place = self.expression(element.subscripts[0])
        for subscript in element.subscripts[1:]:
            scaled = self.emit("mul", (place,), element.line)
            place = self.emit("add", (scaled, self.expression(subscript)), element.line)
        return (place,)

    def expression(self, expression: Expression) -> Value:  # noqa: PLR0911 - one per kind of node
        """Return the value of an expression, its operations appended."""
        line = expression.line
        match expression:
            case Number():
                return ""
            case Name(name=name):
                return self.names.get(name, name)
            case Element():
                return self.read(expression, self.address(expression))
            case Binary(operator=sign, left=left, right=right):
                kind = operation(sign, max(left.type, right.type, key=lambda t: t.rank))
                return self.emit(kind, (self.expression(left), self.expression(right)), line)
            case Unary(operator=sign, operand=operand, type=type_):
                return self.emit(operation(sign, type_), (self.expression(operand),), line)
            case Cast(operand=operand, type=type_):
                return self.converted(operand, type_, line)
            case Call(function=function, arguments=arguments, type=type_):
                return self.emit(of_call(function, type_), tuple(map(self.expression, arguments)), line)
            case Select(condition=condition, then=then, other=other):
                uses = tuple(map(self.expression, (condition, then, other)))
                return self.emit("logic", uses, line)


def _narrows(source: CType, to: CType) -> bool:
    return source.floating and to.floating and source.size != to.size


def operation(sign: str, type_: CType) -> str:
    """Return the operation that a C operator is on a type.

    >>> from warpwatt.published.resios.c_loops.types import DOUBLE, FLOAT, INT
    >>> operation("*", INT), operation("-", FLOAT), operation("/", DOUBLE), operation("<", FLOAT)
    ('mul', 'fadd', 'ddiv', 'compare')
    """
    letter = "" if not type_.floating else "d" if type_.size == 8 else "f"
    if sign in _ADDITIVE:
        return f"{letter}add"
    if sign == "*":
        return f"{letter}mul"
    if sign in _DIVIDING:
        return f"{letter}div"
    return "logic" if sign in _LOGIC else "compare"


def of_call(function: str, type_: CType) -> str:
    """Return the operation that stands for a function of the C library.

    >>> from warpwatt.published.resios.c_loops.types import DOUBLE, FLOAT
    >>> of_call("sqrtf", FLOAT), of_call("exp", DOUBLE), of_call("fabsf", FLOAT)
    ('sqrt', 'dspecial', 'logic')
    """
    if function.removesuffix("f") in _CHEAP_CALLS or function in _CHEAP_CALLS:
        return "logic"
    if type_.size == 8 and type_.floating:
        return "dspecial"
    return "sqrt" if function == "sqrtf" else "special"


def is_flop(op: Op) -> bool:
    """Whether an operation counts as floating-point operation."""
    return op.kind in ("fadd", "fmul", "fdiv", "sqrt", "special", "dadd", "dmul", "ddiv", "dspecial")
