"""Arguments with several values: ``n=1024/2048``, ``n=1024:8192:1024`` or ``n=1024:65536:*2``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.core.errors import ArgumentError

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
