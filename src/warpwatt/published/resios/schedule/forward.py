"""Variables that a loop's body sets once are written in place of their uses in loops further in.

``int row = i * n; for (j ...) a[row + j] = 0;`` keeps both statements in one thread for the sake of ``row``;
with ``i * n`` in its place the inner loop can be a dimension of threads too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.nest import (
    Assign,
    Call,
    Cast,
    Declare,
    Element,
    If,
    Loop,
    Name,
    walk,
    walk_expression,
)  # fmt: skip
from warpwatt.published.resios.c_loops.rewrite import rewritten
from warpwatt.published.resios.schedule.scalars import mentioned

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Expression, Function, Statement

MOST_PARTS = 12
"""Parts of an expression that is written again at every use."""


def forwarded(function: Function) -> Function:
    """Return the function with such variables replaced by their values."""
    targets = [s.target for s in walk(function.body) if isinstance(s, Assign)]
    scalars = {t.name for t in targets if isinstance(t, Name)}
    arrays = {t.array.name for t in targets if isinstance(t, Element)}
    body = _Forwarding(frozenset(scalars), frozenset(arrays)).inside(function.body)
    nests = tuple(s for s in body if isinstance(s, Loop))
    return replace(function, body=body, nests=nests)


@dataclass(frozen=True, slots=True)
class _Forwarding:
    """Knows the scalars and arrays that the function sets: values made of them may change."""

    scalars: frozenset[str]
    arrays: frozenset[str]

    def inside(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        """Return statements whose loops' bodies are rewritten."""
        found: list[Statement] = []
        for statement in body:
            match statement:
                case Loop(body=inner):
                    found.append(replace(statement, body=self._block(inner)))
                case If(then=then, other=other):
                    found.append(replace(statement, then=self.inside(then), other=self.inside(other)))
                case _:
                    found.append(statement)
        return tuple(found)

    def _block(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        for number, statement in enumerate(body):
            if not isinstance(statement, Declare) or not self._settled(statement):
                continue
            rest = body[number + 1 :]
            if any(isinstance(s, Loop) and statement.name in mentioned(s) for s in rest):
                return self._block((*body[:number], *_written(rest, statement)))
        return self.inside(body)

    def _settled(self, one: Declare) -> bool:
        """Whether a variable and all that its value is made of stay as they are, and the value is cheap."""
        if one.value is None or one.name in self.scalars:
            return False
        parts = list(walk_expression(one.value))
        names = {p.name for p in parts if isinstance(p, Name)}
        arrays = {p.array.name for p in parts if isinstance(p, Element)}
        plain = len(parts) <= MOST_PARTS and not any(isinstance(p, Call) for p in parts)
        return plain and not names & self.scalars and not arrays & self.arrays


def _written(rest: tuple[Statement, ...], one: Declare) -> tuple[Statement, ...]:
    """Return statements with a variable's value in place of the variable."""
    assert one.value is not None
    value = one.value if one.value.type == one.type else Cast(one.value, one.type, one.line)

    def change(part: Expression) -> Expression:
        return value if isinstance(part, Name) and part.name == one.name else part

    return rewritten(rest, change)
