"""Geometry of heat maps: one quantity over SM and memory clock, the plane that Wang and Chu (2018) sweep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.choose.odds import only_least
from warpwatt.core.units import si
from warpwatt.render.plots.sweep import DELAY, ENERGY, POWER, TIME, Quantity
from warpwatt.sweep.points import name, varying

if TYPE_CHECKING:
    from warpwatt.sweep.rows import Row

WIDTH, ROW_HEIGHT = 560, 34
LEFT, RIGHT, TOP, BOTTOM = 74, 16, 6, 44
FEWEST = 3, 2
"""SM and memory clocks from which on a plane is drawn."""
QUANTITIES = (TIME, POWER, ENERGY, DELAY)
MEGA = 1e6


@dataclass(frozen=True, slots=True)
class Cell:
    """One pair of clocks: a rectangle, what is written in it, and how dark it is, 0 (least) to 1 (most)."""

    x: float
    y: float
    width: float
    value: float
    label: str
    shade: float
    best: bool
    text: str
    """What it says when pointed at."""


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A plane: ``rows`` of cells from the fastest memory down, each from the slowest SM clock up.

    ``unit`` is the one that labels are in, ``columns`` and ``lines`` are the clocks in MHz.
    """

    title: str
    unit: str
    columns: tuple[str, ...]
    lines: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def height(self) -> float:
        """Pixels."""
        return TOP + ROW_HEIGHT * len(self.rows) + BOTTOM


def planes(rows: Sequence[Row]) -> list[list[list[Row]]]:
    """Return every whole plane among rows with results: by memory clock, descending, the rows by SM clock.

    A plane is one launch of one configuration on one GPU at every pair of some SM and memory clocks.
    """
    groups: dict[tuple[object, ...], dict[tuple[float, float], Row]] = {}
    for row in rows:
        if row.clocks_fixed and row.time and row.sm_clock and row.memory_clock:
            key = row.launch, row.gpu, row.defines, row.max_registers, row.grid, row.block
            groups.setdefault(key, {})[row.memory_clock, row.sm_clock] = row
    return [plane for own in groups.values() if (plane := _plane(own))]


def _plane(rows: dict[tuple[float, float], Row]) -> list[list[Row]]:
    memories, sms = (sorted({pair[at] for pair in rows}) for at in (0, 1))
    if (
        (len(sms), len(memories)) < FEWEST
        or len(memories) < FEWEST[1]
        or len(rows) < len(sms) * len(memories)
    ):
        return []
    return [[rows[memory, sm] for sm in sms] for memory in reversed(memories)]


def heat_maps(rows: Sequence[Row], quantities: Sequence[Quantity] = QUANTITIES) -> tuple[HeatMap, ...]:
    """Return the heat maps of rows, plane by plane; none where clocks do not span a plane."""
    found = planes(rows)
    heads = {head: read for head, read in varying(rows).items() if "clock" not in head}
    several = len(found) > 1
    return tuple(
        _heat_map(plane, quantity, f", {name(plane[0][0], heads)}" if several else "")
        for plane in found
        for quantity in quantities
    )


def _heat_map(plane: Sequence[Sequence[Row]], quantity: Quantity, which: str) -> HeatMap:
    values = [quantity.of(row) for line in plane for row in line]
    low, high, single = min(values), max(values), only_least(values)
    prefix, factor = _prefix(low, quantity.unit)
    width = (WIDTH - LEFT - RIGHT) / len(plane[0])
    span = math.log(high / low) if 0 < low < high else math.inf

    def cell(row: Row, line: int, column: int) -> Cell:
        value = quantity.of(row)
        return Cell(
            x=round(LEFT + column * width, 1), y=TOP + line * ROW_HEIGHT, width=round(width, 1), value=value,
            label=_number(value / factor), shade=round(math.log(value / low) / span, 3) if value > 0 else 0.0,
            best=value == single, text=f"{_clocks(row)}: {si(value, quantity.unit)}",
        )  # fmt: skip

    return HeatMap(
        f"{quantity.title} over both clocks{which}",
        prefix,
        tuple(f"{(row.sm_clock or 0) / MEGA:.0f}" for row in plane[0]),
        tuple(f"{(line[0].memory_clock or 0) / MEGA:.0f}" for line in plane),
        tuple(tuple(cell(row, i, k) for k, row in enumerate(line)) for i, line in enumerate(plane)),
    )


def _prefix(value: float, unit: str) -> tuple[str, float]:
    """Return the unit that people would write a value in, and how much of the plain unit it is.

    >>> _prefix(2.5e-5, "s"), _prefix(0.0, "W")
    (('µs', 1e-06), ('W', 1.0))
    """
    if not value > 0 or not math.isfinite(value):
        return unit, 1.0
    exponent = 3 * math.floor(math.log10(float(f"{value:.3g}")) / 3)
    return si(10.0**exponent, unit).partition(" ")[2], 10.0**exponent


def _number(value: float) -> str:
    """Return three digits, none of them behind an E.

    >>> _number(1.234), _number(12.34), _number(1234.5)
    ('1.23', '12.3', '1234')
    """
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}" if value >= 0.01 else f"{value:.2g}"


def _clocks(row: Row) -> str:
    return f"SM {(row.sm_clock or 0) / MEGA:.0f} MHz, memory {(row.memory_clock or 0) / MEGA:.0f} MHz"
