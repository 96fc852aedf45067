"""Reductions shared among threads: a warp or a block per result instead of one thread (thesis, chapter 9).

Where a kernel's body adds up a loop into one place, the loop's iterations can be dealt to the threads of a
warp or block; their partial sums are combined through shuffles, a tree in shared memory, or atomics. The
order of additions changes, so results agree within rounding instead of to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from warpwatt.core.arguments import DType
from warpwatt.core.launch import WARP_SIZE, Dim3
from warpwatt.published.resios.c_loops.cuda import KernelWriter
from warpwatt.published.resios.c_loops.nest import (
    Assign,
    Binary,
    Call,
    Declare,
    Element,
    If,
    Loop,
    Name,
    Number,
    Unary,
    expressions,
    walk_expression,
)  # fmt: skip
from warpwatt.published.resios.c_loops.printer import INDENT, Printer, safe
from warpwatt.published.resios.schedule.scalars import mentioned

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import BoundFunction
    from warpwatt.published.resios.c_loops.cuda import Generated
    from warpwatt.published.resios.c_loops.mapping import Mapping
    from warpwatt.published.resios.c_loops.nest import Expression, Statement


_ATOMIC = {DType.F32, DType.F64, DType.I32, DType.U32, DType.U64}


class Combining(StrEnum):
    """How the threads that share a reduction combine their partial results."""

    SHUFFLES = "a warp per result, shuffles"
    TREE = "a block per result, tree in shared memory"
    ATOMICS = "a block per result, atomics in shared memory"


@dataclass(frozen=True, slots=True)
class Reduction:
    """A loop that only combines ``value`` of every iteration into ``target``.

    ``operator`` is +, *, > (the largest) or < (the least).
    """

    loop: Loop
    target: Name | Element
    operator: str
    value: Expression


def reduction(loop: Loop) -> Reduction | None:
    """Return what a loop reduces, None if it does anything else."""
    only = loop.body[0] if len(loop.body) == 1 else None
    if abs(loop.step) != 1:
        return None
    extreme = _extreme(only)
    if extreme is not None:
        target, operator, value = extreme
    elif isinstance(only, Assign) and (found := _combined(only)) is not None:
        target, (operator, value) = only.target, found
    else:
        return None
    inside = {part.array.name for part in walk_expression(value) if isinstance(part, Element)}
    names = {part.name for part in walk_expression(value) if isinstance(part, Name)}
    if isinstance(target, Element):
        moving = {p.name for s in target.subscripts for p in walk_expression(s) if isinstance(p, Name)}
        if loop.variable.name in moving or target.array.name in inside:
            return None
    elif target.name in names:
        return None
    return Reduction(loop, target, operator, value)


def _extreme(statement: Statement | None) -> tuple[Name | Element, str, Expression] | None:
    """Return target, > or <, and value of ``if (value > target) target = value`` in its spellings."""
    match statement:
        case If(
            condition=Binary(operator=">" | "<" as sign) as test,
            then=(Assign(operator="") as set_,),
            other=(),
        ):
            target, value = set_.target, set_.value
            if _same(test.left, value) and _same(test.right, target):
                return target, sign, value
            if _same(test.left, target) and _same(test.right, value):
                return target, {">": "<", "<": ">"}[sign], value
        case Assign(operator="", target=target, value=Call(function=name, arguments=(left, right))):
            extreme = {"fmax": ">", "fmin": "<"}.get(name.removesuffix("f"), "")
            other = right if _same(left, target) else left if _same(right, target) else None
            if extreme and other is not None:
                return target, extreme, other
    return None


def _combined(statement: Assign) -> tuple[str, Expression] | None:
    """Return operator and value of ``target = target operator value`` in any of its spellings."""
    value, target = statement.value, statement.target
    if statement.operator:
        negative = Unary("-", value, value.type, value.line)
        return {"+": ("+", value), "*": ("*", value), "-": ("+", negative)}.get(statement.operator)
    if not isinstance(value, Binary) or value.operator != "+":
        return None
    if _same(value.left, target):
        return "+", value.right
    if _same(value.right, target):
        return "+", value.left
    rest = _combined(replace(statement, value=value.left))
    if rest is None or rest[0] != "+":
        return None
    return "+", Binary("+", rest[1], value.right, value.type, value.line)


def _same(one: Expression, other: Expression) -> bool:
    shapes: dict[str, tuple[int, ...]] = {}
    return Printer(shapes).expression(one) == Printer(shapes).expression(other)


def shared_reduction(
    bound: BoundFunction, mapping: Mapping, combining: Combining, threads: int
) -> Generated | None:
    """Return a kernel whose loops of reduction are dealt to the threads of a warp or block.

    ``threads`` is the block's size: several warps with a result each, or all for one result. None where the
    body is not made of reductions and single statements, or a later reduction needs an earlier one's result.
    """
    body, condition = unguarded(mapping.body)
    loops = [reduction(s) for s in body if isinstance(s, Loop)]
    sums = all(one is None or added_atomically(one) for one in loops)
    if not fits(body) or (not sums and combining is Combining.ATOMICS):
        return None
    writer = KernelWriter(bound, mapping)
    warp = combining is Combining.SHUFFLES
    rows = threads // WARP_SIZE if warp else 1
    block = Dim3(WARP_SIZE, rows) if warp else Dim3(threads)
    first = "blockIdx.x * blockDim.y + threadIdx.y" if warp else "blockIdx.x"
    places = (first, "blockIdx.y", "blockIdx.z")[: len(mapping.loops)]
    lines = [*writer.positions(*places)]
    if condition is not None:
        lines.append(f"{INDENT}if (!({writer.printer.expression(condition)})) return;")
    for statement in body:
        lines += Sharing(writer, combining, threads).statement(statement)
    return writer.kernel(lines, block, Dim3(rows))


def unguarded(body: tuple[Statement, ...]) -> tuple[tuple[Statement, ...], Expression | None]:
    """Return a body without the condition that stands around all of it, and that condition."""
    only = body[0] if len(body) == 1 else None
    if isinstance(only, If) and not only.other and not isinstance(only.condition, Number):
        return only.then, only.condition
    return body, None


def fits(body: Sequence[Statement]) -> bool:
    """Whether a body is single statements and at least one reduction none of which needs another's result."""
    tainted: set[str] = set()
    stored: set[str] = set()
    found = False
    for statement in body:
        one = reduction(statement) if isinstance(statement, Loop) else None
        if one is not None:
            if mentioned(statement) & tainted - {_name(one.target)} or _arrays(one) & stored:
                return False
            found = True
            tainted.add(_name(one.target))
            stored |= {one.target.array.name} if isinstance(one.target, Element) else set()
        elif not isinstance(statement, (Assign, Declare)):
            return False
        elif isinstance(statement, Assign):
            if mentioned(statement) & tainted or isinstance(statement.target, Element):
                tainted.add(_name(statement.target))
            if isinstance(statement.target, Element):
                stored.add(statement.target.array.name)
            elif _reads(statement) & stored:
                tainted.add(statement.target.name)
        elif isinstance(statement, Declare) and (
            mentioned(statement) & tainted or _reads(statement) & stored
        ):
            tainted.add(statement.name)
    return found


