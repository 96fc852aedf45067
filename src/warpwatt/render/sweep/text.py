"""A sweep as a table in the terminal: the columns that vary, the best marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from warpwatt.advise.rows import OBJECTIVES, least, objective, pareto
from warpwatt.core.units import si
from warpwatt.render.console import QUIET, plain, to_text
from warpwatt.render.figures import percent, plural
from warpwatt.render.sweep.points import varying

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from warpwatt.advise.rows import Row
    from warpwatt.render.context import Context

MOST = 40
"""Rows shown unless everything is asked for."""
_RIGHT = ("max regs", "regs", "SM clock", "memory clock")
BEST, FRONT = "★", "◆"


def render(rows: Sequence[Row], context: Context) -> str:
    """Return the table; of a long sweep the rows that matter most, everything with ``-v``."""
    return to_text(_parts(rows, context), context)


def _parts(rows: Sequence[Row], context: Context) -> Iterator[RenderableType]:
    results = [row for row in rows if row.time is not None]
    for launch in dict.fromkeys(row.launch for row in results):
        own = [row for row in results if row.launch == launch]
        yield Text(plain(own[0].kernel), style="bold cyan")
        yield _table(own, shown(own, everything=context.verbosity > 0))
        yield Text("")
    yield Text(_legend(results, rows, everything=context.verbosity > 0), style=QUIET)
    yield from _failures(rows)
    for warning in dict.fromkeys(w for row in results for w in row.warnings):
        yield Text(f"! {plain(warning)}", style="yellow")


def shown(rows: Sequence[Row], *, everything: bool) -> list[Row]:
    """Return the rows to show, in order: all of few; else those on the Pareto front, then the fastest."""
    if everything or len(rows) <= MOST:
        return list(rows)
    front = pareto(rows)
    ranked = sorted(rows, key=lambda row: (row.number not in front, objective(row, "time")))
    return sorted(ranked[:MOST], key=lambda row: row.number)


def _table(rows: Sequence[Row], chosen: Sequence[Row]) -> Table:
    axes = varying(rows)
    front = pareto(rows)
    best = {goal: least(rows, goal).number for goal in OBJECTIVES}
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("")
    for name in axes:
        table.add_column(name, justify="right" if name in _RIGHT else "left", no_wrap=name in _RIGHT)
    for name in ("time", "power", "energy", "energy×time"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("occ.", justify="right")
    table.add_column("limited by", overflow="fold")
    for row in chosen:
        cells = [Text(plain(read(row))) for read in axes.values()]
        mark = FRONT if row.number in front else ""
        table.add_row(mark, *cells, *_results(row, best))
    return table


def _results(row: Row, best: dict[str, int]) -> Iterator[Text]:
    assert row.time is not None
    assert row.power is not None
    assert row.energy is not None
    assert row.energy_delay is not None
    yield _value(si(row.time.value, "s"), marked=best["time"] == row.number)
    yield Text(si(row.power.value, "W") + ("*" if row.at_power_limit else " "))
    yield _value(si(row.energy.value, "J"), marked=best["energy"] == row.number)
    yield _value(si(row.energy_delay, "Js"), marked=best["edp"] == row.number)
    yield Text(percent(row.occupancy or 0.0))
    yield Text(plain(row.limited_by))


def _value(text: str, *, marked: bool) -> Text:
    return Text(f"{BEST} {text}" if marked else text, style="bold green" if marked else "")


def _legend(results: Sequence[Row], rows: Sequence[Row], *, everything: bool) -> str:
    said = [f"{plural(len(rows), 'point')}"]
    if len(results) < len(rows):
        said.append(f"{len(rows) - len(results)} without result")
    hidden = len(results) - sum(
        len(shown([row for row in results if row.launch == launch], everything=everything))
        for launch in {row.launch for row in results}
    )
    if hidden:
        said.append(f"{hidden} not shown: -v shows all, -o FILE.csv|.json|.html|.parquet keeps all")
    marks = f"{BEST} best. {FRONT} no other is better in both time and energy."
    power = " * at the power limit." if any(row.at_power_limit for row in results) else ""
    return f"{'; '.join(said)}. {marks}{power}" if results else f"{'; '.join(said)}."


def _failures(rows: Sequence[Row]) -> Iterator[Text]:
    """Yield every reason once, with how many points it concerns."""
    reasons: dict[str, int] = {}
    for row in rows:
        if row.error:
            reasons[row.error] = reasons.get(row.error, 0) + 1
    for reason, number in reasons.items():
        yield Text(f"! {plural(number, 'point')}: {plain(reason)}", style="red")
