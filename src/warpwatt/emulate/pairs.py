"""Pairs of blocks that multiply together (tcgen05, ``cta_group::2``), as the simulation of one SM sees them.

The block of even rank starts the products of both and both do half of each, so that the simulated SM runs
blocks of even rank alone. What the other block, or any of the cluster, does to a barrier object is taken to
come with what the block itself does to it: a phase needs as many arrivals fewer, and each copy tells as many
bytes more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.layout import CLUSTER_RANK_BITS
from warpwatt.emulate.run import NO_BARRIER_OBJECT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from warpwatt.core.launch import Launch
    from warpwatt.core.program import Program
    from warpwatt.core.streams import WarpStreams
    from warpwatt.emulate.run import Trace

    Ints = NDArray[np.int64]

_COUNT_BITS = 20
_OFFSET = (1 << CLUSTER_RANK_BITS) - 1


def multiplies_in_pairs(program: Program) -> bool:
    """Tell whether pairs of blocks multiply together."""
    return any(i.opcode.startswith("UTC") and "2CTA" in i.opcode for i in program.instructions)


def cluster_ranks(blocks: Sequence[int], launch: Launch) -> Ints:
    """Return the rank in its cluster of each block, given by its number in the grid.

    >>> from warpwatt.core.launch import Dim3, Launch
    >>> cluster_ranks([0, 1, 5, 6], Launch(Dim3(4, 4), Dim3(32), cluster=Dim3(2, 2))).tolist()
    [0, 1, 3, 2]
    """
    number, grid, cluster = np.asarray(blocks, np.int64), launch.grid, launch.cluster
    x, y, z = number % grid.x, number // grid.x % grid.y, number // (grid.x * grid.y)
    found: Ints = x % cluster.x + cluster.x * (y % cluster.y + cluster.y * (z % cluster.z))
    return found


def leaders(streams: WarpStreams, launch: Launch) -> WarpStreams:
    """Return the streams of the blocks of even rank."""
    even = np.flatnonzero(cluster_ranks(streams.blocks, launch) % 2 == 0)
    return streams.only(even.tolist()) if 0 < len(even) < len(streams.blocks) else streams


def with_partners(
    streams: WarpStreams, trace: Trace, begins: NDArray[np.intp], program: Program, launch: Launch
) -> WarpStreams:
    """Return the streams whose barrier objects need what the block itself does alone; ``begins`` as there."""
    if trace.access_barrier is None or trace.access_change is None or streams.objects is None:
        return streams
    of_block = _blocks(streams, trace)
    ranks = cluster_ranks(streams.blocks, launch)
    barrier = trace.access_barrier.astype(np.int64)
    concerns = barrier != NO_BARRIER_OBJECT
    own = concerns & (barrier >> CLUSTER_RANK_BITS == ranks[of_block])
    kind = _kinds(program)[trace.access_instruction]
    cluster = np.asarray(streams.blocks, np.int64)[of_block] - ranks[of_block]
    _, group = np.unique(np.stack([cluster, barrier]), axis=1, return_inverse=True)
    group = group.reshape(-1)
    change = trace.access_change.astype(np.int64)
    bytes_ = (change + (1 << _COUNT_BITS) - 1) >> _COUNT_BITS
    arrivals = np.where(kind == _CHANGE, (bytes_ << _COUNT_BITS) - change, 0)
    told = np.where(kind == _TELL, change, 0)
    share = _share(arrivals, own, group)
    more = 1.0 / np.maximum(_share(told, own, group), 1e-9)
    changes = trace.access_change.astype(np.float64)
    changes = np.where(kind == _MAKE, np.maximum(1.0, np.round(changes * share[group])), changes)
    changes = np.where(kind == _TELL, np.round(changes * more[group]), changes)
    pick = _own_first(own, begins)
    objects = np.where(own, barrier & _OFFSET, -1)
    return replace(streams, objects=objects[pick], changes=changes[pick])


_MAKE, _CHANGE, _TELL = 1, 2, 3


def _kinds(program: Program) -> Ints:
    """Return what each instruction does to a barrier object."""
    kinds = np.zeros(len(program.instructions), np.int64)
    for instruction in program.instructions:
        opcode = instruction.opcode
        if opcode.startswith("SYNCS.EXCH"):
            kinds[instruction.index] = _MAKE
        elif opcode.startswith(("SYNCS.ARRIVE", "ARRIVES", "UTCBAR", "UGETNEXTWORKID")):
            kinds[instruction.index] = _CHANGE
        elif opcode.startswith(("UTMALDG", "UBLKCP.S")):
            kinds[instruction.index] = _TELL
    return kinds


def _blocks(streams: WarpStreams, trace: Trace) -> Ints:
    """Return the place of the block that each access of a trace is of."""
    warp = np.searchsorted(np.asarray(trace.step_start), trace.access_step, side="right") - 1
    return np.minimum(warp // streams.warps_per_block, len(streams.blocks) - 1).astype(np.int64)


def _share(amounts: Ints, own: NDArray[np.bool_], group: Ints) -> NDArray[np.float64]:
    """Return by object how much of what is done to it its own block does; 1 where it does nothing."""
    everything = np.bincount(group, amounts)
    mine = np.bincount(group, np.where(own, amounts, 0))
    return np.where((mine > 0) & (everything > 0), mine / np.maximum(everything, 1e-9), 1.0)


def _own_first(own: NDArray[np.bool_], begins: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return of each execution the first access to the block's own object, or the first at all."""
    if not len(begins):
        return begins
    places = np.where(own, np.arange(len(own)), len(own))
    first = np.minimum.reduceat(places, begins)
    return np.where(first < len(own), first, begins)