def _name(target: Name | Element) -> str:
    return target.name if isinstance(target, Name) else f"{target.array.name}[]"


def _reads(statement: Statement) -> set[str]:
    """Return the arrays whose elements a statement reads."""
    found = set()
    for expression in expressions(statement):
        if isinstance(statement, Assign) and expression is statement.target:
            continue
        found |= {p.array.name for p in walk_expression(expression) if isinstance(p, Element)}
    return found


def _arrays(one: Reduction) -> set[str]:
    """Return the arrays that a reduction's value and bounds read."""
    every = (one.value, one.loop.start, one.loop.stop)
    return {p.array.name for e in every for p in walk_expression(e) if isinstance(p, Element)}


def added_atomically(one: Reduction) -> bool:
    """Whether CUDA has an atomic function that adds to the result."""
    return one.operator == "+" and one.target.type.dtype in _ATOMIC


def neutral(one: Reduction) -> str:
    """Return what a partial result begins with: it changes nothing."""
    if one.operator in "+*":
        return "0" if one.operator == "+" else "1"
    kind = one.target.type
    if kind.floating:
        return "-1.0f / 0.0f" if one.operator == ">" else "1.0f / 0.0f"
    bits = 8 * kind.size
    low, high = (0, 2**bits - 1) if kind.unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return f"({kind.spelling}){low}ull" if one.operator == ">" else f"({kind.spelling}){high}ull"


def combined(operator: str, into: str, value: str) -> str:
    """Return the statement that combines a value into a partial result."""
    if operator in "+*":
        return f"{into} {operator}= {value};"
    return f"if ({value} {operator} {into}) {into} = {value};"


