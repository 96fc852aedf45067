"""TOML files of users: their text and contents, or a typed error with the line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from warpwatt.core.errors import ParseError

_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


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
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ParseError("not TOML that can be read: nested too deeply", file=path) from None
    except ValueError as error:  # besides wrong TOML: impossible dates, integers of thousands of digits
        problem, found = str(error), _PLACE.search(str(error))
        ends = found is not None and found[1] is None
        line = text.count("\n") + 1 if ends else int(found[1]) if found is not None else None
        raise ParseError(f"not TOML: {_PLACE.sub('', problem)}", file=path, line=line) from None
