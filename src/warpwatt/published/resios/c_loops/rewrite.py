"""One walk that rebuilds statements and expressions; what changes is given as two functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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
    Select,
    Unary,
    While,
)  # fmt: skip

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Expression, Statement

    ChangeExpression = Callable[[Expression], Expression]
    ChangeStatement = Callable[[Statement], Statement | None]


def replaced(expression: Expression, change: ChangeExpression) -> Expression:
    """Return an expression with every part changed, operands first; subscripts included."""
    match expression:
        case Element(subscripts=subscripts):
            expression = replace(expression, subscripts=tuple(replaced(s, change) for s in subscripts))
        case Unary(operand=operand) | Cast(operand=operand):
            expression = replace(expression, operand=replaced(operand, change))
        case Binary(left=left, right=right):
            expression = replace(expression, left=replaced(left, change), right=replaced(right, change))
        case Select(condition=condition, then=then, other=other):
            expression = replace(
                expression,
                condition=replaced(condition, change),
                then=replaced(then, change),
                other=replaced(other, change),
            )
        case Call(arguments=arguments):
            expression = replace(expression, arguments=tuple(replaced(a, change) for a in arguments))
    return change(expression)


def rewritten(
    body: tuple[Statement, ...], expression: ChangeExpression, statement: ChangeStatement | None = None
) -> tuple[Statement, ...]:
    """Return statements with changed expressions, then changed or (None) left out themselves."""
    found = []
    for one in body:
        changed = _rewritten(one, expression, statement)
        kept = changed if statement is None else statement(changed)
        if kept is not None:
            found.append(kept)
    return tuple(found)


def _rewritten(one: Statement, expression: ChangeExpression, statement: ChangeStatement | None) -> Statement:
    match one:
        case Declare(value=value) if value is not None:
            return replace(one, value=replaced(value, expression))
        case Assign(target=target, value=value):
            changed = replaced(target, expression)
            assert isinstance(changed, (Name, Element))
            return replace(one, target=changed, value=replaced(value, expression))
        case If(condition=condition, then=then, other=other):
            return replace(
                one,
                condition=replaced(condition, expression),
                then=rewritten(then, expression, statement),
                other=rewritten(other, expression, statement),
            )
        case Loop(start=start, stop=stop, body=body):
            return replace(
                one,
                start=replaced(start, expression),
                stop=replaced(stop, expression),
                body=rewritten(body, expression, statement),
            )
        case While(condition=condition, body=body):
            return replace(
                one, condition=replaced(condition, expression), body=rewritten(body, expression, statement)
            )
    return replace(one)


def copied(body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Return statements again, none of them the same object: analyses tell statements apart by identity."""
    return rewritten(body, lambda part: part)
