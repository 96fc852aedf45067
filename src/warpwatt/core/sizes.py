"""Sizes as people write them, everywhere: whole numbers that follow others, ``n/TILE + 2``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

from warpwatt.core.errors import InputError

LONGEST = 1000
"""Characters of an expression that are read."""
LARGEST = 2**63
"""No size is beyond it."""


def _rounded_up(left: int, right: int) -> int:
    return -(-left // right)


_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _rounded_up,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def evaluate(text: str, names: Mapping[str, int]) -> int:
    """Return the value of an expression of whole numbers, names, ``+ - * / // %`` and parentheses.

    ``/`` rounds up, as the blocks of a grid must cover everything; ``//`` rounds down.

    Raises
    ------
    InputError
        If it cannot be read, names what is not there, or divides by zero.

    >>> evaluate("n/TILE", {"n": 1000, "TILE": 16}), evaluate("(n - 1)//16 + 1", {"n": 1000})
    (63, 63)
    """
    if len(text) > LONGEST:
        raise InputError(f"a size of {len(text)} characters", hint=f"at most {LONGEST} are read")
    try:
        return _value(ast.parse(text.strip(), mode="eval").body, names)
    except ZeroDivisionError:
        raise InputError(f"division by zero: {text!r}") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        hint = "write whole numbers, names of macros and arguments, bx by bz, + - * / // % and parentheses"
        raise InputError(f"not a size: {text[:60]!r}", hint=hint) from None


def _value(node: ast.expr, names: Mapping[str, int]) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        value = node.value
    elif isinstance(node, ast.Name):
        if node.id not in names:
            known = ", ".join(names) or "none"
            raise InputError(f"no number is called {node.id!r}", hint=f"known: {known}")
        value = names[node.id]
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        value = _OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = -_value(node.operand, names)
    else:
        raise ValueError(node)
    if abs(value) > LARGEST:
        raise InputError(f"{value} overflows")
    return value
