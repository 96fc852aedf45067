"""Regular expressions as :mod:`re` compiles them, in a form that can be kept.

To compile one takes a hundred times as long as to make it of its code. Where this Python has not the inside
that this was written for (3.11 to 3.14), :func:`compiling` says so, and nothing is kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Form = tuple[int, list[int], int, dict[str, int], tuple[str | None, ...]]
"""Flags, code, number of groups, numbers by name and names by number, as ``_sre.compile`` takes them."""


def compiling() -> Any:
    """Return the module whose ``compile(pattern, flags)`` does :mod:`re`'s work; None where it has not."""
    inside = getattr(re, "_compiler", None)
    wanted = ("compile", "_code", "_parser", "_sre", "isstring", "SRE_FLAG_DEBUG")
    return inside if all(hasattr(inside, name) for name in wanted) else None


def form(inside: Any, pattern: str | bytes, flags: int) -> Form:
    """Return what :mod:`re` makes of an expression; raise as it does."""
    parsed = inside._parser.parse(pattern, flags)
    code = [int(word) for word in inside._code(parsed, flags)]
    numbers = dict(parsed.state.groupdict)
    names: list[str | None] = [None] * parsed.state.groups
    for name, number in numbers.items():
        names[number] = name
    return int(flags | parsed.state.flags), code, parsed.state.groups - 1, numbers, tuple(names)


def expression(inside: Any, pattern: str | bytes, made: Form) -> re.Pattern[Any]:
    """Return the expression of a form; the code is checked before it is believed.

    >>> inside = compiling()
    >>> expression(inside, "(?P<word>.+)!", form(inside, "(?P<word>.+)!", 0)).match("so!")["word"]
    'so'
    """
    flags, code, groups, numbers, names = made
    found: re.Pattern[Any] = inside._sre.compile(pattern, flags, code, groups, numbers, names)
    return found


def kept_by(inside: Any, remembered: Callable[[str, Callable[[], Form]], Form]) -> Callable[..., Any]:
    """Return a ``compile`` for :func:`compiling`'s module that asks ``remembered`` for a form by its text."""
    real = inside.compile

    def compile_(pattern: Any, flags: int = 0) -> Any:
        if not inside.isstring(pattern) or flags & inside.SRE_FLAG_DEBUG:
            return real(pattern, flags)
        made = remembered(f"{int(flags)} {pattern!r}", lambda: form(inside, pattern, flags))
        return expression(inside, pattern, made)

    return compile_
