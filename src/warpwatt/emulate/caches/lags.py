"""After how many blocks memory is touched again, from the offsets of a block's own accesses.

Where the addresses of a block move by ``D(b)`` with its coordinates ``b``, it touches what a block ``l``
before it touched wherever two of its sectors lie ``D(l)`` apart: neighbours that share a halo, tiles that
share a row, and blocks far behind each other, such as those of the rows above and below of an image whose
pixels one axis numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arrays import GOLDEN, unique
from warpwatt.core.reuse import Lag
from warpwatt.native import ADDRESS, INT, addresses, function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from warpwatt.core.launch import Dim3

MOST_COMPARED = 1 << 15
"""Pairs of sectors of a block that are looked at for lags; where there are more, fewer of its sectors stand
for all."""
FEWEST_COMPARED = 16
CANDIDATES = 12
"""Lags kept along x, as many of those that reach back in y, and in z: the most frequent."""
MOST_ENDS = 8
"""Lags along an axis for which blocks at its ends are told apart."""
FRACTIONS = 1 << 10
"""Parts of a sector that overlaps are rounded to."""
SAME = 0.5
"""Sectors by which a fit may be off at the end of a grid."""
ALIKE = 1.05
"""Ratio up to which numbers of blocks are one."""


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """The sectors of a block of the inside, ascending, and how they move with the block along each axis.

    ``first`` and ``last`` say which of them the first and the last block along each axis touch too, shape
    (3, sectors): arrays seldom end where a block does. ``reach``: so many blocks in a row along each axis
    touch something, those at its ends may do nothing.
    """

    sectors: NDArray[np.int64]
    steps: tuple[float, ...]
    grid: Dim3
    first: NDArray[np.bool_]
    last: NDArray[np.bool_]
    reach: NDArray[np.int64]


def pattern(
    sets: Sequence[NDArray[np.int64]], coordinates: NDArray[np.int64], steps: tuple[float, ...], grid: Dim3
) -> Pattern:
    """Return what sampled blocks have in common, from the sectors of each and its coordinates."""
    steps = _exact(steps, grid)
    extents = np.array([grid.x, grid.y, grid.z])
    at_edge = ((coordinates == 0) | (coordinates == extents - 1)) & (extents > 1)
    sizes, ends = np.array([len(own) for own in sets]), at_edge.sum(axis=1)
    inside = np.flatnonzero((sizes > 0) & (ends == ends[sizes > 0].min()))
    typical = int(inside[np.argsort(sizes[inside], kind="stable")[len(inside) // 2]])
    edges = np.ones((2, 3, len(sets[typical])), bool)
    for side, axis in product(range(2), range(3)):
        at_end = coordinates[:, axis] == (0, extents[axis] - 1)[side]
        there = np.flatnonzero(at_end & ~at_end[typical])
        if len(there):  # of these, one that is like the typical one along the other axes
            like = int(there[(at_edge != at_edge[typical])[there].sum(axis=1).argmin()])
            moved = sets[typical] + (coordinates[like] - coordinates[typical]) @ np.array(steps)
            edges[side, axis] = near(sets[like], moved)[1] < 1
    reach = _reach_of(coordinates, sets, extents)
    return Pattern(sets[typical], steps, grid, edges[0], edges[1], reach)


def _reach_of(
    coordinates: NDArray[np.int64], sets: Sequence[NDArray[np.int64]], extents: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many blocks in a row along each axis touch something.

    Behind sampled blocks that do and before the next ones that do not, nobody knows: those are left out.
    """
    touching = np.array([len(own) > 0 for own in sets])
    lowest, highest = coordinates[touching].min(axis=0), coordinates[touching].max(axis=0)
    idle = ~touching[:, None]
    before, behind = ((idle & beyond).any(axis=0) for beyond in (coordinates < lowest, coordinates > highest))
    return np.asarray(np.where(behind, highest + 1, extents) - np.where(before, lowest, 0))


