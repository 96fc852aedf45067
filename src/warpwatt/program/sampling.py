"""Which warps of a launch are looked at, and how many each of them stands for.

Small launches are taken whole. In large ones every axis of the grid is cut into its first blocks, its last
blocks and slices in between, one block of each slice is drawn with a fixed seed, and all warps of the drawn
blocks are taken: boundary checks, which treat the last blocks of an axis apart, stay exact.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.launch import WARP_SIZE, Dim3, Launch
from warpwatt.program.arithmetic import SCALAR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.program.arithmetic import Array

_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class WarpSample:
    """Sampled blocks, sampled warps of each, and what their threads know about themselves.

    Attributes
    ----------
    registers
        Special register to its values, ``uint32`` with axes (blocks, warps, lanes) of length 1 where nothing
        changes.
    block_weights, warp_weights
        Blocks of the grid each sampled block stands for, warps of a block each sampled warp stands for.
    block_total, warp_total
        Their sums: blocks of the grid, warps of a block.
    valid
        Whether lanes exist, shape (1, warps, 32), or (1, 1, 1) where all do.
    """

    registers: dict[str, Array]
    block_weights: Array
    warp_weights: Array
    block_total: float
    warp_total: float
    valid: Array

    def of_every(self, few: int) -> WarpSample:
        """Return the sample with one of ``few`` blocks; the weights are no longer those of the whole grid."""
        return self.of(slice(None, None, few))

    def of(self, which: slice | NDArray[np.int64]) -> WarpSample:
        """Return the sample with some of its blocks; the weights are no longer those of the whole grid."""
        registers = {
            name: values if len(values) == 1 else values[which] for name, values in self.registers.items()
        }
        return replace(self, registers=registers, block_weights=self.block_weights[which])


def sample_warps(launch: Launch, limit: int = 256, per_block: int = WARP_SIZE) -> WarpSample:
    """Return about ``limit`` warps of a launch (a few more where every axis has boundaries).

    ``per_block`` bounds the warps taken of each block: the first, the last and some in between.

    >>> from warpwatt.core.launch import Dim3, Launch
    >>> s = sample_warps(Launch(Dim3(1000, 1000), Dim3(16, 16)))
    >>> len(s.block_weights) < 50, s.block_total * s.warp_total == 1000 * 1000 * 8
    (True, True)
    """
    warps = _axis(launch.warps_per_block, max(3, per_block))
    axes = _axes(launch.grid, max(1, limit // len(warps)))
    blocks = [((x, y, z), wx * wy * wz) for z, wz in axes[2] for y, wy in axes[1] for x, wx in axes[0]]
    coordinates = np.array([b for b, _ in blocks])
    warp = np.array([w for w, _ in warps])[None, :, None]
    thread = warp * WARP_SIZE + np.arange(WARP_SIZE)
    valid = thread < launch.block.count
    registers: dict[str, Array] = {
        "%tid.x": thread % launch.block.x,
        "%tid.y": thread // launch.block.x % launch.block.y,
        "%tid.z": thread // (launch.block.x * launch.block.y),
        "%laneid": np.arange(WARP_SIZE)[None, None, :],
        "%warpid": warp,
    }
    for position, axis in enumerate("xyz"):
        registers[f"%ctaid.{axis}"] = coordinates[:, position][:, None, None]
        registers[f"%ntid.{axis}"] = np.full(SCALAR, getattr(launch.block, axis))
        registers[f"%nctaid.{axis}"] = np.full(SCALAR, getattr(launch.grid, axis))
    return WarpSample(
        {name: _narrow(values.astype(np.uint32)) for name, values in registers.items()},
        np.array([w for _, w in blocks], float),
        np.array([w for _, w in warps], float),
        float(launch.grid.count),
        float(launch.warps_per_block),
        np.ones(SCALAR, bool) if valid.all() else valid,
    )


def _narrow(values: Array) -> Array:
    """Drop axes along which nothing changes: numpy's broadcasting then does the work once."""
    for axis in range(values.ndim):
        first = values.take([0], axis=axis)
        if values.shape[axis] > 1 and (first == values).all():
            values = first
    return values


def _axes(grid: Dim3, blocks: int) -> list[list[tuple[int, int]]]:
    """Return ``(coordinate, weight)`` pairs for x, y and z, about ``blocks`` combinations in all."""
    extents = [grid.x, grid.y, grid.z]
    if grid.count <= blocks:
        return [[(i, 1) for i in range(extent)] for extent in extents]
    points = [1, 1, 1]
    remaining = blocks
    for left, axis in zip((3, 2, 1), sorted(range(3), key=lambda a: extents[a]), strict=True):
        share = max(3, round(remaining ** (1 / left)))
        points[axis] = min(extents[axis], share)
        remaining = max(1, remaining // points[axis])
    return [_axis(extent, count) for extent, count in zip(extents, points, strict=True)]


def _axis(extent: int, points: int) -> list[tuple[int, int]]:
    if extent <= points:
        return [(i, 1) for i in range(extent)]
    draw = random.Random(_SEED)  # noqa: S311 - statistics, not secrets
    ends = 2 if points >= 7 else 1
    slices = points - 2 * ends
    edges = [ends + (extent - 2 * ends) * i // slices for i in range(slices + 1)]
    inner = [(draw.randrange(a, b), b - a) for a, b in pairwise(edges) if b > a]
    first = [(i, 1) for i in range(ends)]
    return [*first, *inner, *((extent - 1 - i, 1) for i in reversed(range(ends)))]
