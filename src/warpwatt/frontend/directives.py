"""Launches written in the source itself, so that ``warpwatt predict FILE`` needs nothing else.

::

    // warpwatt: --kernel saxpy --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --arg y=f32[n]

One line per launch. The command line overrides what a line says.
"""

from __future__ import annotations

import argparse
import shlex
from typing import NoReturn

from warpwatt.core.errors import InputError
from warpwatt.frontend.launches import LaunchText

MARK = "warpwatt:"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def _parser() -> _Parser:
    parser = _Parser(add_help=False, allow_abbrev=False)
    for name in ("kernel", "grid", "block", "cluster"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--shared", type=int)
    parser.add_argument("--arg", action="append", default=[])
    parser.add_argument("--loop", action="append", default=[])
    return parser


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
            said = vars(_parser().parse_args(shlex.split(rest.removesuffix("*/"))))
        except ValueError as error:
            hint = "write // warpwatt: --kernel NAME --grid X,Y,Z --block X,Y,Z --arg NAME=VALUE"
            raise InputError(f"cannot read the launch: {error}", file=file, line=number, hint=hint) from None
        found.append(LaunchText(**{**said, "arg": tuple(said["arg"]), "loop": tuple(said["loop"])}))
    return tuple(found)
