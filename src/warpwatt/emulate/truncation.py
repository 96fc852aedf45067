"""A block too long for the budget: counted by analysis, with the accesses of the part that was run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.execution import Assumption, Execution
from warpwatt.emulate.caches.reuse import reuse_of
from warpwatt.emulate.caches.sampled_blocks import SampledBlocks
from warpwatt.emulate.failures import busiest_loop
from warpwatt.emulate.patterns import access_patterns, constant_reads, footprints
from warpwatt.emulate.scaling import scale
from warpwatt.program.counting import count, unknown_trips

if TYPE_CHECKING:
    from warpwatt.emulate.emulation import Emulation

TRUNCATED_SPREAD = 0.1
"""Standard deviation of the logarithm of the time of what was counted by analysis instead of run."""


def extrapolate(emulation: Emulation, loop_counts: Mapping[int, float]) -> Execution | None:
    """Return the execution as analysis counts it, with the access patterns seen in the part that was run.

    None where analysis does not know either how often loops run.

    Raises
    ------
    ArgumentError
        As :func:`~warpwatt.program.counting.count`.
    """
    cut = emulation.stopped
    assert cut is not None
    routine, launch, buffers = emulation.routine, emulation.bound.launch, emulation.buffers
    counted = count(emulation.bound, loop_counts)
    if unknown_trips(counted):
        return None
    line = busiest_loop(cut, routine.program)
    part = scale([cut], [launch.grid.count / max(1, len(cut.blocks))], [0])
    counts = np.array(counted.counts)
    seen = (part.executions > 0) & (counts > 0)
    where = "" if line is None else f" (in the loop at line {line.line})"
    message = (
        f"one block takes more than the budget of {cut.warp_instructions} warp instructions{where}: "
        "counts are those of analysis, access patterns those of the part that was run"
    )
    assumption = Assumption(message, "budget of emulation", TRUNCATED_SPREAD, line)
    if cut.trace is None:
        return replace(counted, assumptions=(*counted.assumptions, assumption))
    grown = {int(i): float(max(1.0, counts[i] / part.executions[i])) for i in np.flatnonzero(seen)}
    blocks = SampledBlocks(
        launch.grid, np.array(cut.blocks), np.full(len(cut.blocks), launch.grid.count / len(cut.blocks))
    )
    reuse = reuse_of(cut.trace, routine.program, blocks, buffers, routine=routine, scales=grown)
    patterns = {**counted.accesses, **access_patterns(part, routine.program, buffers, reuse)}
    return replace(
        counted,
        accesses=patterns,
        footprints=footprints(reuse),
        constants=constant_reads(part),
        reuse=reuse,
        assumptions=(*counted.assumptions, assumption),
    )
