"""What a warp's accesses cost: requests, bank conflicts (Algorithm 6.1), bytes that a block reuses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.launch import WARP_SIZE, Dim3

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.published.resios.c_loops.bound import Access, BoundFunction
    from warpwatt.published.resios.c_loops.integers import Affine
    from warpwatt.published.resios.c_loops.mapping import Mapping

UNKNOWN_REQUESTS = WARP_SIZE
"""Requests and conflicts of an access whose addresses are not known: the most there can be (6.1)."""
_MANY = 1 << 20
"""Elements beyond which a tile is not counted: it fits no shared memory."""


def flat(access: Access, bound: BoundFunction) -> Affine | None:
    """Return the index of an access into the whole array, None if it is not affine."""
    if not access.affine:
        return None
    shape = bound.shapes[access.element.array.name]
    total = None
    for subscript, extent in zip(access.subscripts, shape, strict=True):
        assert subscript is not None
        total = subscript if total is None else total.scaled(extent) + subscript
    return total


def lane_stride(access: Access, bound: BoundFunction, mapping: Mapping) -> int | None:
    """Return the bytes between the addresses of neighbouring threads, None if not constant."""
    form = flat(access, bound)
    if form is None:
        return None
    return form.terms.get(mapping.lane.counter, 0) * access.element.type.size


def requests(stride: int | None, size: int, line: int = 128) -> int:
    """Return the lines a warp asks for: c of (4.8), 32 where the stride is not known.

    >>> requests(4, 4), requests(8, 4), requests(4096, 4), requests(0, 4), requests(None, 4)
    (1, 2, 32, 1, 32)
    """
    if stride is None:
        return UNKNOWN_REQUESTS
    starts = [lane * stride for lane in range(WARP_SIZE)]
    return len({byte // line for start in starts for byte in (start, start + size - 1)})


def bank_conflicts(offsets: Sequence[int] | None, banks: int = 32, width: int = 4) -> int:
    """Return c of (4.9): lanes whose words one bank must deliver one by one, 0 if none has to wait.

    Algorithm 6.1 counts offsets per bank, the 33rd thread included; here it is 32 threads, and lanes that ask
    for the same word share it, as Fermi broadcasts: chapter 7 finds no conflicts in its filter, which all
    lanes read at one address. None: addresses are not known, so the most there can be.

    >>> [bank_conflicts([4 * stride * lane for lane in range(32)]) for stride in (0, 1, 2, 3, 16, 32)]
    [0, 0, 2, 0, 16, 32]
    """
    if offsets is None:
        return UNKNOWN_REQUESTS
    words: dict[int, set[int]] = defaultdict(set)
    for offset in offsets:
        words[offset // width % banks].add(offset // width)
    degree = max(len(found) for found in words.values())
    return degree if degree > 1 else 0


@dataclass(frozen=True, slots=True)
class Opportunity:
    """An array that a block reads more often than it has elements: it could lie in shared memory.

    ``size`` in bytes per block, ``frequency`` reads per thread, ``reuse`` reads per element and block.
    """

    array: str
    size: int
    frequency: float
    reuse: float
    whole: bool
    conflicts: int = 0


def opportunities(bound: BoundFunction, mapping: Mapping, block: Dim3) -> tuple[Opportunity, ...]:
    """Return what shared memory could hold; arrays whose tile is not known are left out (Algorithm 6.2)."""
    written = bound.written(mapping.nest)
    by_array: dict[str, list[Access]] = defaultdict(list)
    for access in mapping.nest.accesses:
        if access.element.array.name not in written:
            by_array[access.element.array.name].append(access)
    found = (_opportunity(name, reads, bound, mapping, block) for name, reads in by_array.items())
    return tuple(one for one in found if one is not None)


def _opportunity(
    name: str, reads: list[Access], bound: BoundFunction, mapping: Mapping, block: Dim3
) -> Opportunity | None:
    tiles = [_tile(read, bound, mapping, block) for read in reads]
    if any(tile is None for tile in tiles):
        return None
    elements = len(np.unique(np.concatenate([tile for tile in tiles if tile is not None])))
    frequency = sum(executions(read, mapping) for read in reads)
    reuse = frequency * block.count / elements
    if reuse <= 1:
        return None
    size = reads[0].element.type.size
    total = bound.nbytes(name) // size
    strides = [lane_stride(read, bound, mapping) for read in reads]
    conflicts = max(
        bank_conflicts(None if s is None else [lane * s for lane in range(WARP_SIZE)]) for s in strides
    )
    return Opportunity(name, min(elements, total) * size, frequency, reuse, elements >= total, conflicts)


def _tile(access: Access, bound: BoundFunction, mapping: Mapping, block: Dim3) -> NDArray[np.int64] | None:
    """Return the elements one block touches, the block at the origin; None if unknown or too many."""
    form = flat(access, bound)
    if form is None:
        return None
    extents = {
        loop.counter: min(loop.most, n)
        for loop, n in zip(mapping.loops[::-1], (block.x, block.y), strict=False)
    }
    reached = np.zeros(1, np.int64)
    for loop in access.loops:
        steps = np.arange(extents.get(loop.counter, loop.most), dtype=np.int64) * form.terms.get(
            loop.counter, 0
        )
        if loop.counter not in form.terms:
            continue
        if len(reached) * len(steps) > 8 * _MANY:
            return None
        reached = np.unique(np.add.outer(reached, steps))
        if len(reached) > _MANY:
            return None
    return reached + form.constant


def executions(access: Access, mapping: Mapping) -> float:
    """Return how often one thread makes an access, both sides of every condition taken."""
    total = 1.0
    for loop in access.loops[len(mapping.loops) :]:
        total *= loop.mean
    return total


def greedy(found: Sequence[Opportunity], capacity: int) -> tuple[Opportunity, ...]:
    """Return the opportunities chosen by frequency over size, the first n that fit (Algorithm 6.2)."""
    order = sorted(found, key=lambda o: o.frequency / o.size, reverse=True)
    chosen: list[Opportunity] = []
    for one in order:
        if sum(o.size for o in chosen) + one.size > capacity:
            break
        chosen.append(one)
    return tuple(chosen)
