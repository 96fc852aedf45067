"""Instructions whose executions move by different steps: each execution counts as an instruction of its own.

A wavelet or a tree stores half as many values at every level, each level elsewhere: the blocks' lowest and
highest addresses move by different steps, and none of them speaks for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.reuse import Growth, LineStream
from warpwatt.emulate.caches.movement import Bases, alike, bases_of, steps_of
from warpwatt.emulate.caches.stream import rows_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.caches.sampled_blocks import SampledBlocks

MOST = 32
"""Executions of an instruction by a warp that are told apart."""


def told_apart(stream: LineStream, blocks: SampledBlocks) -> tuple[LineStream, Bases, dict[int, int]]:
    """Return the stream with new numbers for such executions, and which instruction each number is of.

    Between them: the lowest sectors of the numbers in each block (:func:`~.movement.bases_of`).
    """
    lowest, highest = bases_of(stream)
    number = int(stream.instruction.max(initial=-1)) + 1
    labels, owners = stream.instruction.copy(), dict[int, int]()
    for index in lowest:
        ends = [steps_of(*bases[index], blocks) for bases in (lowest, highest)]
        if not all(ends) or alike(ends[0], ends[1], blocks):
            continue
        rows = np.flatnonzero(stream.instruction == index)
        turn = _executions(stream, rows)
        if turn.max() >= MOST:
            continue
        labels[rows] = number + turn
        made = range(number, number + int(turn.max()) + 1)
        each, _ = bases_of(rows_of(replace(stream, instruction=labels), rows))
        if all(steps_of(*each[label], blocks) for label in made):
            owners |= dict.fromkeys(made, index)
            number = made.stop
        else:
            labels[rows] = index
    if not owners:
        return stream, lowest, owners
    stream = replace(stream, instruction=labels)
    return stream, bases_of(stream)[0], owners


def _executions(stream: LineStream, rows: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return for each row how many times its warp, whose rows are in its order, has executed it before."""
    warp, time = stream.warp[rows], stream.time[rows]
    first = np.ones(len(rows), bool)
    first[1:] = warp[1:] != warp[:-1]
    later = np.ones(len(rows), bool)
    later[1:] = first[1:] | (time[1:] != time[:-1])
    count = np.cumsum(later, dtype=np.int32)
    return count - np.repeat(count[first], np.diff(np.flatnonzero(first), append=len(rows)))


def joined(growths: Sequence[Growth], owners: Mapping[int, int]) -> tuple[Growth, ...]:
    """Return the growths with the instructions' own numbers, and the part of each that is in a growth."""
    if not owners:
        return tuple(growths)
    touched: dict[tuple[bool, int], float] = {}
    for growth in growths:
        for label, share in growth.shares.items():
            key = growth.written, owners.get(label, label)
            touched[key] = touched.get(key, 0.0) + growth.block_bytes * share
    return tuple(_joined(growth, owners, touched) for growth in growths)


def _joined(growth: Growth, owners: Mapping[int, int], touched: Mapping[tuple[bool, int], float]) -> Growth:
    shares: dict[int, float] = {}
    for label, share in growth.shares.items():
        index = owners.get(label, label)
        shares[index] = shares.get(index, 0.0) + share
    parts = {
        i: growth.block_bytes * shares[i] / touched[growth.written, i]
        for i in set(owners.values()) & shares.keys()
    }
    members = tuple(dict.fromkeys(owners.get(label, label) for label in growth.instructions))
    return replace(growth, instructions=members, shares=shares, parts=parts)
