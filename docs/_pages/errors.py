"""The table of errors and exit codes, from the classes themselves."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

from docs._pages.text import plain, table

from warpwatt.core import errors
from warpwatt.sweep import remote
from warpwatt.workers import pool

if TYPE_CHECKING:
    from collections.abc import Mapping

MEANINGS = {
    0: "good",
    1: "bad input or impossible values; the message names file, line, and what helps",
    2: "the command line is malformed",
    3: "unknown or unsupported GPU, missing toolchain or device",
    4: "a budget of `warpwatt check` is exceeded",
}


def pages() -> Mapping[str, str]:
    """Return the page."""
    classes = {
        kind
        for module in (errors, remote, pool)
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, errors.WarpWattError) and kind is not errors.WarpWattError
    }
    rows = [
        (
            f"`{kind.__name__}`",
            str(kind.exit_code),
            re.sub(r" \(exit code \d\)", "", plain(inspect.getdoc(kind) or "")),
        )
        for kind in sorted(classes, key=lambda kind: (kind.exit_code, kind.__name__))
    ]
    codes = table(("code", "meaning"), [(str(code), text) for code, text in MEANINGS.items()])
    return {
        "reference/errors.md": _TEXT.format(
            codes=codes, classes=table(("class", "exit code", "meaning"), rows)
        )
    }


_TEXT = """# Errors and exit codes

{codes}
An expected failure is never a traceback: it says what is wrong, where, and what to do about it.

## In Python

All derive from `warpwatt.core.errors.WarpWattError`, which carries
`message`, `hint`, `file`, `line`, `details` and `exit_code`.

{classes}"""
