"""L1: which share of its reads each instruction finds there, for any capacity.

Resident blocks of one SM take turns access by access. Volta's and later L1 has four sets of hundreds of ways (Khairy
et al., ISCA 2020, by microbenchmark), so that a fully associative LRU cache of sectored lines stands for it.
Where a stream is long, lines are sampled by a hash of their number and stand for the others (Waldspurger, Park,
Garthwaite and Ahmad, "Efficient MRC construction with SHARDS", FAST 2015); lines that many accesses share
are always kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.reuse import BYPASS, FULL, READ, WRITE, LineStream
from warpwatt.emulate.caches.distance import sector_distances

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

MOST_ROWS = 1 << 14
"""Rows of one profile; longer streams are sampled."""
HOT = 64
"""Accesses from which on a line is kept in every sample."""
_COPY = 1 << 48
"""Distance between the lines of copies of a block."""
_HASH = 0x9E3779B97F4A7C15
"""2⁶⁴ over the golden ratio (Knuth, volume 3, section 6.4)."""


@dataclass(frozen=True, slots=True)
class Fate:
    """Shares of the sectors an instruction reads: found in L1, never touched before on the SM, lost by L1 and L2."""

    hit: float = 0.0
    cold: float = 0.0
    lost: float = 0.0

    def __add__(self, other: Fate) -> Fate:
        return Fate(self.hit + other.hit, self.cold + other.cold, self.lost + other.lost)


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

    def fates(
        self,
        lines: float,
        later_share: float = 0.0,
        lost: Callable[[NDArray[np.float64]], NDArray[np.float64]] = np.zeros_like,
    ) -> dict[int, Fate]:
        """Return instruction -> what becomes of the sectors it reads in an L1 of ``lines`` lines.

        ``later_share`` of all blocks have predecessors on their SM. ``lost`` says which share of lines L2 has
        lost at a distance.
        """
        hit, cold = self.distance < lines, np.isinf(self.distance)
        gone = np.where(hit | cold, 0.0, lost(np.where(cold, 0.0, self.distance)))
        result: dict[int, Fate] = {}
        for late, part in ((False, 1 - later_share), (True, later_share)):
            rows = self.later == late
            if not part or not rows.any():
                continue
            index, weight = self.instruction[rows], self.weight[rows] * part
            totals = np.bincount(index, weight) / part
            sums = [np.bincount(index, weight * values[rows]) for values in (hit, cold, gone)]
            for i in np.flatnonzero(totals).tolist():
                shares = (float(s[i] / totals[i]) for s in sums)
                result[i] = result.get(i, Fate()) + Fate(*shares)
        return result


@lru_cache(maxsize=64)
def l1_profile(stream: LineStream, resident: int, rounds: int) -> L1Profile:
    """Return the profile of ``resident`` blocks of an SM, followed by as many if ``rounds`` is 2.

    Blocks of the stream are taken in order; if there are not enough, copies of them with lines of their
    own, except for lines that several blocks of the stream share.
    """
    rows, copy, round_ = _cast(stream, resident, rounds)
    line = stream.line[rows] + _COPY * np.where(_shared(stream)[rows], 0, copy)
    weight = _thin(line)
    kept = weight > 0
    rows, copy, round_, line, weight = rows[kept], copy[kept], round_[kept], line[kept], weight[kept]
    order = np.lexsort((stream.warp[rows], stream.block[rows], copy, stream.time[rows], round_))
    rows, line, weight, round_ = rows[order], line[order], weight[order], round_[order]
    kind, sectors = stream.kind[rows], stream.sectors[rows]
    valid = (kind & READ > 0) | (kind & FULL > 0)
    far = sector_distances(line, sectors, valid, weight)
    reads = (kind & (READ | WRITE) == READ)[:, None] & ~np.isnan(far)
    row, _ = np.nonzero(reads)
    return L1Profile(stream.instruction[rows][row], far[reads], weight[row], round_[row] > 0)


def _cast(
    stream: LineStream, resident: int, rounds: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return rows of the stream for every place of every round, which copy of its block each is, and its round."""
    cached = np.flatnonzero(stream.kind & BYPASS == 0)
    ends = np.searchsorted(stream.block[cached], np.arange(int(stream.block.max(initial=-1)) + 2))
    blocks = max(1, len(ends) - 1)
    rows, copies, round_numbers = [], [], []
    for place in range(resident * rounds):
        ordinal = place % blocks
        own = cached[ends[ordinal] : ends[ordinal + 1]] if len(ends) > 1 else cached
        rows.append(own)
        copies.append(np.full(len(own), place // blocks))
        round_numbers.append(np.full(len(own), place // resident))
    return np.concatenate(rows), np.concatenate(copies), np.concatenate(round_numbers)


@lru_cache(maxsize=16)
def _shared(stream: LineStream) -> NDArray[np.bool_]:
    """Return which rows touch lines that several blocks of the stream touch."""
    lines, place = np.unique(stream.line, return_inverse=True)
    first = np.full(len(lines), np.iinfo(np.int32).max)
    last = np.full(len(lines), -1)
    np.minimum.at(first, place, stream.block)
    np.maximum.at(last, place, stream.block)
    return np.asarray((first < last)[place])


def _thin(line: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how many rows each row stands for; 0 for those left out."""
    weight = np.ones(len(line))
    if len(line) <= MOST_ROWS:
        return weight
    _, place, counts = np.unique(line, return_inverse=True, return_counts=True)
    cold = counts[place] < HOT
    bits = max(0, int(np.ceil(np.log2(max(1, cold.sum()) / MOST_ROWS))))
    mixed = (line.astype(np.uint64) * np.uint64(_HASH)) >> np.uint64(64 - max(1, bits))
    weight[cold] = np.where(mixed[cold] == 0, float(1 << bits), 0.0) if bits else 1.0
    return weight
