"""Heads of counted loops: what their variable is compared with, and what every iteration adds to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warpwatt.published.resios.c_loops.expressions import Reader
from warpwatt.published.resios.c_loops.nest import Binary, Name, Scalar, constant
from warpwatt.published.resios.c_loops.parser import c_ast

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Expression
    from warpwatt.published.resios.c_loops.scope import Scope

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
STEPS = {"p++": 1, "++": 1, "p--": -1, "--": -1}
"""What the parser's operators add to their operand."""


@dataclass(frozen=True, slots=True)
class Counter:
    """Reads the head of a loop over one variable; UnportableError where its iterations cannot be counted."""

    scope: Scope
    name: Name

    def condition(self, node: Any, line: int) -> tuple[str, Expression]:
        """Return how the variable is compared while the loop goes on, and with what."""
        if isinstance(node, c_ast.BinaryOp) and node.op in _MIRRORED:
            left, right = self.read(node.left), self.read(node.right)
            if isinstance(left, Name) and left.name == self.name.name:
                return node.op, right
            if isinstance(right, Name) and right.name == self.name.name:
                return _MIRRORED[node.op], left
        hint = f"compare {self.name.name} with a bound: {self.name.name} < stop"
        raise self.scope.place.refused("how often this loop runs is not known before it runs", line, hint)

    def step(self, node: Any, line: int) -> int:
        """Return what every iteration adds to the variable."""
        if node is not None:
            step = self._increment(node)
            if step:
                return step
        hint = f"step by a constant: {self.name.name}++ or {self.name.name} += 2"
        raise self.scope.place.refused(
            f"the loop over {self.name.name!r} does not step by a constant", line, hint
        )

    def _is(self, node: Any) -> bool:
        entry = self.scope.entries.get(node.name) if isinstance(node, c_ast.ID) else None
        return isinstance(entry, Scalar) and entry.name == self.name.name

    def _increment(self, node: Any) -> int | None:
        if isinstance(node, c_ast.UnaryOp) and node.op in STEPS and self._is(node.expr):
            return STEPS[node.op]
        if not isinstance(node, c_ast.Assignment) or not self._is(node.lvalue):
            return None
        value = self.read(node.rvalue)
        if node.op in ("+=", "-="):
            step = constant(value)
            return step if step is None or node.op == "+=" else -step
        match value:
            case Binary(operator="+" | "-" as sign, left=Name(name=n), right=right) if n == self.name.name:
                step = constant(right)
                return step if step is None or sign == "+" else -step
            case Binary(operator="+", left=left, right=Name(name=n)) if n == self.name.name:
                return constant(left)
        return None

    def read(self, node: Any) -> Expression:
        """Return an expression of the head."""
        return Reader(self.scope).read(node)
