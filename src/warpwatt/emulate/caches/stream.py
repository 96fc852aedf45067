"""From the trace of an engine to a :class:`~warpwatt.core.reuse.LineStream`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.program import Access, Instruction, Program
from warpwatt.core.reuse import BYPASS, READ, WRITE, LineStream
from warpwatt.emulate.caches.bursts import burst_numbers
from warpwatt.emulate.caches.sets import count_sectors
from warpwatt.emulate.ir import End
from warpwatt.native import ADDRESS, INT, addresses, function

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.run import Trace

SECTOR = 32
PIECE = 8
"""Sectors in a row that one channel of DRAM holds (accel-sim, SM86_RTX3070: ``dramid@8``, 256 bytes)."""
LINE_SECTORS = 4
CHANCE = 4.0
"""Standard deviations by which the largest of some dozens of counts has to stand out of its like."""
SLOT_BITS = 40
LOCAL_SLOT = 0xF1
_PAST_L1 = ("UBLK", "UTMA")
"""Copies by the tensor memory accelerator, which L1 does not keep."""
_UNCACHED = frozenset({"cg", "cv", "volatile", "relaxed", "acquire", "mmio", "STRONG", "BYPASS", "NA"})
"""Modifiers of loads that L1 does not keep (PTX ISA, "Cache operators"; the upper-case ones in SASS)."""


def line_stream(trace: Trace, warps_per_block: int, program: Program, routine: Routine | None) -> LineStream:
    """Return the lines of a trace in the order of its warps.

    With ``routine``, accesses behind a barrier wait for those before it, and what a warp issues back to back
    comes at one time (:mod:`~warpwatt.emulate.caches.bursts`); without, every access comes as early as its
    place in its warp says.
    """
    return traced_lines(trace, warps_per_block, program, routine)[0]


def traced_lines(
    trace: Trace, warps_per_block: int, program: Program, routine: Routine | None
) -> tuple[LineStream, NDArray[np.float64]]:
    """Return the same, and for each row how many bytes its access moves per sector it touches."""
    given = [
        np.ascontiguousarray(getattr(trace, name), kind)
        for name, kind in (
            ("step_start", np.int64),
            ("step_block", np.int32),
            ("access_start", np.int64),
            ("access_instruction", np.int32),
            ("access_mask", np.uint32),
            ("access_step", np.int64),
            ("line_start", np.int64),
            ("lines", np.uint64),
        )
    ]
    rows = len(trace.lines)
    found = LineStream(
        instruction=np.empty(rows, np.int32),
        block=np.empty(rows, np.int32),
        warp=np.empty(rows, np.int32),
        time=np.empty(rows, np.int64),
        line=np.empty(rows, np.int64),
        sectors=np.empty(rows, np.uint8),
        kind=np.empty(rows, np.uint8),
    )
    moved = np.empty(rows, np.float64)
    timed = [None, None] if routine is None else [*addresses(burst_numbers(program)), _awaiting(routine)]
    columns = [getattr(found, field.name) for field in fields(found)]
    warps = len(trace.access_start) - 1
    write = function("line_stream", None, INT, INT, *[ADDRESS] * 20)
    given += _accessed(program)
    write(warps, warps_per_block, *addresses(*given), *timed, *addresses(*columns, moved))
    return found, moved


@lru_cache(maxsize=64)
def _accessed(program: Program) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return by instruction its bits of :attr:`LineStream.kind`, and the bytes that a lane accesses."""
    kinds = np.array([_kind(i) for i in program.instructions], np.uint8)
    return kinds, np.array([i.memory.bytes if i.memory else 0 for i in program.instructions], np.int64)


def _awaiting(routine: Routine) -> int | None:
    """Return where :func:`_waits` are; None where there are none."""
    waits = _waits(routine)
    return waits.ctypes.data if waits.any() else None


@lru_cache(maxsize=64)
def _waits(routine: Routine) -> NDArray[np.uint8]:
    """Return whether each basic block ends with a barrier that its warp waits at."""
    return np.array([b.end.end is End.BARRIER and not b.end.arrive for b in routine.blocks], np.uint8)


def rows_of(stream: LineStream, rows: NDArray[np.bool_] | NDArray[np.intp]) -> LineStream:
    """Return some rows of a stream."""
    return LineStream(**{f.name: getattr(stream, f.name)[rows] for f in fields(stream)})


