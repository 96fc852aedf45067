"""Symbolic values as people write them: ``(n - blockIdx.x * blockDim.x) / 4``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.program.affine import affine
from warpwatt.program.binding import display_name
from warpwatt.program.controls import loop_controls
from warpwatt.program.expression import UNKNOWN, Node, is_const, is_float, loop_trait

if TYPE_CHECKING:
    from warpwatt.program.affine import Affine
    from warpwatt.program.symbolic import Symbols

_LIMIT = 160
"""Characters beyond which a formula helps nobody."""
_INFIX = {
    "add": ("+", 4),
    "sub": ("-", 4),
    "mul": ("*", 5),
    "div": ("/", 5),
    "rem": ("%", 5),
    "shl": ("<<", 3),
    "shr": (">>", 3),
    "and": ("&", 2),
    "xor": ("^", 2),
    "or": ("|", 2),
    "eq": ("==", 1),
    "ne": ("!=", 1),
    "lt": ("<", 1),
    "le": ("<=", 1),
    "gt": (">", 1),
    "ge": (">=", 1),
}
_CUDA = {"%tid": "threadIdx", "%ctaid": "blockIdx", "%ntid": "blockDim", "%nctaid": "gridDim"}
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def format_value(symbols: Symbols, node: Node) -> str:
    """Return a value in CUDA C++ terms, with the user's names of arguments where they are known."""
    text = _Formatter(symbols).format(node, 0, 0)
    return text if len(text) <= _LIMIT else ""


class _Formatter:
    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.names = {p.name: display_name(p, i) for i, p in enumerate(symbols.program.parameters)}

    def format(self, node: Node, binding: int, depth: int) -> str:
        """Return a node; in parentheses if it binds less than ``binding``."""
        if depth > 12:
            return "…"
        if not node.args:
            return self._leaf(node)
        if node.op in ("cvt", "exit"):
            return self.format(node.args[0], binding, depth + 1)
        if node.op == "select":
            condition, yes, no = (self.format(a, 1, depth + 1) for a in node.args)
            return f"({condition} ? {yes} : {no})"
        if node.op not in _INFIX:
            return f"{node.op}({', '.join(self.format(a, 0, depth + 1) for a in node.args)})"
        sign, mine = _INFIX[node.op]
        left, right = node.args
        second = self.format(right, mine + 1, depth + 1)
        if node.op == "add" and right.op == "const" and int(right.payload) < 0:
            sign, second = "-", str(-int(right.payload))
        text = f"{self.format(left, mine, depth + 1)} {sign} {second}"
        return f"({text})" if mine < binding else text

    def _leaf(self, node: Node) -> str:
        payload = str(node.payload)
        if node.op == "special":
            name, dot, axis = payload.partition(".")
            return f"{_CUDA[name]}.{axis}" if dot and name in _CUDA else payload.lstrip("%")
        if node.op == "phi":
            return self.symbols.algebra.recurrences[node.number].register
        if node.op in ("param", "constant"):
            name, _, offset = payload.rpartition("+")
            name = self.names.get(name, name)
            name = f"argument {name}" if name.isdigit() else name
            return name if offset == "0" else f"{name}[+{offset}]"
        return "?" if node.op == "unknown" else payload


def trip_formula(symbols: Symbols, loop: int) -> str:
    """Return the trip count of a loop as a formula, or "" where there is none worth reading.

    The formula leaves the corner cases out (a loop that is not entered, a step over the bound); it is for
    reading, the numbers are computed exactly.
    """
    tests = [t for t in loop_controls(symbols)[loop].tests if t.predicate is not None]
    tests = [t for t in tests if not symbols.algebra.traits_of(t.predicate) & UNKNOWN]  # type: ignore[arg-type] # above
    texts = [_formula(symbols, t.predicate, loop) for t in tests if t.predicate is not None]
    known = [t for t in texts if t]
    if not known or len(known) < len(texts):
        return ""
    text = known[0] if len(known) == 1 else f"min({', '.join(known)})"
    return text if len(text) <= _LIMIT else ""


def _formula(symbols: Symbols, test: Node, loop: int) -> str:
    algebra = symbols.algebra
    if test.op not in _MIRRORED or is_float(test.operand_type):
        return ""
    op, left, right = test.op, *(affine(algebra, a, loop) for a in test.args)
    if left is None or right is None:
        return ""
    if not is_const(right.step, 0):
        left, right, op = right, left, _MIRRORED[op]
    if not is_const(right.step, 0) or is_const(left.step, 0):
        return ""
    after = any(a.op != "phi" and algebra.traits_of(a) & loop_trait(loop) for a in test.args)
    return _quotient(symbols, op, left, right.base, after=after)


def _quotient(symbols: Symbols, op: str, left: Affine, bound: Node, *, after: bool) -> str:
    """Return ``ceil((bound - first) / step)``; the tested value is the following iteration's if ``after``."""
    algebra = symbols.algebra
    kind = left.base.type
    first = _without(symbols, left.base, left.step) if after else left.base
    step = left.step
    rising = not (step.op == "const" and int(step.payload) < 0)
    distance = (bound, first) if rising else (first, bound)
    if is_const(distance[1], 0):
        way = format_value(symbols, distance[0])
    else:
        way = format_value(symbols, algebra.apply("sub", kind, *distance))
    size = abs(int(step.payload)) if step.op == "const" else format_value(symbols, step)
    if not way or not size:
        return ""
    if op in ("lt", "gt"):  # leaves beyond the bound: the bound itself still counts
        return f"{way} + 1" if size == 1 else f"floor(({way}) / {_bracketed(size)}) + 1"
    if size == 1:
        return way
    return f"({way}) / {_bracketed(size)}" if op == "eq" else f"ceil(({way}) / {_bracketed(size)})"


def _bracketed(text: object) -> str:
    return f"({text})" if " " in str(text) else str(text)


def _without(symbols: Symbols, base: Node, step: Node) -> Node:
    """Return ``base - step``, without a trace of the step where ``base`` is a sum with it."""
    if base.op == "add" and step in base.args:
        return base.args[0] if base.args[1] is step else base.args[1]
    return symbols.algebra.apply("sub", base.type, base, step)
