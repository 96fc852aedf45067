"""Markdown, built from rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; bars and line breaks in cells do not break it."""
    lines = [_row(heads), _row(["---"] * len(heads)), *(_row(map(cell, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def cell(text: object) -> str:
    """Return a text that fits into one cell."""
    return " ".join(str(text).split()).replace("|", "\\|")


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def plain(docstring: str) -> str:
    """Return a docstring's text as Markdown: roles and double backticks become code."""
    text = re.sub(
        r":(?:func|class|mod|attr|data|meth|exc):`~?([^`]+)`", lambda m: f"`{m[1].split('.')[-1]}`", docstring
    )
    return re.sub(r"``([^`]+)``", r"`\1`", text)
