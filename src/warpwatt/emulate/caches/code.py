"""What a launch fetches besides its data where caches are empty: its code, and what any launch needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.launch import L2State
from warpwatt.core.program import Level

if TYPE_CHECKING:
    from warpwatt.core.execution import Execution

INSTRUCTION_BYTES = 16
"""Of machine code since compute capability 7.0."""
LINE_BYTES = 128
LINES_AHEAD = 16
"""Lines that the front end fetches behind the one it needs (Huerta et al., MICRO 2025, RTX A6000)."""
LAUNCH_BYTES = 2400.0
"""Parameters, constants and the description of the launch: a kernel of 0.4 kB that returns at once reads
2.7 kB (gpuFLOPBench, RTX 3080, caches flushed), one of 10.5 kB that reads 18 kB reads 29 kB."""


def is_cold(execution: Execution) -> bool:
    """Whether L2 holds nothing that the launch needs."""
    return execution.launch.l2 is L2State.COLD and not execution.launch.in_l2


def cold_code_bytes(execution: Execution) -> float:
    """Return the bytes of code, parameters and constants that come from DRAM; 0 unless L2 is cold.

    PTX has no code to fetch: its size is not known.
    """
    program = execution.program
    if not is_cold(execution) or program.level is not Level.SASS:
        return 0.0
    per_line = LINE_BYTES // INSTRUCTION_BYTES
    used = {index // per_line for index, count in enumerate(execution.counts) if count}
    last = (len(program.instructions) - 1) // per_line
    fetched = {line for first in used for line in range(first, min(first + LINES_AHEAD, last) + 1)}
    return LAUNCH_BYTES + LINE_BYTES * len(fetched)
