"""Features of launches as a text table, CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warpwatt.published.alavani.features.described import descriptions
from warpwatt.published.alavani.features.values import NAMES, Convention
from warpwatt.render.console import HEADING, QUIET, plain, to_text
from warpwatt.render.json import Schema, dump, header

if TYPE_CHECKING:
    from rich.console import RenderableType

    from warpwatt.published.alavani.features.launches import LaunchFeatures
    from warpwatt.render.context import Context

SCHEMA = Schema("features", "1.0.0")
KEYS = ("program", "kernel", "gpu", "convention")
"""Columns of the CSV in front of the features; ``warpwatt train`` knows such a table by them."""


def render_csv(program: str, found: Sequence[LaunchFeatures]) -> str:
    """Return a row for each launch, GPU and convention; a cell is empty where nothing is known."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*KEYS, *NAMES))
    for one in found:
        values = asdict(one.features)
        front = (program, one.kernel.display_name, one.gpu.name, one.convention)
        writer.writerow((*front, *("" if values[n] is None else number(values[n]) for n in NAMES)))
    return out.getvalue()


def render_json(found: Sequence[LaunchFeatures], context: Context) -> str:
    """Return the features as one JSON document, each with symbol, equation and unit."""
    return dump({**header(context, SCHEMA), "features": [_document(one) for one in found]})


def render_text(found: Sequence[LaunchFeatures], context: Context) -> str:
    """Return a table of 80 columns for every launch and GPU, conventions side by side."""
    return to_text((part for group in _grouped(found) for part in _account(group)), context)


def number(value: float) -> str:
    """Return a feature's value, whole numbers as such.

    >>> number(38.0), number(1256 / 38), number(1.5e9)
    ('38', '33.0526', '1500000000')
    """
    return str(int(value)) if value == int(value) else f"{value:.6g}"


def _document(one: LaunchFeatures) -> dict[str, Any]:
    values, known = asdict(one.features), descriptions()
    launch = one.launch
    is_published = one.convention is Convention.PUBLISHED
    return {
        "kernel": one.kernel.display_name,
        "gpu": one.gpu.name,
        "launch": {"grid": str(launch.grid), "block": str(launch.block), "shared": launch.dynamic_shared},
        "convention": str(one.convention),
        "values": [
            {
                "name": name,
                "value": values[name],
                "unit": known[name].unit,
                "symbol": known[name].symbol,
                "equation": known[name].equation,
                "differs": known[name].published if is_published else "",
                "final": known[name].final,
            }
            for name in NAMES
        ],
        "assumptions": list(one.features.assumptions),
    }


def _grouped(found: Iterable[LaunchFeatures]) -> Iterator[tuple[LaunchFeatures, ...]]:
    """Yield the conventions of each launch and GPU together."""
    for _, group in groupby(found, key=lambda one: (id(one.kernel), one.gpu.name, one.launch)):
        yield tuple(group)


def _account(group: tuple[LaunchFeatures, ...]) -> Iterator[RenderableType]:
    first = group[0]
    title = f"{plain(first.kernel.display_name)} on {first.gpu.name}"
    yield Text(title, style=HEADING)
    yield Text(f"{first.launch.grid} blocks of {first.launch.block} threads; * is among the final fifteen")
    yield Padding(_table(group), (0, 0, 0, 2))
    if any(one.convention is Convention.PUBLISHED for one in group):
        yield Text("Released tables, where they are not what the thesis prints", style=HEADING)
        yield Padding(_differences(), (0, 0, 0, 2))
    assumed = dict.fromkeys(text for one in group for text in one.features.assumptions)
    if assumed:
        yield Text("Assumptions", style=HEADING)
        yield from (Padding(Text(f"· {plain(text)}"), (0, 0, 0, 2)) for text in assumed)
    yield Text("")


def _table(group: tuple[LaunchFeatures, ...]) -> Table:
    known = descriptions()
    table = Table(box=None, pad_edge=False, header_style=QUIET)
    table.add_column("feature", no_wrap=True)
    for one in group:
        table.add_column(str(one.convention), justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("equation", no_wrap=True)
    table.add_column("symbol", no_wrap=True)
    columns = [asdict(one.features) for one in group]
    for name in NAMES:
        said = known[name]
        cells = ["-" if each[name] is None else number(each[name]) for each in columns]
        unit = "" if said.unit == "1" else said.unit
        table.add_row(name + (" *" if said.final else ""), *cells, unit, said.equation, said.symbol)
    return table


def _differences() -> Table:
    table = Table.grid(padding=(0, 2))
    for name, said in descriptions().items():
        if said.published:
            table.add_row(Text(name, style=QUIET), Text(said.published))
    return table