def lags(of: Pattern) -> tuple[Lag, ...]:
    """Return after how many blocks, in the order in which they run, sectors are touched again.

    >>> from warpwatt.core.launch import Dim3
    >>> rows = np.concatenate([np.arange(4) + row for row in (0, 400, 800)])
    >>> everywhere = np.ones((3, 12), bool)
    >>> lags(Pattern(rows, (4.0, 0.0, 0.0), Dim3(1000), everywhere, everywhere, np.array([1000, 1, 1])))
    (Lag(blocks=100.0, share=0.6),)
    """
    found = _candidates(of)
    if not len(found):
        return ()
    shares = _shares(of, found, _alike(of, found))
    blocks = found @ _strides(of.grid)
    return tuple(merged(blocks[shares > 0], shares[shares > 0]))


def _strides(grid: Dim3) -> NDArray[np.int64]:
    """Return by how much the number of a block grows along each axis."""
    return np.array([1, grid.x, grid.x * grid.y])


def near(
    sectors: NDArray[np.int64], wanted: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the places of the sectors nearest to some numbers, and how far they are.

    >>> [found.tolist() for found in near(np.array([3, 8]), np.array([7.5, 1.0]))]
    [[1, 0], [0.5, 2.0]]
    """
    if not len(sectors):
        return np.zeros(len(wanted), np.int64), np.full(len(wanted), np.inf)
    after = np.minimum(np.searchsorted(sectors, wanted), len(sectors) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(sectors[before] - wanted) <= np.abs(sectors[after] - wanted), before, after)
    return nearest, np.abs(sectors[nearest] - wanted)


def _exact(steps: tuple[float, ...], grid: Dim3) -> tuple[float, ...]:
    """Return fitted steps as whole sectors where that makes no difference within the grid.

    >>> from warpwatt.core.launch import Dim3
    >>> _exact((31.99999, 1e-15, 1.5), Dim3(100, 100, 100))
    (32.0, 0.0, 1.5)
    """
    return tuple(
        float(round(step)) if abs(step - round(step)) * extent < SAME else step
        for step, extent in zip(steps, (grid.x, grid.y, grid.z), strict=True)
    )


def _candidates(of: Pattern) -> NDArray[np.int64]:
    """Return lags after which sectors are touched again, soonest first: blocks along each axis in a row."""
    some, found = _some(of.sectors), np.empty((3 * CANDIDATES, 3), np.int64)
    extents, steps = np.array([of.grid.x, of.grid.y, of.grid.z]), np.array(of.steps, np.float64)
    reach = np.ascontiguousarray(of.reach, np.int64)
    sectors, others, *moved, kept = addresses(of.sectors, some, steps, extents, reach, found)
    count = _find()(sectors, len(of.sectors), others, len(some), *moved, CANDIDATES, kept)
    return found[:count]


@cache
def _find() -> Callable[..., int]:
    return function("lag_candidates", INT, ADDRESS, INT, ADDRESS, INT, *[ADDRESS] * 3, INT, ADDRESS)


def _some(sectors: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return sectors spread over all, in no step that rows of them may have."""
    count = max(FEWEST_COMPARED, MOST_COMPARED // len(sectors))
    if count >= len(sectors):
        return sectors
    return np.asarray(sectors[(np.arange(count) * GOLDEN % 1 * len(sectors)).astype(int)])


@dataclass(frozen=True, slots=True, eq=False)
class _Alike:
    """Sectors of a block that are touched again after the same lags, a row for all of them.

    ``overlap`` is the share of a sector that is the same after each lag (steps may be fractions), shape
    (rows, lags). ``own`` and ``before`` are bits of the ends of axes that do without the sector: of a block
    and of the one that a lag lies before.
    """

    sectors: NDArray[np.int64]
    own: NDArray[np.int64]
    overlap: NDArray[np.float64]
    before: NDArray[np.int64]


def _alike(of: Pattern, lag: NDArray[np.int64]) -> _Alike:
    """Return the different sectors of a block, and how many there are of each."""
    bits = np.zeros(len(of.sectors), np.int64)
    for axis, (first, last) in enumerate(zip(of.first, of.last, strict=True)):
        if not first.all():
            bits |= (~first).astype(np.int64) << axis
        if not last.all():
            bits |= (~last).astype(np.int64) << 3 + axis
    moved = np.ascontiguousarray(lag @ np.array(of.steps), np.float64)
    codes, counts = np.empty((len(bits), 1 + len(moved)), np.int64), np.empty(len(bits), np.int64)
    sectors, ends, by, *made = addresses(of.sectors, bits, moved, codes, counts)
    rows = _count_alike()(len(bits), sectors, ends, len(moved), by, *made)
    codes = codes[:rows]
    return _Alike(counts[:rows], codes[:, 0], (codes[:, 1:] >> 6) / FRACTIONS, codes[:, 1:] & 63)


@cache
def _count_alike() -> Callable[..., int]:
    return function("alike_sectors", INT, INT, ADDRESS, ADDRESS, INT, *[ADDRESS] * 3)


def _shares(of: Pattern, lag: NDArray[np.int64], alike: _Alike) -> NDArray[np.float64]:
    """Return for each lag the share of all touches in the grid whose last touch before lies that far back."""
    rows, count = alike.overlap.shape
    there, here = np.ones((rows, count, 1), bool), np.ones((rows, 1), bool)
    weight = np.ones(1)
    for axis, extent in enumerate((of.grid.x, of.grid.y, of.grid.z)):
        at, lengths = _segments(lag[:, axis], extent)
        earlier = np.broadcast_to(at - lag[:, axis, None], (rows, count, len(at)))
        touched = (earlier >= 0) & (earlier < extent) & _reach(alike.before[..., None], axis, earlier, extent)
        there = (there[..., :, None] & touched[..., None, :]).reshape(rows, count, -1)
        own = _reach(alike.own[:, None], axis, at[None, :], extent)
        here = (here[:, :, None] & own[:, None, :]).reshape(rows, -1)
        weight = (weight[:, None] * (lengths / extent)).reshape(-1)
    known = np.maximum.accumulate(there * alike.overlap[..., None], axis=1)
    fresh = np.diff(known, axis=1, prepend=0.0) * here[:, None, :]
    touches = alike.sectors @ (here @ weight)
    return np.asarray(alike.sectors @ (fresh @ weight) / max(1e-9, float(touches)))


def _reach(bits: NDArray[np.int64], axis: int, at: NDArray[np.float64], extent: int) -> NDArray[np.bool_]:
    """Return whether blocks at some coordinates of an axis touch sectors that its ends may do without."""
    without = ((bits >> axis & 1 > 0) & (at == 0)) | ((bits >> 3 + axis & 1 > 0) & (at == extent - 1))
    return np.asarray(~without)


def _segments(lag: NDArray[np.int64], extent: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the middles and the lengths of parts of an axis in which the same blocks lie before each.

    The first and last blocks stand alone.

    >>> _segments(np.array([2, -2]), 10)
    (array([0. , 1. , 2. , 4.5, 7. , 8. , 9. ]), array([1., 1., 1., 4., 1., 1., 1.]))
    """
    lag = unique(lag)
    if len(lag) > MOST_ENDS:
        lag = lag[np.linspace(0, len(lag) - 1, MOST_ENDS).astype(int)]
    begins = np.concatenate([lag, lag + 1, extent - 1 + lag, extent + lag, [0, 1, extent - 1, extent]])
    ends = unique(begins[(begins >= 0) & (begins <= extent)])
    return (ends[:-1] + ends[1:] - 1) / 2, np.diff(ends).astype(float)


def merged(blocks: NDArray[np.int64], shares: NDArray[np.float64], alike: float = ALIKE) -> Iterator[Lag]:
    """Yield lags in ascending order, those of about the same number of blocks as one.

    >>> list(merged(np.array([1, 100, 102]), np.array([0.25, 0.125, 0.125])))
    [Lag(blocks=1.0, share=0.25), Lag(blocks=101.0, share=0.25)]
    """
    order = np.argsort(blocks, kind="stable")
    blocks, shares = blocks[order], shares[order]
    fresh = np.ones(len(blocks), bool)
    fresh[1:] = blocks[1:] > alike * blocks[:-1]
    number = np.cumsum(fresh) - 1
    for total, weighted in zip(
        np.bincount(number, shares), np.bincount(number, shares * blocks), strict=True
    ):
        yield Lag(float(weighted / total), float(total))
