"""Geometry of a reservation table: a bar for each instruction, rows for units, cycles from left to right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwatt.core.schedule import Reservation, ReservationTable, ScheduledBlock

WIDTH, ROW, TOP, BOTTOM = 960, 26, 8, 28
LEFT, RIGHT = 92, 12
LETTER = 7.5
"""Pixels a letter of a label takes."""
MOST_BLOCKS = 8
"""Blocks that are drawn, those with most cycles."""
MOST_BARS = 400
"""Instructions of a block that are drawn, in their order."""
TICKS = 4


@dataclass(frozen=True, slots=True)
class Bar:
    """One reservation; the label is empty where it has no room."""

    x: float
    y: float
    width: float
    label: str
    text: str
    series: int


@dataclass(frozen=True, slots=True)
class Picture:
    """One block: bars, the units' names with their heights, cycles with their places."""

    title: str
    description: str
    bars: tuple[Bar, ...]
    rows: tuple[tuple[str, float], ...]
    ticks: tuple[tuple[str, float], ...]
    bottom: float
    height: float
    width: int = WIDTH
    bar_height: int = ROW - 8


@dataclass(frozen=True, slots=True)
class Reservations:
    """The pictures of a table and what is not drawn."""

    about: str
    pictures: tuple[Picture, ...]
    left_out: int


def reservation_pictures(table: ReservationTable) -> Reservations:
    """Return the pictures of the blocks with most cycles, in the order of the path."""
    longest = sorted(table.blocks, key=lambda block: -block.cycles)[:MOST_BLOCKS]
    drawn = [block for block in table.blocks if block in longest]
    about = f"One wave of {table.threads} threads on an SM; {table.waves} waves follow one another."
    left_out = len(table.blocks) - len(drawn) + table.others
    return Reservations(about, tuple(_picture(block, table) for block in drawn), left_out)


def _picture(block: ScheduledBlock, table: ReservationTable) -> Picture:
    units = tuple(table.units)
    used = [unit for unit in units if any(one.unit == unit for one in block.reservations)]
    top = {unit: TOP + i * ROW for i, unit in enumerate(used)}
    shown = block.reservations[:MOST_BARS]
    bars = tuple(_bar(one, block.delay, top[one.unit] + 4, units.index(one.unit)) for one in shown)
    bottom = TOP + ROW * len(used)
    title = f"Block {block.number}: {block.delay} cycles, {block.executions:.4g} times a warp"
    more = len(block.reservations) - len(shown)
    return Picture(
        title=f"{title}, first {len(shown)} of {len(block.reservations)} instructions" if more else title,
        description=f"{title}. " + " ".join(f"{one.label} {one.start}-{one.end}." for one in shown[:20]),
        bars=bars,
        rows=tuple((f"{unit} ({table.units[unit]:g})", top[unit] + ROW / 2 + 4) for unit in used),
        ticks=tuple((f"{cycle:.0f}", _place(cycle, block.delay)) for cycle in _cycles(block.delay)),
        bottom=bottom,
        height=bottom + BOTTOM,
    )


def _cycles(delay: int) -> tuple[float, ...]:
    return tuple(delay * i / TICKS for i in range(TICKS + 1))


def _bar(one: Reservation, delay: int, y: float, series: int) -> Bar:
    x, end = _place(one.start, delay), _place(one.end, delay)
    label = one.label if LETTER * len(one.label) < end - x else ""
    after = f", after {one.after}" if one.after else ""
    line = f", line {one.line.line}" if one.line else ""
    text = f"{one.label} {one.opcode}: cycles {one.start} to {one.end}{after}{line}"
    return Bar(x, y, round(max(1.0, end - x), 2), label, text, series)


def _place(cycle: float, delay: int) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * (cycle / delay if delay else 0.0), 2)
