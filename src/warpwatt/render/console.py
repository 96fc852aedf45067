"""A rich console that writes into a string, and the few building blocks of all text output."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from warpwatt.render.figures import bar, percent

if TYPE_CHECKING:
    from rich.console import RenderableType

    from warpwatt.render.context import Context

BAR_WIDTH = 20
HEADING = "bold cyan"
QUIET = "dim"
LABEL_WIDTH = 18
GLUE = "\ue000"
"""Stands for a blank at which no line is broken, until the text is laid out."""
_BEFORE_UNIT = re.compile(r"(?<=[\d?]) (?=(?:%|[pnµmkMGT]?(?:s|B|W|J|Hz|FLOP)\b))")


def to_text(parts: Iterable[RenderableType], context: Context) -> str:
    """Return ``parts`` below each other as text of ``context.width`` columns, with ANSI only if wanted."""
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=context.width,
        force_terminal=context.colour,
        color_system="standard" if context.colour else None,
        no_color=not context.colour,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )
    for part in parts:
        console.print(part)
    text = buffer.getvalue().replace(GLUE, " ")
    return "".join(f"{line.rstrip(' ')}\n" for line in text.splitlines())


def glued(text: str) -> str:
    """Return ``text`` with numbers glued to their units, so that no line breaks between them.

    >>> glued("28 % (75.7 µs)").replace(GLUE, "_")
    '28_% (75.7_µs)'
    """
    return _BEFORE_UNIT.sub(GLUE, text)


def section(title: str, *body: RenderableType) -> list[RenderableType]:
    """Return a heading and its indented body; nothing for an empty body."""
    if not body:
        return []
    return [Text(""), Text(title, style=HEADING), *(Padding(part, (0, 0, 0, 2)) for part in body)]


def panel(body: RenderableType, title: str, subtitle: str) -> Panel:
    """Return ``body`` in a box, its title on the top and its subtitle on the bottom edge."""
    top = Text(title, style="bold", overflow="ellipsis", no_wrap=True)
    bottom = Text(subtitle, style="bold")
    return Panel(body, title=top, subtitle=bottom, title_align="left", subtitle_align="right", padding=(0, 1))


def facts_grid() -> Table:
    """Return an empty table of quiet labels and what they are."""
    table = Table.grid(padding=(0, 1))
    table.add_column(style=QUIET)
    table.add_column()
    return table


def bars(rows: Sequence[tuple[str, float, str]]) -> Table:
    """Return a table of label, bar, share and note."""
    table = Table.grid(padding=(0, 1))
    table.add_column(width=LABEL_WIDTH, no_wrap=True, overflow="ellipsis")
    table.add_column(width=BAR_WIDTH, no_wrap=True)
    table.add_column(justify="right", no_wrap=True, width=5)
    table.add_column(overflow="fold")
    for label, share, note in rows:
        table.add_row(
            Text(label),
            Text(bar(share, BAR_WIDTH), style=heat(share)),
            Text(percent(share)),
            Text(note, style=QUIET),
        )
    return table


def heat(share: float) -> str:
    """Return the colour of a share: the fuller, the warmer.

    >>> heat(0.9), heat(0.5), heat(0.1)
    ('red', 'yellow', 'green')
    """
    if share >= 0.8:
        return "red"
    return "yellow" if share >= 0.4 else "green"


def plain(text: str) -> str:
    r"""Return ``text`` with control characters (escape sequences of hostile sources) made visible.

    >>> plain("a\x1b[2Jb\tc") == "a\ufffd[2Jb    c"
    True
    """
    spread = text.replace("\t", "    ")
    return spread if spread.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in spread)
