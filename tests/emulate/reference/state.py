"""The warps of the blocks that run together: registers, where each lane is, who waits for what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.emulate.reference.floats import DTYPES
from warpwatt.emulate.run import Context, Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from warpwatt.emulate.ir import Routine, Value

    Array = NDArray[Any]

RUNS, DONE, BARRIER, CONVERGE, AWAIT = range(5)
"""What a lane does."""
_BITS = np.uint32(1) << np.arange(32, dtype=np.uint32)


def mask_of(lanes: Array) -> Array:
    """Return lanes (warps, 32) as bit masks, uint32 of shape (warps, 1).

    >>> mask_of(np.eye(1, 32, 3, dtype=bool)).tolist()
    [[8]]
    """
    return np.asarray((lanes * _BITS).sum(axis=1, dtype=np.uint32, keepdims=True))


def lanes_of(masks: Array) -> Array:
    """Return bit masks of any shape as booleans with one more axis of 32 lanes."""
    return np.asarray((masks[..., None] & _BITS) != 0)


class Warps:
    """All warps of some blocks; arrays have one row per warp and one column per lane.

    Attributes
    ----------
    place
        Index of the basic block each lane is at.
    status
        ``RUNS``, ``DONE``, ``BARRIER``, ``CONVERGE`` or ``AWAIT``.
    waits
        The barrier's number, the mask of lanes waited for, or the parity of a phase.
    block_of, within
        Ordinal of each warp's block among those here, and the warp's number in it.
    """

    def __init__(self, routine: Routine, context: Context, blocks: Sequence[int], first: int) -> None:
        launch = context.launch
        self.context, self.numbers, self.first = context, np.asarray(blocks, np.int64), first
        self.per_block = launch.warps_per_block
        self.blocks, self.count = len(blocks), len(blocks) * self.per_block
        self.block_of = np.repeat(np.arange(self.blocks), self.per_block)
        self.within = np.tile(np.arange(self.per_block), self.blocks)
        self.thread = self.within[:, None] * 32 + np.arange(32)
        self.place = np.zeros((self.count, 32), np.int32)
        self.status = np.where(self.thread < launch.block.count, RUNS, DONE).astype(np.int8)
        self.waits = np.zeros((self.count, 32), np.uint32)
        self.votes: Array = np.zeros((self.count, 32), np.bool_)
        self.clock = 0
        self.registers: dict[str, Array] = {
            name: np.zeros((self.count, 1 if kind.uniform else 32), DTYPES[kind.type])
            for name, kind in routine.registers.items()
        }

    def trace_number(self, rows: Array) -> Array:
        """Return the number of warps in a trace."""
        return self.first * self.per_block + rows

    def grid_number(self, rows: Array) -> Array:
        """Return the number of warps in the grid."""
        return self.numbers[self.block_of[rows]] * self.per_block + self.within[rows]

    def get(self, name: str, rows: Array) -> Array:
        """Return a register of some warps."""
        register = self.registers[name]
        return register if len(rows) == self.count else register[rows]

    def set(self, name: str, rows: Array, lanes: Array, value: Array) -> None:
        """Write a register where ``lanes`` hold; one value per warp for a uniform register."""
        register = self.registers[name]
        if register.shape[1] == 1:
            value = first_active(value, lanes)
            lanes = np.asarray(lanes.any(axis=1, keepdims=True))
        if len(rows) == self.count:
            self.registers[name] = np.asarray(np.where(lanes, value, register))
        else:
            register[rows] = np.where(lanes, value, register[rows])

    def special(self, name: str, rows: Array) -> Array:
        """Return a special value of some warps, see :data:`warpwatt.emulate.ir.SPECIALS`."""
        launch = self.context.launch
        base, _, axis = name.partition(".")
        blocks = self.numbers[self.block_of[rows]][:, None]
        extents = {
            "tid": launch.block, "ntid": launch.block, "ctaid": launch.grid, "nctaid": launch.grid,
            "clusterid": launch.cluster, "nclusterid": launch.cluster,
            "cluster_ctaid": launch.cluster, "cluster_nctaid": launch.cluster,
        }  # fmt: skip
        if base in ("ntid", "nctaid", "cluster_nctaid"):
            return _word(getattr(extents[base], axis))
        if base == "tid":
            return _axis(self.thread[rows], launch.block, axis).astype(np.uint32)
        if base == "ctaid":
            return _axis(blocks, launch.grid, axis).astype(np.uint32)
        if axis:
            return self._cluster(base, axis, blocks)
        return self._other(name, rows, blocks)

    def _cluster(self, base: str, axis: str, blocks: Array) -> Array:
        launch = self.context.launch
        extent, place = getattr(launch.cluster, axis), _axis(blocks, launch.grid, axis)
        if base == "nclusterid":
            return _word(-(-getattr(launch.grid, axis) // extent))
        numbers = place // extent if base == "clusterid" else place % extent
        return np.asarray(numbers).astype(np.uint32)

    def _other(self, name: str, rows: Array, blocks: Array) -> Array:
        launch = self.context.launch
        if name == "warpid":
            return self.within[rows][:, None].astype(np.uint32)
        if name == "smid":
            return (blocks % self.context.sms).astype(np.uint32)
        if name == "cluster_ctarank":
            x, y, z = (self._cluster("cluster_ctaid", axis, blocks) for axis in "xyz")
            return np.asarray(x + np.uint32(launch.cluster.x) * (y + np.uint32(launch.cluster.y) * z))
        if name in ("clock", "clock64", "globaltimer"):
            return np.full((1, 1), self.clock, np.uint64).astype(np.uint32 if name == "clock" else np.uint64)
        fixed = {
            "nwarpid": self.per_block, "nsmid": self.context.sms, "gridid": 0,
            "cluster_nctarank": launch.cluster.count, "dynamic_smem_size": launch.dynamic_shared,
            "total_smem_size": self.context.shared,
        }  # fmt: skip
        return _word(fixed[name])

    def fault(
        self, row: int, lane: int, instruction: int, address: int = 0, size: int = 0, reason: str = ""
    ) -> Fault:
        """Return a fault of one thread."""
        block = int(self.numbers[self.block_of[row]])
        return Fault(instruction, block, int(self.thread[row, lane]), address, size, reason)


def first_active(value: Array, lanes: Array) -> Array:
    """Return each warp's value in its first active lane, shape (warps, 1)."""
    if value.shape[1] == 1:
        return value
    rows = np.arange(len(lanes))
    broad = np.broadcast_to(value, lanes.shape)
    return np.asarray(broad[rows, lanes.argmax(axis=1)][:, None])


def dtype_of(value: Value) -> np.dtype[Any]:
    """Return how a value is held."""
    return DTYPES[value.type]


def _axis(numbers: Array, extents: Any, axis: str) -> Array:
    """Return one coordinate of linear numbers."""
    if axis == "x":
        return np.asarray(numbers % extents.x)
    return np.asarray(numbers // extents.x % extents.y if axis == "y" else numbers // (extents.x * extents.y))


def _word(value: int) -> Array:
    return np.full((1, 1), value, np.uint32)
