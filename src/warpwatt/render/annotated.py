"""A kernel line by line: its share of the time, what warps wait for there, and what would help."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from warpwatt.core.advice import Advice
from warpwatt.core.prediction import LineCost, Prediction
from warpwatt.core.units import si
from warpwatt.render.code import short_names, shown_lines
from warpwatt.render.console import QUIET, glued, heat, plain
from warpwatt.render.figures import bounds, percent
from warpwatt.render.findings import line_findings
from warpwatt.render.reasons import stall_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from warpwatt.render.context import Context

AROUND = 2
"""Source lines shown before and after a line that costs something."""
SMALL = 0.005
"""Share of the time from which on a line's share and stalls are told."""
HELP = "bold green"


def annotated(prediction: Prediction, context: Context) -> list[RenderableType]:
    """Return the source of the kernel with notes under the lines that cost time, file by file."""
    names = list(dict.fromkeys(line.file for line in prediction.lines))
    short = short_names(names)
    parts: list[RenderableType] = []
    for name in names:
        if len(names) > 1:
            parts.append(Text(plain(short[name]), style=QUIET))
        parts.append(_listing(prediction, name, context))
    return parts


def _listing(prediction: Prediction, name: str, context: Context) -> Table:
    costs = {line.line: line for line in prediction.lines if line.file == name}
    texts = context.sources.get(name, "").splitlines()
    notes = {number: list(_notes(prediction, cost)) for number, cost in costs.items()}
    telling = {n for n, cost in costs.items() if cost.time_share >= SMALL or notes[n]}
    shown = shown_lines(telling, len(texts), AROUND)
    source = {n: texts[n - 1] if n <= len(texts) else costs[n].text for n in shown}
    while shown and not source[shown[-1]].strip():
        shown.pop()
    indent = _indent(list(source.values()))
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(justify="right", style=QUIET, width=len(str(max(shown, default=0))), no_wrap=True)
    table.add_column(justify="right", width=5, no_wrap=True)
    table.add_column(ratio=1)
    for before, number in zip([0, *shown], shown, strict=False):
        if before and number > before + 1:
            table.add_row("", "", Text("⋯", style=QUIET))
        _add_line(table, number, source[number][indent:], costs.get(number))
        for note in notes.get(number, ()):
            table.add_row("", "", _hanging(*note))
    return table


def _indent(texts: Sequence[str]) -> int:
    """Return the columns of blanks that all lines begin with.

    >>> _indent(["    a", "", "      b"])
    4
    """
    return min((len(t) - len(t.lstrip(" ")) for t in texts if t.strip()), default=0)


def _add_line(table: Table, number: int, text: str, cost: LineCost | None) -> None:
    share = cost.time_share if cost is not None else 0.0
    tells = share >= SMALL
    figure = Text(percent(share), style=heat(share)) if tells else Text("")
    style = "" if tells else QUIET
    table.add_row(str(number), figure, Text(plain(text), style=style, no_wrap=True, overflow="ellipsis"))


def _notes(prediction: Prediction, cost: LineCost) -> Iterator[tuple[str, str, str]]:
    """Yield mark, text and style of what is worth saying about a line."""
    stalls = stall_text(cost) if cost.time_share >= SMALL else ""
    if stalls:
        yield "·", stalls, ""
    for finding in line_findings(prediction, cost):
        yield "·", finding, "yellow"
    for one in prediction.advice or ():
        if one.line is not None and (one.line.file, one.line.line) == (cost.file, cost.line):
            yield "→", f"{one.text} would save {percent(one.share)}", HELP


def _hanging(mark: str, text: str, style: str) -> Table:
    """Return a note whose further lines stand under its first."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=3, justify="right")
    grid.add_column(overflow="fold")
    grid.add_row(Text(mark, style=style), Text(glued(plain(text)), style=style))
    return grid


def advice_table(advice: Iterable[Advice]) -> Table:
    """Return one row per change: what it saves of the time, what it is, and under it how to get there."""
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", no_wrap=True, style=HELP, width=5)
    table.add_column(overflow="fold")
    for one in advice:
        around = bounds(one.saved)
        amount = si(one.saved.value, "s") + (f" ({around})" if around else "")
        energy = f", {percent(one.energy_share)} of the energy" if one.energy_share > 0 else ""
        note = glued(f": {amount}{energy}")
        table.add_row(percent(one.share), Text.assemble(plain(one.text), (note, QUIET)))
        if one.fix:
            table.add_row("", Text(f"→ {plain(one.fix)}", style="bold"))
    return table
