"""From the trace of an engine to a :class:`~warpwatt.core.reuse.LineStream`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.program import Access, Instruction, Program
from warpwatt.core.reuse import BYPASS, FULL, READ, WRITE, LineStream
from warpwatt.emulate.caches.bursts import begins
from warpwatt.emulate.caches.sets import distinct
from warpwatt.emulate.ir import End

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.run import Trace

LINE_BITS = 7
SECTOR = 32
PIECE = 8
"""Sectors in a row that one channel of DRAM holds (accel-sim, SM86_RTX3070: ``dramid@8``, 256 bytes)."""
LINE_SECTORS = 4
CHANCE = 4.0
"""Standard deviations by which the largest of some dozens of counts has to stand out of its like."""
SLOT_BITS = 40
ADDRESS_BITS = 45
"""Numbers of sectors have fewer."""
LOCAL_SLOT = 0xF1
_PAST_L1 = ("UBLK", "UTMA")
"""Copies by the tensor memory accelerator, which L1 does not keep."""
_UNCACHED = frozenset({"cg", "cv", "volatile", "relaxed", "acquire", "mmio", "STRONG", "BYPASS", "NA"})
"""Modifiers of loads that L1 does not keep (PTX ISA, "Cache operators"; the upper-case ones in SASS)."""


def line_stream(
    trace: Trace,
    warps_per_block: int,
    program: Program,
    routine: Routine | None,
    moved: NDArray[np.float64] | None = None,
) -> LineStream:
    """Return the lines of a trace in the order of its warps; ``moved`` is its :func:`bytes_per_sector`.

    With ``routine``, accesses behind a barrier wait for those before it, and what a warp issues back to back
    comes at one time (:mod:`~warpwatt.emulate.caches.bursts`); without, every access comes as early as its
    place in its warp says.
    """
    accesses = np.diff(trace.access_start)
    warp = np.repeat(np.arange(len(accesses)), accesses)
    time = _times(trace, warp, warps_per_block, program, routine)
    touched = np.diff(trace.line_start)
    row = np.repeat(np.arange(len(touched)), touched)
    line = (trace.lines >> np.uint64(LINE_BITS)).astype(np.int64)
    kind = np.array([_kind(i) for i in program.instructions], np.uint8)[trace.access_instruction[row]]
    moved = bytes_per_sector(trace, program) if moved is None else moved
    full = (kind & WRITE > 0) & (moved >= SECTOR)
    return LineStream(
        instruction=trace.access_instruction[row].astype(np.int32),
        block=(warp[row] // warps_per_block).astype(np.int32),
        warp=warp[row].astype(np.int32),
        time=time[row],
        line=line,
        sectors=(trace.lines & np.uint64(15)).astype(np.uint8),
        kind=np.where(full, kind | FULL, kind).astype(np.uint8),
    )


def rows_of(stream: LineStream, rows: NDArray[np.bool_] | NDArray[np.intp]) -> LineStream:
    """Return some rows of a stream."""
    return LineStream(**{f.name: getattr(stream, f.name)[rows] for f in fields(stream)})


def are_of(instruction: NDArray[np.integer], members: Collection[int]) -> NDArray[np.bool_]:
    """Return which rows are of some instructions; ``np.isin`` looks at all rows several times."""
    wanted = np.zeros(max(int(instruction.max(initial=0)), *members, 0) + 1, bool)
    wanted[list(members)] = True
    return np.asarray(wanted[instruction])


def sectors_of(stream: LineStream, instructions: Collection[int]) -> int:
    """Return how many distinct sectors some instructions touch in a stream."""
    rows = are_of(stream.instruction, instructions)
    return _sectors(stream.line[rows], stream.sectors[rows])


def busiest_piece(stream: LineStream, instruction: int, *, whole: bool) -> float | None:
    """Return the share of an instruction's sectors that its busiest :data:`PIECE` takes in the launch.

    Where the stream is not that of the ``whole`` grid, that is the share of each block that goes to the
    piece busiest in the others: what only its own block hits is not the launch's busiest. None where no piece
    takes more than chance gives one of as many that are hit evenly.
    """
    rows = stream.instruction == instruction
    pieces, piece = np.unique(stream.line[rows] * LINE_SECTORS // PIECE, return_inverse=True)
    asked = np.bitwise_count(stream.sectors[rows])
    taken = np.bincount(piece, asked)
    if not len(pieces) or taken.max() <= taken.mean() + CHANCE * taken.mean() ** 0.5:
        return None
    if whole:
        return float(taken.max() / taken.sum())
    blocks, block = np.unique(stream.block[rows], return_inverse=True)
    each = np.bincount(block * len(pieces) + piece, asked, len(blocks) * len(pieces)).reshape(len(blocks), -1)
    busiest = (taken - each).argmax(axis=1)
    return float(each[np.arange(len(blocks)), busiest].sum() / taken.sum())


def _sectors(line: NDArray[np.int64], mask: NDArray[np.uint8]) -> int:
    return sum(len(distinct(np.sort(line[mask >> bit & 1 > 0]))) for bit in range(4))


def room_of_lines(stream: LineStream) -> float:
    """Return the bytes of the lines that a stream touches over those of their sectors that it touches."""
    lines = len(distinct(np.sort(stream.line)))
    return (lines << LINE_BITS) / max(1, SECTOR * _sectors(stream.line, stream.sectors))


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
        rows = are_of(self.instruction, instructions)
        if not rows.any():
            return 0.0
        pairs = np.sort(self.block[rows].astype(np.int64) << ADDRESS_BITS | self.sector[rows])
        block, sector = pairs >> ADDRESS_BITS, pairs & (1 << ADDRESS_BITS) - 1
        same = block[1:] == block[:-1]
        fresh, begins = np.ones(len(sector), bool), np.ones(len(sector), bool)
        fresh[1:] = ~same | (sector[1:] != sector[:-1])
        near = (sector[1:] <= sector[:-1] + 1) | (sector[1:] // PIECE == sector[:-1] // PIECE)
        begins[1:] = ~(same & near)
        return SECTOR * float(fresh.sum() / begins.sum())


def first_asked(stream: LineStream) -> FirstAsked:
    """Return what each warp asks for at its first execution of each instruction."""
    warps = int(stream.warp.max(initial=0)) + 1
    key = stream.instruction.astype(np.int64) * warps + stream.warp
    first = np.full(int(key.max(initial=0)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, key, stream.time)
    rows = np.flatnonzero(stream.time == first[key])
    mask = stream.sectors[rows]
    each = [rows[mask >> bit & 1 > 0] for bit in range(4)]
    row, bit = np.concatenate(each), np.repeat(np.arange(4), [len(of) for of in each])
    return FirstAsked(stream.instruction[row], stream.block[row], stream.line[row] * 4 + bit)


def bytes_per_sector(trace: Trace, program: Program) -> NDArray[np.float64]:
    """Return for each line of a trace how many bytes its access moves per sector it touches."""
    sizes = np.array([i.memory.bytes if i.memory else 0 for i in program.instructions])
    lines = np.diff(trace.line_start)
    which = np.flatnonzero(lines)  # most accesses may be of shared memory
    if not len(which):
        return np.zeros(0)
    lanes = np.bitwise_count(trace.access_mask[which]).astype(np.int64)
    masks = np.bitwise_count(trace.lines & np.uint64(15)).astype(np.int64)
    touched = np.add.reduceat(masks, trace.line_start[which])
    moved = lanes * sizes[trace.access_instruction[which]]
    return np.repeat(moved / np.maximum(1, touched), lines[which])


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


def _times(
    trace: Trace, warp: NDArray[np.int64], warps_per_block: int, program: Program, routine: Routine | None
) -> NDArray[np.int64]:
    """Return when each access comes: warps take turns, a barrier waits for the block's slowest warp."""
    place = np.arange(len(warp)) - trace.access_start[warp]
    if routine is None or not len(warp):
        return place
    place = place[begins(trace, program)]
    phase = phases(trace, routine)
    phase_count = int(phase.max()) + 1
    own = np.bincount(warp * phase_count + phase, minlength=(len(trace.access_start) - 1) * phase_count)
    lengths = own.reshape(-1, warps_per_block, phase_count)
    starts = np.cumsum(lengths.max(axis=1), axis=1) - lengths.max(axis=1)
    own_starts = np.cumsum(lengths, axis=2) - lengths
    late = starts[:, None, :] - own_starts
    return np.asarray(place + late.reshape(-1)[warp * phase_count + phase])


def phases(trace: Trace, routine: Routine) -> NDArray[np.int64]:
    """Return for each access how many barriers its warp has passed before."""
    waits = np.array([b.end.end is End.BARRIER and not b.end.arrive for b in routine.blocks], np.int64)
    if not waits.any():
        return np.zeros(len(trace.access_step), np.int64)
    passed = np.concatenate([[0], np.cumsum(waits[trace.step_block])])
    since = passed[:-1] - np.repeat(passed[trace.step_start[:-1]], np.diff(trace.step_start))
    behind: NDArray[np.int64] = since[trace.access_step]
    return behind
