"""What ``gld_transactions`` counts on Maxwell and Pascal: passes of groups of eight lanes, not sectors.

NVIDIA documents the counter as "number of global memory load transactions" only. A coalesced warp counts 8
where it asks for 4 sectors, a broadcast 4, words 8 bytes apart 8, 16-byte words 16 (vectorAdd,
matrixMulGlobal, nn and scan in the data). Rows of 16 words that begin ``r`` words behind a 32-byte boundary
count per eight lanes 2 for r = 0 and r >= 4, and 3 for r = 1, 2, 3 (backprop, hotspot). All of this follows
from one rule, READ OFF THESE DATA: each group of eight lanes counts the sectors it touches, and one more
where its second four lanes begin in the sector in which its first four begin, but at another word.

Lanes are needed for it, which traces do not keep: the NumPy reference runs the blocks, and the count takes
the place of the passes through the tags of L1, which these GPUs do not report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from tests.emulate import reference
from tests.emulate.reference.statistics import GLOBAL, Statistics

from warpwatt.program.transactions import SECTOR, blocks_touched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.run import Context, Limits, Run

GROUP = 8
WARPS_AT_ONCE = 256


def passes(addresses: NDArray[np.int64], size: int, active: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the passes of each warp, shape (warps, 32) to (warps,).

    >>> lanes, full = np.arange(32)[None], np.ones((1, 32), bool)
    >>> [int(passes(lanes * stride, size, full)[0]) for stride, size in ((4, 4), (0, 4), (8, 4), (16, 16))]
    [8, 4, 8, 16]
    >>> [int(passes(lanes * 4 + 4 * r, 4, full)[0]) for r in range(8)]
    [8, 12, 12, 12, 8, 8, 8, 8]
    """
    warps = len(addresses)
    grouped = addresses.reshape(warps * (32 // GROUP), GROUP)
    on = active.reshape(grouped.shape)
    sectors = np.where(on.any(axis=1), blocks_touched(grouped, size, on, SECTOR), 0)
    starts = [_first(grouped[:, half], on[:, half]) for half in (slice(0, 4), slice(4, 8))]
    both = on[:, :4].any(axis=1) & on[:, 4:].any(axis=1)
    again = both & (starts[0] // SECTOR == starts[1] // SECTOR) & (starts[0] != starts[1])
    return np.asarray((sectors + again).reshape(warps, -1).sum(axis=1))


def _first(addresses: NDArray[np.int64], on: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the address of the first lane that is on."""
    return np.take_along_axis(addresses, on.argmax(axis=1)[:, None], axis=1)[:, 0]


class _Statistics(Statistics):
    """Counts passes of groups in the place of tag passes."""

    def _sums(
        self, space: int, addresses: Any, where: Any, on: Any, size: int, *, atomic: bool
    ) -> dict[str, Any]:
        found = super()._sums(space, addresses, where, on, size, atomic=atomic)
        if space == GLOBAL and len(where):
            found["l1_passes"] = passes(where, size, on)
        return found


def run(
    routine: Routine, context: Context, memory: DeviceMemory, blocks: Sequence[int],
    limits: Limits | None = None, *, record: bool = False,
) -> Run:  # fmt: skip
    """Run blocks with the reference engine; ``l1_passes`` of its counts are :func:`passes`."""
    with patch.object(reference, "Statistics", _Statistics):
        return reference.run(
            routine, context, memory, blocks, limits, record=record, warps_at_once=WARPS_AT_ONCE
        )
