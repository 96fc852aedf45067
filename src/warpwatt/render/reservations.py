"""A reservation table as text: a row for each kind of unit, cycles from left to right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warpwatt.render.console import HEADING, QUIET, plain
from warpwatt.render.figures import plural

if TYPE_CHECKING:
    from rich.console import RenderableType

    from warpwatt.core.schedule import Reservation, ReservationTable, ScheduledBlock

WIDTH = 80
INDENT = 2
UNIT_WIDTH = 10
CELLS = WIDTH - INDENT - UNIT_WIDTH
"""Columns that the cycles of a block are spread over."""
MOST_BLOCKS = 4
"""Blocks that are drawn, those with most cycles; the others are counted."""
MOST_ROWS = 12
"""Instructions listed of a block; the others are counted."""
FREE, HELD, BEGIN = "·", "─", "│"


def reservation_parts(table: ReservationTable) -> Iterator[RenderableType]:
    """Yield the table of one wave: the blocks with most cycles, each as a picture and a list."""
    yield Text("Reservation table", style=HEADING)
    wave = f"One wave of {table.threads} threads on an SM, {plural(table.waves, 'wave')}"
    about = f"{wave}; blocks on the longest path"
    yield Padding(Text(about, style=QUIET), (0, 0, 0, INDENT))
    longest = sorted(table.blocks, key=lambda block: -block.cycles)[:MOST_BLOCKS]
    for block in (one for one in table.blocks if one in longest):
        yield from (Padding(part, (0, 0, 0, INDENT)) for part in _block(block, table))
    left = len(table.blocks) - len(longest)
    if left or table.others:
        text = f"not drawn: {left} more on the path, {table.others} beside it"
        yield Padding(Text(text, style=QUIET), (0, 0, 0, INDENT))


def _block(block: ScheduledBlock, table: ReservationTable) -> Iterator[RenderableType]:
    size = plural(len(block.reservations), "instruction")
    head = f"Block {block.number}: {size}, {block.delay} cycles, {block.executions:.4g} times a warp"
    yield Text(head, style="bold")
    yield Text(axis(block.delay), style=QUIET)
    for unit, instances in table.units.items():
        own = [one for one in block.reservations if one.unit == unit]
        if own:
            yield Text(f"{f'{unit} ({instances:g})':{UNIT_WIDTH}}{timeline(own, block.delay)}")
    yield _list(block)
    if len(block.reservations) > MOST_ROWS:
        yield Text(f"and {len(block.reservations) - MOST_ROWS} more instructions", style=QUIET)


def axis(delay: int, cells: int = CELLS) -> str:
    """Return the cycles under which a picture's columns stand, at both ends and in the middle.

    >>> axis(654, 20)
    '          0        327     654'
    """
    half, last = f"{delay // 2}", f"{delay}"
    middle = cells // 2
    line = f"{'0':{middle - len(half) // 2}}{half}"
    return " " * UNIT_WIDTH + f"{line:{cells - len(last)}}{last}".rstrip()


def timeline(reservations: Sequence[Reservation], delay: int, cells: int = CELLS) -> str:
    """Return a unit's cycles as one line; a label stands where there is room, else a bar where it begins.

    >>> from warpwatt.core.schedule import Reservation
    >>> first, second = Reservation("C8", "", "SP", 0, 2), Reservation("C9", "", "SP", 2, 10)
    >>> timeline([first, second], 20, 20)
    'C8C9──────··········'
    """
    line = [FREE] * cells
    for one in reservations:
        begin = min(cells - 1, round(one.start * cells / delay)) if delay else 0
        end = max(begin + 1, round(one.end * cells / delay)) if delay else 1
        room = end - begin
        text = one.label if len(one.label) <= room else BEGIN
        line[begin:end] = list(f"{text:{HELD}<{room}}")[: cells - begin]
    return "".join(line)


def _list(block: ScheduledBlock) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column()
    grid.add_column(no_wrap=True, overflow="ellipsis", max_width=30)
    grid.add_column()
    grid.add_column(justify="right")
    grid.add_column(style=QUIET)
    for one in block.reservations[:MOST_ROWS]:
        after = f"after {one.after}" if one.after else ""
        line = f"line {one.line.line}" if one.line else ""
        grid.add_row(one.label, plain(one.opcode), one.unit, f"{one.start}-{one.end}", f"{after:10}{line}")
    return grid
