"""Sizes: arguments with several values, and expressions of named numbers.

Several values are ``n=1024/2048``, ``n=1024:8192:1024`` or ``n=1024:65536:*2``; an expression is a whole
number that follows other sizes, ``n/TILE + 2``.
"""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.core.errors import ArgumentError, InputError

if TYPE_CHECKING:
    from warpwatt.request.launch_text import LaunchText

MOST = 100_000
"""Values of one argument."""


def expanded(launch: LaunchText) -> tuple[LaunchText, ...]:
    """Return a launch for every combination of the values of its arguments, the last argument fastest.

    Raises
    ------
    ArgumentError
        If a range cannot be read or is too long.

    >>> from warpwatt.request.launch_text import LaunchText
    >>> [one.arg for one in expanded(LaunchText(arg=("n=8/16", "x=f32[n]:a/b.npy")))]
    [('n=8', 'x=f32[n]:a/b.npy'), ('n=16', 'x=f32[n]:a/b.npy')]
    """
    choices = [_choices(text) for text in launch.arg]
    return tuple(replace(launch, arg=arguments) for arguments in itertools.product(*choices))


def values(text: str) -> tuple[str, ...]:
    """Return the values that a text names, itself where it is no list and no range of numbers.

    >>> values("0.5/1.0"), values("1024:4096:1024"), values("8:64:*2"), values("f32[n]:zeros")
    (('0.5', '1.0'), ('1024', '2048', '3072', '4096'), ('8', '16', '32', '64'), ('f32[n]:zeros',))
    """
    pieces = [piece.strip() for piece in text.split("/")]
    if not all(is_number(piece.split(":", maxsplit=1)[0]) for piece in pieces):
        return (text,)
    return tuple(dict.fromkeys(value for piece in pieces for value in _range(piece)))


def _choices(text: str) -> list[str]:
    name, equals, value = text.partition("=")
    return [f"{name}={one}" for one in values(value)] if equals else [text]


def _range(piece: str) -> Iterator[str]:
    """Yield the values of ``N`` or ``LOW:HIGH:STEP``, where the step is a number to add or ``*FACTOR``."""
    low, *rest = piece.split(":")
    if not rest:
        yield low
        return
    try:
        high, step = rest
        value, last = int(low), int(high)
        times, plus = (int(step[1:]), 0) if step.startswith("*") else (1, int(step))
    except ValueError:
        value, last, times, plus = 1, 0, 1, 0
    grows = value <= last and (plus > 0 or (times > 1 and value > 0))
    if not grows:
        hint = "write LOW:HIGH:STEP or LOW:HIGH:*FACTOR in whole numbers, such as 1024:65536:*2"
        raise ArgumentError(f"not a range of values: {piece!r}", hint=hint)
    for _ in range(MOST):
        yield str(value)
        value = value * times + plus
        if value > last:
            return
    raise ArgumentError(f"more than {MOST} values: {piece!r}")


def is_number(text: str) -> bool:
    """Return whether a text is a whole or decimal number."""
    for read in (lambda t: int(t, 0), float):
        try:
            read(text)
        except ValueError:
            continue
        return True
    return False


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
        raise ValueError(value)
    return value
