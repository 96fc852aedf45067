"""What caches need to know of a launch: lines that sampled blocks touch, and how footprints grow.

Both are the same for every GPU: an :class:`~warpwatt.core.execution.Execution` carries them, and a
:class:`~warpwatt.core.execution.Workload` is worked out from them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

READ, WRITE, FULL, BYPASS = 1, 2, 4, 8
"""Bits of ``LineStream.kind``. FULL: every touched sector is written entirely; BYPASS: not cached in L1."""


@dataclass(frozen=True, slots=True, eq=False)
class LineStream:
    """Accesses of sampled blocks to 128-byte lines of global and local memory; one row per access and line.

    ``block`` and ``warp`` are ordinals within the sample (warps are numbered through), ``time`` is the
    access's place in its warp's own order, moved behind the barriers of its block. ``line`` is the byte
    address over 128; ``sectors`` has one bit for each of its four 32-byte sectors. Rows of a warp are in
    its order.
    """

    instruction: NDArray[np.int32]
    block: NDArray[np.int32]
    warp: NDArray[np.int32]
    time: NDArray[np.int64]
    line: NDArray[np.int64]
    sectors: NDArray[np.uint8]
    kind: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Lag:
    """A share of all that blocks touch, which the ``blocks``-th block before has touched last."""

    blocks: float
    share: float

    def times(self, first: float, count: int) -> float:
        """Return for how many of the ``first`` of ``count`` blocks, in the order they run, that holds.

        In units of a block's whole touches.

        >>> Lag(2, 0.5).times(6, 10), Lag(2, 0.5).times(10, 10)
        (2.5, 5.0)
        """
        return self.share * count * max(0.0, first - self.blocks) / max(1.0, count - self.blocks)


@dataclass(frozen=True, slots=True)
class Growth:
    """Distinct memory that instructions reach together in one buffer, as blocks are added.

    Bytes are whole 32-byte sectors. ``lags`` say when blocks touch again what others have touched, or are
    None where addresses do not grow along the axes of the grid: then ``step`` is the new share of a block
    beside its predecessor. ``total`` is the footprint of the launch.
    """

    buffer: str
    instructions: tuple[int, ...]
    written: bool
    block_bytes: float
    total: float
    lags: tuple[Lag, ...] | None = None
    step: float = 1.0
    limit: float | None = None
    """Size of the buffer, None if unknown."""
    granule: float = 1.0
    """Bytes of aligned 64-byte pieces over bytes of the sectors in them."""
    partial: float = 0.0
    """Share of written sectors of which some bytes are neither read nor written."""
    shares: Mapping[int, float] = field(default_factory=dict)
    """Instruction -> share of the footprint it is the first to touch."""
    parts: Mapping[int, float] = field(default_factory=dict)
    """Instruction -> share of its own first touches that are these, where not all are."""
    private: bool = False
    """Local memory: resident threads share its place with the threads that follow them."""
    run: float = math.inf
    """Contiguous bytes that a block and its neighbours request at about the same time."""
    lines: float = 1.0
    """Bytes of 128-byte lines over bytes of the sectors in them."""
    apart: float = 1.0
    """Without ``lags``: how far apart in their lives blocks come to what they share; 0: in step."""


@dataclass(frozen=True, slots=True, eq=False)
class Reuse:
    """Sampled lines and the growth of footprints of one launch.

    ``stream`` holds blocks that are far apart in the grid, as an SM's are. ``complete`` is
    False where the sampled blocks' accesses were cut short.
    """

    stream: LineStream
    growths: tuple[Growth, ...]
    complete: bool = True
    whole_grid: bool = False
    """``stream`` holds every block of the grid, each under its own number."""