def are_of(numbers: NDArray[np.integer], members: Collection[int]) -> NDArray[np.bool_]:
    """Return which rows are of some instructions or blocks; ``np.isin`` looks at all rows several times."""
    wanted = np.zeros(max(int(numbers.max(initial=0)), *members, 0) + 1, bool)
    wanted[list(members)] = True
    return np.asarray(wanted[numbers])


def sectors_of(stream: LineStream, instructions: Collection[int]) -> int:
    """Return how many distinct sectors some instructions touch in a stream."""
    rows = are_of(stream.instruction, instructions)
    return count_sectors(stream.line[rows], stream.sectors[rows])


def busiest_piece(stream: LineStream, instruction: int, *, whole: bool) -> float | None:
    """Return the share of an instruction's sectors that its busiest :data:`PIECE` takes in the launch.

    Where the stream is not that of the ``whole`` grid, that is the share of each block that goes to the
    piece busiest in the others: what only its own block hits is not the launch's busiest. None where no piece
    takes more than chance gives one of as many that are hit evenly, by sectors or by whole sampled blocks.
    """
    rows = stream.instruction == instruction
    pieces, piece = np.unique(stream.line[rows] * LINE_SECTORS // PIECE, return_inverse=True)
    asked = np.bitwise_count(stream.sectors[rows])
    blocks, block = np.unique(stream.block[rows], return_inverse=True)
    each = np.bincount(block * len(pieces) + piece, asked, len(blocks) * len(pieces)).reshape(len(blocks), -1)
    taken = each.sum(axis=0)
    if not len(pieces):
        return None
    deviation = 0.0 if whole else each[:, taken.argmax()].std() * len(blocks) ** 0.5
    if taken.max() <= taken.mean() + CHANCE * max(deviation, taken.mean() ** 0.5):
        return None
    if whole:
        return float(taken.max() / taken.sum())
    busiest = (taken - each).argmax(axis=1)
    return float(each[np.arange(len(blocks)), busiest].sum() / taken.sum())


@dataclass(frozen=True, slots=True, eq=False)
class FirstAsked:
    """Sectors that warps ask for when they first execute an instruction; one row per sector of an access."""

    instruction: NDArray[np.int32]
    block: NDArray[np.int32]
    sector: NDArray[np.int64]

    def run(self, instructions: Collection[int]) -> float:
        """Return the bytes side by side that a block asks for with some instructions, the mean over blocks.

        What lies in one :data:`PIECE` is one visit to a channel of DRAM, whatever is left out of it.
        """
        wanted = np.zeros(max(int(self.instruction.max(initial=0)), *instructions, 0) + 1, np.uint8)
        wanted[list(instructions)] = 1
        counts = np.zeros(2, np.int64)
        given = addresses(self.instruction, self.block, self.sector, wanted)
        sectors, pieces = (counts.ctypes.data + place * counts.itemsize for place in range(2))
        _asked_pieces()(len(self.sector), *given, PIECE, sectors, pieces)
        return SECTOR * float(counts[0] / counts[1]) if counts[1] else 0.0


@cache
def _asked_pieces() -> Callable[..., None]:
    return function("asked_pieces", None, INT, *[ADDRESS] * 4, INT, ADDRESS, ADDRESS)


def first_asked(stream: LineStream) -> FirstAsked:
    """Return what each warp asks for at its first execution of each instruction."""
    columns = (
        (stream.instruction, np.int32),
        (stream.block, np.int32),
        (stream.warp, np.int32),
        (stream.time, np.int64),
        (stream.line, np.int64),
        (stream.sectors, np.uint8),
    )
    given = [np.ascontiguousarray(column, kind) for column, kind in columns]
    rows, room = len(stream.line), 4 * len(stream.line)
    shape = int(stream.instruction.max(initial=-1)) + 1, int(stream.warp.max(initial=-1)) + 1
    instruction, block = np.empty((2, room), np.int32)
    sector = np.empty(room, np.int64)
    find = function("first_asked", INT, INT, *[ADDRESS] * 6, INT, INT, *[ADDRESS] * 3)
    count = find(rows, *addresses(*given), *shape, *addresses(instruction, block, sector))
    return FirstAsked(instruction[:count].copy(), block[:count].copy(), sector[:count].copy())


def _kind(instruction: Instruction) -> int:
    if instruction.memory is None:
        return 0
    match instruction.memory.access:
        case Access.STORE:
            return WRITE
        case Access.ATOMIC | Access.REDUCTION:
            return READ | WRITE | BYPASS
    uncached = not _UNCACHED.isdisjoint(instruction.opcode.split(".")) or instruction.opcode.startswith(
        _PAST_L1
    )
    return READ | (BYPASS if uncached else 0)
