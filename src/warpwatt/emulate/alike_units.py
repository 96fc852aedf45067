"""Whether units of a sample do the same, each at its own place: then more of them would tell nothing new.

Warps go the same ways and ask for the same lanes, and what an access of a unit asks for is what another unit
does, moved as its place in the grid says. Where in a sector they begin may differ, and with it the
number of sectors and lines a little.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.run import AccessCounts, Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from warpwatt.emulate.run import Run

KNOWN_WELL = 0.015
"""Standard error of what units ask for, relative to it, below which no more of them are needed."""
REDUNDANT = 2
"""By how many more units than axes the line has to be met that their addresses lie on."""
OFF = 2.0
"""Sectors that addresses may lie beside it: units begin anywhere in a sector, and so does the first."""
_LINE_BITS, _SECTORS = np.uint64(7), np.uint64(4)
_OF_PLACE = ("sectors", "lines", "l1_passes")
_COUNTS = tuple(f.name for f in fields(AccessCounts) if f.name not in _OF_PLACE)
_EVENTS = tuple(f.name for f in fields(Trace) if f.name not in ("lines", "line_start"))
_FIRST_SECTOR = np.array([0, 0, 1, 0, 2, 0, 1, 0, 3, 0, 1, 0, 2, 0, 1, 0])
"""Of a line, by the bits of those that are asked for."""


def move_alike(runs: Sequence[Run], places: NDArray[np.int64]) -> bool:
    """Return whether units do the same, each at its own place, and are enough to tell.

    ``places`` are their coordinates in the grid, shape (units, 3).
    """
    apart = (places[1:] - places[0]).astype(np.float64)
    axes = int(np.linalg.matrix_rank(apart)) if len(apart) else 0
    if len(apart) < axes + REDUNDANT:
        return False
    moves = []
    for run in runs[1:]:
        move = _move(runs[0], run)
        if move is None:
            return False
        moves.append(move)
    moved = np.array(moves, np.float64)
    steps = np.linalg.lstsq(apart, moved, rcond=None)[0]
    return bool((np.abs(apart @ steps - moved) <= OFF).all()) and _known_well(runs)


def _move(one: Run, other: Run) -> NDArray[np.int64] | None:
    """Return by how many sectors each instruction's accesses lie apart; None where they do other things."""
    mine, its = one.trace, other.trace
    if mine is None or its is None or not (mine.complete and its.complete):
        return None
    pairs = [(one.executions, other.executions), (one.lanes, other.lanes)]
    pairs += [(getattr(one.accesses, name), getattr(other.accesses, name)) for name in _COUNTS]
    pairs += [(getattr(mine, name), getattr(its, name)) for name in _EVENTS]
    if not all(_equal(*pair) for pair in pairs):
        return None
    (access, first), (its_access, its_first) = _first_sectors(mine), _first_sectors(its)
    if not _equal(access, its_access):
        return None
    instruction, apart = mine.access_instruction[access], its_first - first
    found = np.zeros(len(one.executions), np.int64)
    found[instruction] = apart
    return found if (np.abs(found[instruction] - apart) <= 1).all() else None


def _known_well(runs: Sequence[Run]) -> bool:
    """Whether it is known how many sectors and lines units ask for on average."""
    sums = np.array([[getattr(run.accesses, name).sum() for name in _OF_PLACE] for run in runs], np.float64)
    errors = sums.std(axis=0, ddof=1) / len(runs) ** 0.5
    return bool((errors <= KNOWN_WELL * sums.mean(axis=0)).all())


def _first_sectors(trace: Trace) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the accesses that ask for lines, and the first sector of the first line of each."""
    access = np.flatnonzero(np.diff(trace.line_start))
    line = trace.lines[trace.line_start[access]]
    sectors = (line >> _LINE_BITS).astype(np.int64) * int(_SECTORS)
    return access, sectors + _FIRST_SECTOR[(line & np.uint64(15)).astype(np.intp)]


def _equal(one: object, other: object) -> bool:
    return one is other or bool(np.array_equal(one, other))  # type: ignore[arg-type] # arrays, None or bool
