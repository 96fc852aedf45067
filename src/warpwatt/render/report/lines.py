"""Source lines in tables: the hottest ones, what they ask of memory, and the loops."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from warpwatt.core.execution import LoopTrips
from warpwatt.core.prediction import LineCost, Prediction
from warpwatt.core.units import si
from warpwatt.render.code import short_names
from warpwatt.render.console import plain
from warpwatt.render.figures import count, percent
from warpwatt.render.reach import active_lanes, hit_texts, reaches, stride_text
from warpwatt.render.reasons import stall_text
from warpwatt.render.report.values import Cell, Dataset

if TYPE_CHECKING:
    from warpwatt.render.reach import Reach

SMALL = 0.005
"""Lines below this share of time and of energy stand only in the source column."""
LONGEST = 240
"""Characters of a line that a table shows."""
MOST_LINES, MOST_ACCESSES = 40, 100
"""Rows of a table; the data that the page hands out has every line."""


@dataclass(frozen=True, slots=True)
class HotLine:
    """One row of the table of lines; ``heat`` and ``warm`` are shares of time and energy, 0 to 1."""

    place: str
    text: str
    heat: float
    warm: float
    time: str
    energy: str
    instructions: str
    lanes: str
    flops: str
    bytes: str
    stalls: str = ""
    """What warps wait for there, and for whom."""


@dataclass(frozen=True, slots=True)
class AccessRow:
    """One row of the table of accesses: what a line does to a buffer; ``waste`` marks more than would do."""

    place: str
    name: str
    requests: str
    lanes: str
    seen: str
    ideal: str
    waste: bool
    stride: str
    l1_hits: str
    l2_hits: str
    l2: str
    dram: str


def hot_lines(prediction: Prediction) -> tuple[HotLine, ...]:
    """Return the lines that cost something, hottest first."""
    short, lanes = _short(prediction), active_lanes(prediction.case.workload.execution)
    costly = [line for line in hottest(prediction) if max(line.time_share, line.energy_share) >= SMALL]
    return tuple(
        _line(line, short[line.file], lanes.get((line.file, line.line))) for line in costly[:MOST_LINES]
    )


def hottest(prediction: Prediction) -> list[LineCost]:
    """Return all lines, the one that takes most of the time first."""
    return sorted(prediction.lines, key=lambda line: (-line.time_share, line.file, line.line))


def lines_data(prediction: Prediction) -> Dataset:
    """Return every line's shares, counts and stalls."""
    reasons = tuple(dict.fromkeys(stall for line in prediction.lines for stall in line.stalls))
    columns = ("file", "line", "text", "time_share", "energy_share", "warp_instructions", "flop", "bytes")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            plain(line.file), line.line, plain(line.text), line.time_share, line.energy_share,
            line.warp_instructions, line.flops, line.bytes, *(line.stalls.get(r, 0.0) for r in reasons),
        )
        for line in prediction.lines
    )  # fmt: skip
    return Dataset("Source lines", (*columns, *(f"stall_share {reason}" for reason in reasons)), rows)


def access_rows(prediction: Prediction) -> tuple[AccessRow, ...]:
    """Return what each line does to each buffer, hottest line first."""
    found, short = reaches(prediction.case.workload), _short(prediction)
    rows = (
        _access(reach, f"{short[line.file]}:{line.line}")
        for line in hottest(prediction)
        for reach in found.get((line.file, line.line), ())
    )
    return tuple(islice(rows, MOST_ACCESSES))


def loop_rows(prediction: Prediction) -> tuple[tuple[str, ...], ...]:
    """Return line, iterations per warp and thread, trip count and the flag that sets it, of every loop."""
    return tuple(_loop(loop) for loop in prediction.case.workload.execution.loops)


def _short(prediction: Prediction) -> dict[str, str]:
    names = short_names(list(dict.fromkeys(line.file for line in hottest(prediction))))
    return {name: plain(short) for name, short in names.items()}


def _line(line: LineCost, file: str, lanes: float | None) -> HotLine:
    text = plain(line.text.strip())
    return HotLine(
        place=f"{file}:{line.line}",
        text=text if len(text) <= LONGEST else f"{text[:LONGEST]}…",
        heat=round(line.time_share, 3),
        warm=round(line.energy_share, 3),
        time=percent(line.time_share),
        energy=percent(line.energy_share),
        instructions=count(line.warp_instructions),
        lanes="" if lanes is None else count(round(lanes, 1)),
        flops=count(line.flops),
        bytes=si(line.bytes, "B"),
        stalls=stall_text(line),
    )


def _access(reach: Reach, place: str) -> AccessRow:
    l1_hits, l2_hits = hit_texts(reach)
    return AccessRow(
        place=place,
        name=plain(reach.name),
        requests=count(reach.requests),
        lanes=count(round(reach.lanes, 1)),
        seen=reach.seen_text,
        ideal=count(reach.ideal),
        waste=reach.wasteful,
        stride=stride_text(reach),
        l1_hits=l1_hits,
        l2_hits=l2_hits,
        l2="" if reach.l2 is None else si(reach.l2.total, "B"),
        dram="" if reach.dram is None else si(reach.dram.total, "B"),
    )


def _loop(loop: LoopTrips) -> tuple[str, ...]:
    where = str(loop.line.line) if loop.line else ""
    how = plain(loop.expression) or ("" if loop.known else "assumed; depends on data")
    fix = "" if loop.known else f"--loop {where or 'LINE'}=COUNT"
    return (where, count(loop.trips), count(loop.lanes), how, fix)
