"""How the addresses of a warp become memory transactions: sectors, lines and shared-memory wavefronts.

Global memory moves in 32-byte sectors of 128-byte lines (CUDA C++ Programming Guide, compute capability
5.x and later). Shared memory has 32 banks of 4 bytes; lanes that read the same word share it. Accesses of
8 and 16 bytes are served by half and quarter warps, two of them at once where neighbouring lanes (``t`` and
``t ^ 1``, or ``t`` and ``t ^ 2``) have the same address (NVIDIA developer forum, thread 77228; nvprof counts
2 for a broadcast of 16 bytes on GTX 980, P100 and V100).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from warpwatt.program.arithmetic import Array

SECTOR = 32
LINE = 128
BANKS = 32
TAG_BANKS = 4
WORD = 4
WIDEST = 16
"""Bytes per lane from which on even a broadcast takes two passes."""


def distinct(values: Array, active: Array) -> Array:
    """Return how many different values the active lanes of each warp hold, shape (..., 1) reduced to (...).

    >>> distinct(np.array([[7, 7, 9]]), np.array([[True, True, False]]))
    array([1])
    """
    shape = np.broadcast_shapes(values.shape, active.shape)
    absent = np.iinfo(np.int64).max
    ordered = np.sort(np.where(active, np.broadcast_to(values, shape), absent), axis=-1)
    fresh = (ordered[..., 1:] != ordered[..., :-1]) & (ordered[..., 1:] != absent)
    return np.asarray(fresh.sum(axis=-1) + (ordered[..., 0] != absent))


def blocks_touched(addresses: Array, size: int, active: Array, block: int) -> Array:
    """Return the number of aligned ``block``-byte pieces a warp touches with ``size`` bytes per lane.

    >>> blocks_touched(np.arange(32)[None] * 4, 4, np.ones((1, 32), bool), 32)
    array([4])
    """
    if size <= block:
        first = addresses // block
        last = (addresses + (size - 1)) // block
        if (first == last).all():
            return distinct(first, active)
        both = np.concatenate(np.broadcast_arrays(first, last), axis=-1)
        lanes = np.broadcast_to(active, np.broadcast_shapes(active.shape, first.shape))
        return distinct(both, np.concatenate([lanes, lanes], axis=-1))
    pieces = np.arange(-(-size // block))
    spread = (addresses[..., None] + pieces * block) // block
    lanes = np.broadcast_to(
        active[..., None], (*np.broadcast_shapes(active.shape, addresses.shape), len(pieces))
    )
    flat = (*np.broadcast_shapes(spread.shape, lanes.shape)[:-2], -1)
    return distinct(np.broadcast_to(spread, lanes.shape).reshape(flat), lanes.reshape(flat))


def wavefronts(addresses: Array, size: int, active: Array) -> Array:
    """Return the passes of each warp through shared memory; 1 without bank conflicts for 4-byte accesses.

    >>> lanes = np.arange(32)[None]
    >>> full = np.ones((1, 32), bool)
    >>> [int(wavefronts(lanes * stride, 4, full)[0]) for stride in (0, 4, 8, 128, 132)]
    [1, 1, 2, 32, 1]
    >>> [int(wavefronts(address, 16, full)[0]) for address in (lanes * 16, lanes // 2 * 16, lanes * 0)]
    [4, 2, 2]
    """
    shape = np.broadcast_shapes(addresses.shape, active.shape)
    addresses, active = np.broadcast_to(addresses, shape), np.broadcast_to(active, shape)
    words = max(1, size // WORD)
    groups = min(words, 4)
    if groups == 1:
        return _fullest_bank(addresses, words, active)
    apart, together = (_grouped(addresses, words, active, n) for n in (groups, groups // 2))
    return np.where(_paired(addresses, active), together, apart)


def fewest_wavefronts(useful: Array, size: int, passes: Array) -> Array:
    """Return the passes that ``useful`` different bytes per warp need at best; ``passes`` are taken.

    >>> full = np.array([2])
    >>> [int(fewest_wavefronts(np.array([n]), size, full)[0]) for n, size in ((32, 16), (128, 4), (256, 8))]
    [2, 1, 2]
    """
    least = 2 if size >= WIDEST else 1
    return np.asarray(np.minimum(passes, np.maximum(least, -(-useful // (BANKS * WORD)))))


def _grouped(addresses: Array, words: int, active: Array, groups: int) -> Array:
    """Return the passes where so many equal parts of a warp are served one after the other."""
    per_group = addresses.shape[-1] // groups
    parts = [slice(i * per_group, (i + 1) * per_group) for i in range(groups)]
    return np.asarray(sum(_fullest_bank(addresses[..., p], words, active[..., p]) for p in parts))


def _paired(addresses: Array, active: Array) -> Array:
    """Return whether active lanes ``t`` and ``t ^ 1``, or else ``t`` and ``t ^ 2``, have the same address."""
    lanes = np.arange(addresses.shape[-1])
    pairs = []
    for distance in (1, 2):
        other = lanes ^ distance
        both = active & active[..., other]
        pairs.append((~both | (addresses == addresses[..., other])).all(axis=-1))
    return np.asarray(pairs[0] | pairs[1])


def l1_passes(addresses: Array, size: int, active: Array) -> Array:
    """Return the passes of each warp through L1: through its tags or its data, whichever takes longer.

    L1 hits conflict in the banks that shared memory has: 8-byte strides of single words take 2 cycles,
    32-byte ones 8, 128-byte ones 32 on A100, A40 and H200 (gpu-benches, gpu-strides).

    >>> lanes, full = np.arange(32)[None], np.ones((1, 32), bool)
    >>> [int(l1_passes(lanes * stride, 4, full)[0]) for stride in (4, 8, 32, 128, 132)]
    [1, 2, 8, 32, 8]
    """
    return np.maximum(tag_passes(addresses, active), wavefronts(addresses, size, active))


def tag_passes(addresses: Array, active: Array) -> Array:
    """Return the passes of each warp through the tags of L1: lines of one tag bank go one by one.

    Volta and later look up four sets per cycle (NVIDIA developer forum, threads 49571 and 273699). The
    exclusive or of all pairs of a line's bits as the choice among the four is chosen on gpu-strides: of 130
    strides and rows on A100 and H200 that conflict in no bank it leaves 3 % (the lowest bits alone 13 %).

    >>> lanes, full = np.arange(32)[None], np.ones((1, 32), bool)
    >>> [int(tag_passes(lanes * stride, full)[0]) for stride in (4, 128, 212, 512, 640)]
    [1, 8, 12, 8, 21]
    """
    shape = np.broadcast_shapes(addresses.shape, active.shape)
    lanes = np.broadcast_to(active, shape)
    lines = np.broadcast_to(addresses // LINE, shape)
    folded = lines
    for shift in (32, 16, 8, 4, 2):
        folded = folded ^ folded >> shift
    numbers = lines * TAG_BANKS + folded % TAG_BANKS
    return _fullest(np.where(lanes, numbers, -1), TAG_BANKS)


def _fullest_bank(addresses: Array, words: int, active: Array) -> Array:
    """Most different words that one bank of shared memory must deliver."""
    first = addresses // WORD
    touched = np.concatenate([first + i for i in range(words)], axis=-1)
    lanes = np.concatenate([active] * words, axis=-1)
    return _fullest(np.where(lanes, touched, -1), BANKS)


def _fullest(touched: Array, banks: int) -> Array:
    """Most different numbers with the same remainder by ``banks``, per row; negative ones do not count."""
    ordered = np.sort(touched, axis=-1)
    fresh = np.concatenate([ordered[..., :1] >= 0, ordered[..., 1:] != ordered[..., :-1]], axis=-1)
    fresh &= ordered >= 0
    rows = np.arange(ordered[..., 0].size)[:, None] * banks
    places = (ordered % banks).reshape(len(rows), -1) + rows
    counts = np.bincount(places[fresh.reshape(places.shape)], minlength=len(rows) * banks)
    return np.asarray(counts.reshape(*ordered.shape[:-1], banks).max(axis=-1))


def lane_stride(addresses: Array, active: Array) -> int | None:
    """Return the distance of neighbouring lanes in bytes where it is always the same, else None.

    >>> lane_stride(np.array([[0, 8, 16]]), np.ones((1, 3), bool))
    8
    """
    shape = np.broadcast_shapes(addresses.shape, active.shape)
    if shape[-1] == 1:
        return 0
    steps = np.diff(np.broadcast_to(addresses, shape), axis=-1)
    lanes = np.broadcast_to(active, shape)
    steps = steps[lanes[..., 1:] & lanes[..., :-1]]
    return int(steps[0]) if steps.size and (steps == steps[0]).all() else None