@dataclass(frozen=True, slots=True)
class Sharing:
    """Writes a body whose loops of reduction are dealt to the threads of a warp or block."""

    writer: KernelWriter
    combining: Combining
    threads: int

    def statement(self, statement: Statement) -> Iterator[str]:
        """Yield a statement: loops shared, scalars by every thread, elements by the first one."""
        one = reduction(statement) if isinstance(statement, Loop) else None
        if one is not None:
            step = WARP_SIZE if self.combining is Combining.SHUFFLES else self.threads
            yield from self.shared(one, "threadIdx.x", str(step))
            return
        lines = list(self.writer.printer.statements((statement,), 1))
        if isinstance(statement, Assign) and isinstance(statement.target, Element):
            (line,) = lines
            yield f"{INDENT}if (threadIdx.x == 0) {line.strip()}"
        else:
            yield from lines

    def shared(self, one: Reduction, place: str, step: str, last: str = "") -> Iterator[str]:
        """Yield a loop of which a thread has every ``step``-th iteration, beginning at its ``place``.

        ``last`` is what the first thread does with the result of all; by default it goes to the target.
        """
        printer, loop = self.writer.printer, one.loop
        name, counter = safe(loop.variable.name), loop.variable.type.spelling
        sign = "+" if loop.step > 0 else "-"
        start, own = printer.expression(loop.start, 11), f"({counter})({place})"
        first = own if start == "0" and sign == "+" else f"{start} {sign} {own}"
        until = f"{name} {loop.relation} {printer.expression(loop.stop, 10)}"
        head = f"for ({counter} {name} = {first}; {until}; {name} {sign}= {step})"
        value = printer.expression(one.value, 6 if one.operator in "<>" else 0)
        yield from self.dealt(one, head, value, last)

    def dealt(self, one: Reduction, head: str, value: str, last: str = "") -> Iterator[str]:
        """Yield a loop over a thread's share of values, and how threads combine their partial results."""
        kind, partial, margin = one.target.type.spelling, self.writer.fresh("partial"), INDENT * 2
        yield f"{INDENT}{{"
        yield f"{margin}{kind} {partial} = {neutral(one)};"
        yield f"{margin}{head}"
        yield f"{margin}{INDENT}{combined(one.operator, partial, value)}"
        yield from self._combined(kind, partial, one.operator)
        last = last or combined(one.operator, self.writer.printer.expression(one.target), partial)
        yield f"{margin}if (threadIdx.x == 0) {last}"
        yield f"{INDENT}}}"

    def _combined(self, kind: str, partial: str, operator: str) -> Iterator[str]:
        """Yield the lines after which the first thread's ``partial`` is that of all."""
        margin, parts, other = INDENT * 2, self.writer.fresh("parts"), self.writer.fresh("other")
        match self.combining:
            case Combining.SHUFFLES:
                yield f"{margin}for (int offset = 16; offset > 0; offset /= 2) {{"
                shuffled = f"__shfl_down_sync(0xffffffff, {partial}, offset)"
                yield f"{margin}{INDENT}const {kind} {other} = {shuffled};"
                yield f"{margin}{INDENT}{combined(operator, partial, other)}"
                yield f"{margin}}}"
            case Combining.TREE:
                yield f"{margin}__shared__ {kind} {parts}[{self.threads}];"
                yield f"{margin}__syncthreads();"
                yield f"{margin}{parts}[threadIdx.x] = {partial};"
                yield f"{margin}__syncthreads();"
                yield f"{margin}for (int offset = {self.threads // 2}; offset > 0; offset /= 2) {{"
                yield f"{margin}{INDENT}if (threadIdx.x < offset) {{"
                yield f"{margin}{INDENT * 2}const {kind} {other} = {parts}[threadIdx.x + offset];"
                yield f"{margin}{INDENT * 2}{combined(operator, f'{parts}[threadIdx.x]', other)}"
                yield f"{margin}{INDENT}}}"
                yield f"{margin}{INDENT}__syncthreads();"
                yield f"{margin}}}"
                yield f"{margin}{partial} = {parts}[0];"
            case Combining.ATOMICS:
                yield f"{margin}__shared__ {kind} {parts};"
                yield f"{margin}if (threadIdx.x == 0) {parts} = 0;"
                yield f"{margin}__syncthreads();"
                yield f"{margin}atomicAdd(&{parts}, {partial});"
                yield f"{margin}__syncthreads();"
                yield f"{margin}{partial} = {parts};"
                yield f"{margin}__syncthreads();"
