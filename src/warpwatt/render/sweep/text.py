"""A sweep as a table in the terminal: the columns that vary, the best marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from warpwatt.choose.odds import only_least
from warpwatt.core.units import si
from warpwatt.render.console import QUIET, plain, to_text
from warpwatt.render.figures import percent, plural
from warpwatt.render.plots.heat import heat_maps
from warpwatt.render.plots.sweep import ENERGY, TIME
from warpwatt.sweep.points import varying
from warpwatt.sweep.rows import OBJECTIVES, objective, pareto

if TYPE_CHECKING:
    from rich.console import RenderableType

    from warpwatt.render.context import Context
    from warpwatt.render.plots.heat import Cell, HeatMap
    from warpwatt.sweep.rows import Row

MOST = 50
"""Rows shown unless everything is asked for."""
WIDE = 96
"""Columns from which all results have room."""
_RIGHT = ("max regs", "regs", "SM clock", "memory clock")
BEST, FRONT = "★", "◆"
SHADES = " ░▒▓█"
"""Of a heat map, from least to most."""


def render(rows: Sequence[Row], context: Context) -> str:
    """Return the table; of a long sweep the rows that matter most, everything with ``-v``."""
    return to_text(_parts(rows, context), context)


def _parts(rows: Sequence[Row], context: Context) -> Iterator[RenderableType]:
    results = [row for row in rows if row.time is not None]
    several = len({row.input for row in results}) > 1
    for own in by_kernel(results):
        file = f"{own[0].input}: " if several and own[0].input else ""
        yield Text(plain(file + own[0].kernel), style="bold cyan")
        rows_shown = shown(own, everything=context.verbosity > 0)
        yield _table(own, rows_shown, wide=context.width >= WIDE)
        yield Text("")
        for one in heat_maps(own, (TIME, ENERGY)):
            yield from _heat(one)
    yield Text(_legend(results, rows, everything=context.verbosity > 0), style=QUIET)
    for reason, number in failures(rows).items():
        yield Text(f"! {plural(number, 'point')}: {plain(reason)}", style="red")
    for warning in dict.fromkeys(w for row in results for w in row.warnings):
        yield Text(f"! {plain(warning)}", style="yellow")


def _heat(one: HeatMap) -> Iterator[RenderableType]:
    """Yield a heat map: the darker, the more."""
    yield Text(f"{one.title}, {one.unit} (rows: memory clock, columns: SM clock, MHz)", style="bold")
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style=QUIET)
    for head in ("", *one.columns):
        table.add_column(head, justify="right", no_wrap=True)
    for clock, cells in zip(one.lines, one.rows, strict=True):
        table.add_row(Text(clock, style=QUIET), *(_shaded(cell) for cell in cells))
    yield table
    yield Text("")


def _shaded(cell: Cell) -> Text:
    shade = SHADES[min(len(SHADES) - 1, int(cell.shade * len(SHADES)))]
    return Text(f"{BEST if cell.best else shade} {cell.label}", style="bold green" if cell.best else "")


def by_kernel(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows of every kernel of every input together, all its launches."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.input, row.kernel), []).append(row)
    return list(groups.values())


def _best(rows: Sequence[Row]) -> dict[str, set[int]]:
    """Return by objective the best points of every launch that has several."""
    several = _several(rows)
    return {goal: {row.number for own in several for row in _only_best(own, goal)} for goal in OBJECTIVES}


def _several(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows of each launch that has several."""
    launches: dict[int, list[Row]] = {}
    for row in rows:
        launches.setdefault(row.launch, []).append(row)
    return [own for own in launches.values() if len(own) > 1]


def _only_best(rows: Sequence[Row], goal: str) -> list[Row]:
    """Return the row with the least objective, none where another is the same."""
    values = [objective(row, goal) for row in rows]
    return [row for row, value in zip(rows, values, strict=True) if value == only_least(values)]


def shown(rows: Sequence[Row], *, everything: bool) -> list[Row]:
    """Return the rows to show, in order: all of few; else those on the Pareto front, then the fastest."""
    if everything or len(rows) <= MOST:
        return list(rows)
    front = pareto(rows)
    ranked = sorted(rows, key=lambda row: (row.number not in front, objective(row, "time")))
    return sorted(ranked[:MOST], key=lambda row: row.number)


def _table(rows: Sequence[Row], chosen: Sequence[Row], *, wide: bool) -> Table:
    """Return what varies, then the results; energy times time and occupancy only where there is room."""
    axes, best = varying(rows), _best(rows)
    front = pareto(rows) if _several(rows) else frozenset()
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("")
    for name in axes:
        right = name in _RIGHT
        table.add_column(name, justify="right" if right else "left", no_wrap=right, overflow="fold")
    for name in ("time", "power", "energy", *(("energy×time", "occ.") if wide else ())):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("limited by", overflow="fold")
    for row in chosen:
        cells = [Text(plain(read(row))) for read in axes.values()]
        mark = FRONT if row.number in front else ""
        table.add_row(mark, *cells, *_results(row, best, wide=wide))
    return table


def _results(row: Row, best: Mapping[str, set[int]], *, wide: bool) -> Iterator[Text]:
    assert row.time is not None
    assert row.power is not None
    assert row.energy is not None
    assert row.energy_delay is not None
    yield _value(si(row.time.value, "s"), marked=row.number in best["time"])
    yield Text(si(row.power.value, "W") + ("*" if row.at_power_limit else " "))
    yield _value(si(row.energy.value, "J"), marked=row.number in best["energy"])
    if wide:
        yield _value(si(row.energy_delay, "Js"), marked=row.number in best["edp"])
        yield Text(percent(row.occupancy) if row.occupancy is not None else "")
    yield Text(plain(row.limited_by))


def _value(text: str, *, marked: bool) -> Text:
    return Text(f"{BEST} {text}" if marked else text, style="bold green" if marked else "")


def _legend(results: Sequence[Row], rows: Sequence[Row], *, everything: bool) -> str:
    said = [f"{plural(len(rows), 'point')}"]
    if len(results) < len(rows):
        said.append(f"{len(rows) - len(results)} without result")
    hidden = len(results) - sum(len(shown(own, everything=everything)) for own in by_kernel(results))
    if hidden:
        said.append(f"{hidden} not shown: -v shows all, -o FILE.csv|.json|.html|.parquet keeps all")
    each = " of its launch" if len({row.launch for row in results}) > 1 else ""
    marks = f"{BEST} surely the best{each}. {FRONT} no other{each} is better in both time and energy."
    power = " * at the power limit." if any(row.at_power_limit for row in results) else ""
    marked = marks if any(map(_several, by_kernel(results))) else ""
    return " ".join(part for part in (f"{'; '.join(said)}.", marked, power.strip()) if part)


def failures(rows: Iterable[Row]) -> Counter[str]:
    """Return every reason why points have no result, with how many points it concerns."""
    return Counter(row.error for row in rows if row.error)
