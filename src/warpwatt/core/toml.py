"""TOML files of users: their text and contents, or a typed error with the line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from warpwatt.core.errors import ParseError

_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_LONG = re.compile(r"[0-9a-fA-F_]{16}")
"""Digits that may be a number of more than 64 bits."""


def read_toml(path: Path) -> dict[str, Any]:
    """Return the contents of a TOML file.

    Raises
    ------
    ParseError
        If it cannot be read or is not TOML; names file and line.
    """
    return parse_toml(read_text(path), path)


def read_text(path: Path) -> str:
    """Return the text of a file, without a byte order mark, or raise ``ParseError``."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ParseError(f"cannot be read: {reason}", file=path) from None
    except UnicodeDecodeError:
        raise ParseError("not UTF-8 text", file=path, hint="save the file as UTF-8") from None


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """Return what the text of a file holds, or raise ``ParseError``.

    >>> parse_toml("a = [1, 2]", Path("x.toml"))
    {'a': [1, 2]}
    >>> parse_toml("a = 10000000000000000000000000", Path("x.toml"))
    Traceback (most recent call last):
        ...
    warpwatt.core.errors.ParseError: x.toml:1: not TOML: an integer of more than 64 bits
    """
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise ParseError("not TOML that can be read: nested too deeply", file=path) from None
    except ValueError as error:  # besides wrong TOML: impossible dates, integers of thousands of digits
        problem, found = str(error), _PLACE.search(str(error))
        ends = found is not None and found[1] is None
        line = text.count("\n") + 1 if ends else int(found[1]) if found is not None else None
        raise ParseError(f"not TOML: {_PLACE.sub('', problem)}", file=path, line=line) from None
    if found := _LONG.search(text):
        _check(data, text.count("\n", 0, found.start()) + 1, path)
    return data


def _check(value: object, line: int, path: Path) -> None:
    """Refuse integers of more than 64 bits, which TOML does not have, but Python reads."""
    if isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            _check(inner, line, path)
    elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise ParseError("not TOML: an integer of more than 64 bits", file=path, line=line)
