"""More independent work per warp: several iterations of a loop under way at once.

Simulated as several warps that share a warp's iterations: they issue and wait like one warp whose loop is
unrolled with a result of its own for each of the iterations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.advice import Change
from warpwatt.core.case import Case
from warpwatt.core.execution import Execution
from warpwatt.core.streams import WarpStreams
from warpwatt.program.cfg import control_flow
from warpwatt.program.loops import natural_loops
from warpwatt.what_if.edit import with_execution
from warpwatt.what_if.recurrence import independent, unrolled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.program.cfg import ControlFlow
    from warpwatt.program.loops import Loop

AT_ONCE = 4
FEWEST = 8
"""Iterations per entry from which on a loop is worth unrolling."""
MOST = 0.5
"""Share of the executed instructions that the loop must have: the rest is not shared out."""


def chains(case: Case) -> Iterator[Change]:
    """Yield the case with :data:`AT_ONCE` iterations of its busiest innermost loop at once.

    Only where iterations may be computed in any order (see :mod:`.recurrence`). Of a loop that the compiler
    has unrolled it keeps no more loads under way, however much further it is unrolled: threads can share it.
    """
    execution = case.workload.execution
    flow = control_flow(execution.program)
    loops = [loop for loop in natural_loops(flow).loops if not loop.children]
    busiest = max(loops, key=lambda loop: _work(execution, flow, loop), default=None)
    if busiest is None or not _divisible(execution, flow, busiest):
        return
    streams = execution.streams
    assert streams is not None
    inside = np.zeros(len(execution.program.instructions), bool)
    inside[[i.index for b in busiest.blocks for i in flow.instructions(b)]] = True
    shared = shared_out(streams, inside, flow.blocks[busiest.header].start, AT_ONCE)
    line = busiest.line.home if busiest.line else None
    where = f"line {line.line}" if line else "the innermost loop"
    text = f"running {AT_ONCE} independent iterations of the loop at {where} at once"
    fix = f"unroll it by {AT_ONCE} with {AT_ONCE} accumulators, loads first"
    times = unrolled([i for b in sorted(busiest.blocks) for i in flow.instructions(b)])
    if times > 1:
        text = f"sharing the iterations of the loop at {where} among {AT_ONCE} threads"
        fix = f"{AT_ONCE} threads for each result, added up by shuffles (it is unrolled by {times} already)"
    yield Change("chains", text, with_execution(case, replace(execution, streams=shared)), line, fix)


def _work(execution: Execution, flow: ControlFlow, loop: Loop) -> float:
    return sum(execution.counts[i.index] for b in loop.blocks for i in flow.instructions(b))


def _divisible(execution: Execution, flow: ControlFlow, loop: Loop) -> bool:
    """Return whether a loop is busy and long, and its iterations may be computed in any order."""
    body = [i for b in sorted(loop.blocks) for i in flow.instructions(b)]
    entries = execution.counts[flow.blocks[loop.header].start]
    before = flow.idom[loop.header]
    times = entries / max(1.0, execution.counts[flow.blocks[before].start]) if before >= 0 else 0.0
    busy = _work(execution, flow, loop) >= MOST * execution.warp_instructions
    return busy and times >= FEWEST and independent(body)


def shared_out(streams: WarpStreams, inside: NDArray[np.bool_], head: int, parts: int) -> WarpStreams:
    """Return streams in which ``parts`` warps share each warp's iterations of a loop, taking turns.

    What is not in the loop stays with the first of them; the others begin with an iteration, or with the
    warp's first instructions where there are none left. Warps without any, which were not traced, stay so.
    """
    own = inside[streams.steps[:, 0]]
    begins = own & (streams.steps[:, 0] == head)
    working = streams.steps[:, 1] > streams.steps[:, 0]  # a warp's way into its program has no instruction
    warps = streams.warps_per_block
    steps, lengths = [], []
    for block in range(len(streams.blocks)):
        for part in range(parts):
            for warp in range(block * warps, (block + 1) * warps):
                span = slice(streams.starts[warp], streams.starts[warp + 1])
                turn = (np.cumsum(begins[span]) - 1) % parts
                mine = np.where(own[span], turn == part, part == 0)
                if not (mine & working[span]).any():
                    mine[np.flatnonzero(working[span])[:1]] = True
                steps.append(streams.steps[span][mine])
                lengths.append(int(mine.sum()))
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return replace(streams, warps_per_block=warps * parts, starts=starts, steps=np.concatenate(steps))
