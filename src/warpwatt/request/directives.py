"""Launches written in the source itself, so that ``warpwatt predict FILE`` needs nothing else.

::

    // warpwatt: --kernel saxpy --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --arg y=f32[n]

One line per launch. The command line overrides what a line says.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any

from warpwatt.core.errors import InputError
from warpwatt.request.fields import Group, Kind, fields_of
from warpwatt.request.launch_text import LaunchText

MARK = "warpwatt:"
_KNOWN = {field.name: field for field in fields_of(Group.LAUNCH) if field.key}


def _read(words: Iterable[str]) -> LaunchText:
    """Read ``--flag value`` and ``--flag=value`` words; raise ValueError where they are not."""
    values: dict[str, Any] = {}
    remaining = iter(words)
    for word in remaining:
        flag, equals, value = word.partition("=")
        name = flag.removeprefix("--")
        if not flag.startswith("--") or name not in _KNOWN:
            raise ValueError(f"no option {flag!r}")
        text = value if equals else next(remaining, None)
        if text is None:
            raise ValueError(f"{flag} needs a value")
        if _KNOWN[name].repeated:
            values[name] = (*values.get(name, ()), text)
        else:
            values[name] = int(text) if _KNOWN[name].kind is Kind.NUMBER else text
    return LaunchText(**values)


def read_directives(text: str, file: str) -> tuple[LaunchText, ...]:
    """Return the launches a source describes, in order.

    Raises
    ------
    InputError
        If a ``// warpwatt:`` line cannot be read; names file and line.

    >>> first, = read_directives("// warpwatt: --grid 8 --block 64,2 --arg n=5", "a.cu")
    >>> first.grid, first.block, first.arg
    ('8', '64,2', ('n=5',))
    """
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        comment, mark, rest = line.partition(MARK)
        if not mark or comment.strip() not in ("//", "/*", "*", "#"):
            continue
        try:
            found.append(_read(shlex.split(rest.removesuffix("*/"))))
        except ValueError as error:
            hint = "write // warpwatt: --kernel NAME --grid X,Y,Z --block X,Y,Z --arg NAME=VALUE"
            raise InputError(f"cannot read the launch: {error}", file=file, line=number, hint=hint) from None
    return tuple(found)
