"""L1: which share of its reads each instruction finds there, for any capacity; how far apart its writes are.

Resident blocks of one SM take turns access by access. Volta's and later L1 has four sets of hundreds of
ways (Khairy et al., ISCA 2020, by microbenchmark), so that a fully associative LRU cache of sectored lines
stands for it. Where a stream is long, lines are sampled by a hash of their number and stand for the others
(Waldspurger, Park, Garthwaite and Ahmad, "Efficient MRC construction with SHARDS", FAST 2015); lines that
many accesses share are always kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from warpwatt.core.arrays import GOLDEN, unique
from warpwatt.core.reuse import BYPASS, FULL, READ, WRITE, LineStream
from warpwatt.emulate.caches.distance import first_in_turn, sector_distances

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ROWS = 1 << 15
"""Rows of one profile; longer streams are sampled."""
HOT = 64
"""Accesses from which on a line is kept in every sample."""
Lost = Callable[["NDArray[np.float64]", "NDArray[np.int32]"], "NDArray[np.float64]"]
"""Share of lines that L2 has lost, by distance in lines of an SM and by instruction."""
_COPY = 1 << 48
"""Distance between the lines of copies of a block."""
_HASH = 0x9E3779B97F4A7C15
"""2⁶⁴ over the golden ratio (Knuth, volume 3, section 6.4)."""


def _nothing(distance: NDArray[np.float64], _: NDArray[np.int32]) -> NDArray[np.float64]:
    return np.zeros_like(distance)


@dataclass(frozen=True, slots=True)
class ReadShares:
    """Shares of the sectors an instruction reads: in L1, new to the SM, lost by L1 and L2.

    ``in_flight`` is the part of ``hit`` whose line another warp has requested in the same turn.
    """

    hit: float = 0.0
    cold: float = 0.0
    lost: float = 0.0
    in_flight: float = 0.0

    def mixed(self, other: ReadShares, share: float) -> ReadShares:
        """Return the shares where ``share`` of the reads are as the other's."""
        return ReadShares(*_mixed(astuple(self), astuple(other), share))

    def with_fewer_blocks(self, other: ReadShares, share: float) -> ReadShares:
        """Return the shares where ``share`` of the reads are the other's, of fewer blocks: L2 loses no more.

        >>> ReadShares(hit=1.0).with_fewer_blocks(ReadShares(cold=0.5, lost=0.5), 0.25)
        ReadShares(hit=0.75, cold=0.125, lost=0.0, in_flight=0.0)
        """
        return self.mixed(replace(other, lost=min(self.lost, other.lost)), share)


@dataclass(frozen=True, slots=True)
class WriteShares:
    """Shares of the sectors an instruction writes: new to the SM, written again after L2 lost them."""

    cold: float = 0.0
    lost: float = 0.0

    def with_fewer_blocks(self, other: WriteShares, share: float) -> WriteShares:
        """Return the shares where ``share`` of the writes are the other's, of fewer blocks."""
        return WriteShares(*_mixed(astuple(self), (other.cold, min(self.lost, other.lost)), share))


