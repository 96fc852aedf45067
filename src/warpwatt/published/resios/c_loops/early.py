"""Early returns of a function written in place: what follows stands under the other side of a condition.

Inside a loop a return ends the loop and sets a flag, under which the rest is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.nest import (
    Assign,
    If,
    Leave,
    Loop,
    Name,
    Return,
    Unary,
    While,
    integer,
    walk,
)  # fmt: skip
from warpwatt.published.resios.c_loops.rewrite import copied
from warpwatt.published.resios.c_loops.types import INT

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Statement

Body = tuple["Statement", ...]


def returns(body: Body) -> bool:
    """Whether statements return anywhere."""
    return any(isinstance(s, Return) for s in walk(body))


def returns_from_loop(body: Body) -> bool:
    """Whether a loop of these statements returns: a flag is needed then."""
    return any(isinstance(s, (Loop, While)) and returns(s.body) for s in walk(body))


@dataclass(frozen=True, slots=True)
class Straightener:
    """Writes statements without returns; ``flag`` names the variable that says that a loop returned."""

    flag: str

    def straight(self, body: Body) -> Body:
        """Return statements that do the same without any return."""
        for number, statement in enumerate(body):
            before, rest = body[:number], body[number + 1 :]
            if isinstance(statement, Return):
                return before
            if not returns((statement,)):
                continue
            if isinstance(statement, If):
                return (*before, *self._choice(statement, rest))
            assert isinstance(statement, (Loop, While))
            loop = replace(statement, body=self._leaving(statement.body))
            after = self.straight(rest)
            if not after:
                return (*before, loop)
            going_on = Unary("!", self._flag(statement.line), INT, statement.line)
            return (*before, loop, If(going_on, after, (), statement.line))
        return body

    def _choice(self, statement: If, rest: Body) -> Body:
        """Return a condition with what follows it in the branches that go on."""
        then = self.straight((*statement.then, *rest))
        other = self.straight((*statement.other, *copied(rest)))
        if then:
            return (replace(statement, then=then, other=other),)
        if not other:
            return ()
        negated = Unary("!", statement.condition, INT, statement.line)
        return (replace(statement, condition=negated, then=other, other=()),)

    def _leaving(self, body: Body) -> Body:
        """Return a loop's body in which a return sets the flag and leaves the loop."""
        found: list[Statement] = []
        for statement in body:
            match statement:
                case Return(line=line):
                    found += [Assign(self._flag(line), "", integer(1, line), line), Leave(line)]
                case If(then=then, other=other):
                    found.append(replace(statement, then=self._leaving(then), other=self._leaving(other)))
                case Loop(body=inner, line=line) | While(body=inner, line=line) if returns(inner):
                    found.append(replace(statement, body=self._leaving(inner)))
                    found.append(If(self._flag(line), (Leave(line),), (), line))
                case _:
                    found.append(statement)
        return tuple(found)

    def _flag(self, line: int) -> Name:
        return Name(self.flag, INT, line)
