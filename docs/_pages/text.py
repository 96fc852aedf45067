"""Markdown, built from rows."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; bars and line breaks in cells do not break it."""
    lines = [_row(heads), _row(["---"] * len(heads)), *(_row(map(cell, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def cell(text: object) -> str:
    """Return a text that fits into one cell: a bar would end it, even in code.

    >>> cell("`a|b` or c|d")
    '<code>a&#124;b</code> or c&#124;d'
    """
    line = " ".join(str(text).split())
    with_bars = re.compile(r"`([^`]*\|[^`]*)`")
    line = with_bars.sub(lambda found: f"<code>{html.escape(found[1], quote=False)}</code>", line)
    return line.replace("|", "&#124;")


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def plain(docstring: str) -> str:
    """Return a docstring's text as Markdown: roles and double backticks become code."""
    text = re.sub(
        r":(?:func|class|mod|attr|data|meth|exc):`~?([^`]+)`", lambda m: f"`{m[1].split('.')[-1]}`", docstring
    )
    return re.sub(r"``([^`]+)``", r"`\1`", text)