def _mixed(mine: Sequence[float], theirs: Sequence[float], share: float) -> list[float]:
    return [(1 - share) * own + share * other for own, other in zip(mine, theirs, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class Writes:
    """Writes of sectors by stack distance since they were last written; one row per sector of an access.

    Columns as those of :class:`L1Profile`.
    """

    instruction: NDArray[np.int32]
    distance: NDArray[np.float64]
    weight: NDArray[np.float64]

    def shares(self, lost: Lost) -> dict[int, WriteShares]:
        """Return instruction -> where the sectors are that it writes.

        A dirty line that L2 loses goes to DRAM, and once more after it was written again.
        """
        cold = np.isinf(self.distance)
        again = np.where(cold, 0.0, lost(np.where(cold, 0.0, self.distance), self.instruction))
        totals = np.bincount(self.instruction, self.weight)
        first, later = (np.bincount(self.instruction, self.weight * share) for share in (cold, again))
        found = np.flatnonzero(totals).tolist()
        return {i: WriteShares(float(first[i] / totals[i]), float(later[i] / totals[i])) for i in found}


@dataclass(frozen=True, slots=True, eq=False)
class L1Profile:
    """Reads of sectors through L1 by stack distance; one row per sector of an access.

    ``distance`` in lines, infinite for a first touch; ``weight`` accesses that a row stands for; ``later``
    rows belong to blocks that find what their predecessors on the SM left behind.
    """

    instruction: NDArray[np.int32]
    distance: NDArray[np.float64]
    weight: NDArray[np.float64]
    later: NDArray[np.bool_]
    ahead: NDArray[np.float64]
    """Distance of the first access to the same sector in the same turn, negative for that access itself."""
    writes: Writes

    def read_shares(
        self, lines: float, later_share: float = 0.0, lost: Lost = _nothing
    ) -> dict[int, ReadShares]:
        """Return instruction -> where the sectors are found that it reads, in an L1 of ``lines`` lines.

        ``later_share`` of all blocks have predecessors on their SM. ``lost`` says which share of lines L2 has
        lost at a distance.
        """
        hit, cold = self.distance < lines, np.isinf(self.distance)
        in_flight = hit & (self.ahead >= lines)
        missing = np.where(hit | cold, 0.0, lost(np.where(cold, 0.0, self.distance), self.instruction))
        quantities = (hit, cold, missing, in_flight)
        first, later = (self._shares(rows, quantities) for rows in (~self.later, self.later))
        # what the blocks of one round do not reach is as in the other's
        only = first | later
        both = {i: first[i].mixed(later[i], later_share) for i in first.keys() & later.keys()}
        return only | both

    def _shares(self, rows: NDArray[np.bool_], quantities: Sequence[NDArray[Any]]) -> dict[int, ReadShares]:
        """Return instruction -> the mean of each quantity over some rows."""
        index, weight = self.instruction[rows], self.weight[rows]
        totals = np.bincount(index, weight)
        sums = [np.bincount(index, weight * quantity[rows]) for quantity in quantities]
        return {
            i: ReadShares(*(float(s[i] / totals[i]) for s in sums)) for i in np.flatnonzero(totals).tolist()
        }


@lru_cache(maxsize=16)
def l1_profile(stream: LineStream, resident: int, rounds: int, step: int = 1) -> L1Profile:
    """Return the profile of ``resident`` blocks of an SM, followed by as many if ``rounds`` is 2.

    Every ``step``-th block of the stream is taken; if there are not enough, copies of them stand for others.
    """
    row_weight = _thinned(stream, resident * rounds)
    rows, copy, round_ = _cast(stream, np.flatnonzero(row_weight), resident, rounds, step)
    weight = row_weight[rows]
    line = _touched(stream, rows, copy, weight)
    order = _turns(stream, rows, copy, round_)
    rows, line, weight, round_ = rows[order], line[order], weight[order], round_[order]
    kind, sectors = stream.kind[rows], stream.sectors[rows]
    writes = _writes(stream.instruction[rows], line, sectors, kind, weight)
    through = kind & BYPASS == 0
    if not through.all():
        rows, line, weight, round_ = rows[through], line[through], weight[through], round_[through]
        kind, sectors = kind[through], sectors[through]
    valid = (kind & READ > 0) | (kind & FULL > 0)
    far = sector_distances(line, sectors, valid, weight)
    reads = (kind & (READ | WRITE) == READ)[:, None] & ~np.isnan(far)
    row = np.nonzero(reads)[0]
    later_turn = (np.diff(stream.time[rows], prepend=-1) != 0) | (np.diff(round_, prepend=0) != 0)
    ahead = first_in_turn(np.cumsum(later_turn), line, reads, far)
    return L1Profile(
        stream.instruction[rows][row], far[reads], weight[row], round_[row] > 0,
        ahead[reads], writes,
    )  # fmt: skip


def _touched(
    stream: LineStream, rows: NDArray[np.int64], copy: NDArray[np.int64], weight: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the line of each row: a copy shares as much with the blocks of the stream as another block does.

    A line of one block only is the copy's own. One that ``k`` of ``n`` blocks touch is in the copy what it is
    in the block with the share ``(k - 1) / (n - 1)``, as in any other block; else another that several touch,
    because blocks that share with all others share another line with each.
    """
    found = _lines(stream)
    weight_of = np.zeros(len(found.line))
    weight_of[found.number[rows]] = weight
    kept = np.flatnonzero(weight_of)  # what a sample left out is no other line
    own, blocks, weight_of = found.line[kept], found.blocks[kept], weight_of[kept]
    same_share = (blocks - 1) / max(1, int(stream.block.max(initial=0)))
    touched = [own]
    for turn in range(1, 1 + int(copy.max(initial=0))):
        same = _drawn(own, turn) < same_share
        lines = np.where(same, own, own + _COPY * turn)
        for stands_for in unique(weight_of):
            others = np.flatnonzero(~same & (blocks > 1) & (weight_of == stands_for))
            lines[others] = own[np.roll(others, int(GOLDEN * len(others)))]
        touched.append(lines)
    number = np.zeros(len(found.line), np.int64)
    number[kept] = np.arange(len(kept))
    lines_of: NDArray[np.int64] = np.stack(touched)[copy, number[found.number[rows]]]
    return lines_of


def _drawn(lines: NDArray[np.int64], turn: int) -> NDArray[np.float64]:
    """Return numbers in [0, 1) for lines, as if drawn in a turn."""
    mixed = (lines.astype(np.uint64) ^ np.uint64(turn << 56)) * np.uint64(_HASH)
    mixed = (mixed ^ mixed >> np.uint64(32)) * np.uint64(_HASH)
    return (mixed >> np.uint64(11)).astype(np.float64) / (1 << 53)


def _writes(
    instruction: NDArray[np.int32],
    line: NDArray[np.int64],
    sectors: NDArray[np.uint8],
    kind: NDArray[np.uint8],
    weight: NDArray[np.float64],
) -> Writes:
    """Return how far each store of a sector is from the write before; nothing if no line is written twice.

    Atomics, which go past L1, write what a store may write again (a slot taken, then filled).
    """
    written = kind & WRITE > 0
    lines = np.sort(line[written])
    if not (lines[1:] == lines[:-1]).any():
        nothing = np.zeros(0)
        return Writes(instruction[:0], nothing, nothing)
    far = sector_distances(line, sectors, written, weight)
    stored = (written & (kind & BYPASS == 0))[:, None] & ~np.isnan(far)
    row = np.nonzero(stored)[0]
    return Writes(instruction[row], far[stored], weight[row])


def _turns(
    stream: LineStream, rows: NDArray[np.int64], copy: NDArray[np.int64], round_: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return rows in the order in which they come: by round, time, copy, block and warp."""
    key = round_
    for part in (stream.time[rows], copy, stream.block[rows], stream.warp[rows]):
        bits = int(part.max(initial=0)).bit_length()
        if int(key.max(initial=0)).bit_length() + bits > 62:
            return np.lexsort((stream.warp[rows], stream.block[rows], copy, stream.time[rows], round_))
        key = (key << bits) | part
    return np.argsort(key, kind="stable")


def _cast(
    stream: LineStream, chosen: NDArray[np.int64], resident: int, rounds: int, step: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return rows of the stream for every place of every round, which copy each is, and its round."""
    blocks = int(stream.block.max(initial=0)) + 1
    by_block = chosen[np.argsort(stream.block[chosen], kind="stable")]
    ends = np.searchsorted(stream.block[by_block], np.arange(blocks + 1))
    rows, copies, round_numbers = [], [], []
    numbers: dict[int, int] = {}  # of the copies that are taken: few, however far apart they are
    for place in range(resident * rounds):
        turn, block = divmod(place * step, blocks)
        own = by_block[ends[block] : ends[block + 1]]
        rows.append(own)
        copies.append(np.full(len(own), numbers.setdefault(turn, len(numbers))))
        round_numbers.append(np.full(len(own), place // resident))
    return np.concatenate(rows), np.concatenate(copies), np.concatenate(round_numbers)


@lru_cache(maxsize=16)
def _thinned(stream: LineStream, places: int) -> NDArray[np.float64]:
    """Return how many rows each row stands for among ``places`` blocks; 0: left out."""
    lines = _lines(stream)
    cached = (stream.kind & BYPASS == 0) | (stream.kind & WRITE > 0)
    weight = np.where(cached, 1.0, 0.0)
    repeated = places / (int(stream.block.max(initial=0)) + 1)
    if cached.sum() * repeated <= MOST_ROWS:
        return weight
    cold = cached & ~_always(lines.accesses, MOST_ROWS / 2 / repeated)[lines.number]
    bits = max(0, math.ceil(math.log2(max(1.0, cold.sum() * repeated / MOST_ROWS))))
    if bits:
        mixed = (stream.line[cold].astype(np.uint64) * np.uint64(_HASH)) >> np.uint64(64 - bits)
        weight[cold] = np.where(mixed == 0, float(1 << bits), 0.0)
    return weight


def _always(counts: NDArray[np.int64], room: float) -> NDArray[np.bool_]:
    """Return which lines are kept in every sample: those of many accesses, as far as there is room.

    >>> _always(np.array([70, 5, 90, 100]), 150).tolist()
    [False, False, True, True]
    """
    order = np.argsort(-counts, kind="stable")
    before = np.cumsum(counts[order]) - counts[order]
    kept = np.zeros(len(counts), bool)
    kept[order] = before < room
    return kept & (counts >= HOT)


class _Lines(NamedTuple):
    """The lines of a stream, ascending: number of that of each row, then by number."""

    number: NDArray[np.int64]
    line: NDArray[np.int64]
    accesses: NDArray[np.int64]
    blocks: NDArray[np.int64]
    """How many touch it."""


@lru_cache(maxsize=16)
def _lines(stream: LineStream) -> _Lines:
    touch = stream.line * (int(stream.block.max(initial=0)) + 1) + stream.block
    order = np.argsort(touch, kind="stable")
    touch, line = touch[order], stream.line[order]
    fresh, met = np.ones(len(line), bool), np.ones(len(line), bool)
    fresh[1:], met[1:] = line[1:] != line[:-1], touch[1:] != touch[:-1]
    starts = np.flatnonzero(fresh)
    number = np.empty(len(line), np.int64)
    number[order] = np.cumsum(fresh) - 1
    before = np.append(np.cumsum(met)[starts] - 1, met.sum())
    return _Lines(number, line[starts], np.diff(np.append(starts, len(line))), np.diff(before))
