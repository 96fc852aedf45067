"""How fast device memory fills L2: a width per SM clock, which binds far below the boost clock.

L2 takes what device memory sends at the SMs' clock. Boards at low SM clocks stream in proportion to the
clock, however fast their memory is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwatt.core.gpu import Clocks, Gpu

FILL_BYTES_PER_CLOCK = {"GV100": 870.0, "GM204": 225.0}
"""Chip to the most bytes per SM clock that streaming kernels got from device memory (NV-DVFS-Benchmark):
V100 at 705-945 MHz 830-897, GTX 980 at 700 MHz and memory at 3100 and 3900 MHz 223-227. P100 reaches 917 at
607 MHz and RTX 8000 773 at 705 MHz without being held back as clearly; other chips have not been measured."""


def fill_bandwidth(gpu: Gpu, clocks: Clocks) -> float:
    """Return the bytes per second that L2 can take from device memory, infinite where not known.

    >>> from warpwatt.core.gpu import Clocks
    >>> from warpwatt.gpus import find
    >>> board = find("v100 pcie 16gb")
    >>> fill_bandwidth(board, Clocks(705e6, board.memory_clock)) < 0.7 * board.memory_bandwidth
    True
    """
    return FILL_BYTES_PER_CLOCK.get(gpu.die, math.inf) * clocks.sm
