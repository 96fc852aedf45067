"""More independent work per warp: several iterations of a loop under way at once.

Simulated as several warps that share a warp's iterations: they issue and wait like one warp whose loop is
unrolled with a result of its own for each of the iterations.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.advice import Change
from warpwatt.core.program import Access, Flow, Register
from warpwatt.models.advice.edit import with_execution
from warpwatt.program.cfg import control_flow
from warpwatt.program.loops import natural_loops

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from warpwatt.core.case import Case
    from warpwatt.core.execution import Execution
    from warpwatt.core.program import Instruction
    from warpwatt.core.streams import WarpStreams
    from warpwatt.program.cfg import ControlFlow
    from warpwatt.program.loops import Loop

AT_ONCE = 4
FEWEST = 8
"""Iterations per entry from which on a loop is worth unrolling."""
_SUMS = frozenset({
    "FADD", "DADD", "HADD2", "IADD3", "IADD", "VIADD", "UIADD3", "FMNMX", "IMNMX", "VIMNMX", "LOP3", "LOP", "MOV",
    "UMOV", "PLOP3", "LEA", "POPC",
})  # fmt: skip
_PRODUCTS = frozenset({"FFMA", "DFMA", "HFMA2", "IMAD", "UIMAD", "IDP", "HMMA", "IMMA", "DMMA"})
"""Opcodes through which a result may be carried from one iteration to the next: sums, and products added."""
MOST = 0.5
"""Share of the executed instructions that the loop must have: the rest is not shared out."""


def chains(case: Case) -> Iterator[Change]:
    """Yield the case with :data:`AT_ONCE` iterations of its busiest innermost loop at once.

    Not where an iteration needs a value that the one before has loaded, nor across block barriers.
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
    line = busiest.line.outermost if busiest.line else None
    where = f"line {line.line}" if line else "the innermost loop"
    yield Change(
        "chains", f"running {AT_ONCE} independent iterations of the loop at {where} at once",
        with_execution(case, replace(execution, streams=shared)), line,
        f"unroll it by {AT_ONCE} with {AT_ONCE} accumulators, loads first",
    )  # fmt: skip


def _work(execution: Execution, flow: ControlFlow, loop: Loop) -> float:
    return sum(execution.counts[i.index] for b in loop.blocks for i in flow.instructions(b))


def _divisible(execution: Execution, flow: ControlFlow, loop: Loop) -> bool:
    """Return whether a loop is busy and long, and its iterations do not depend on each other's loads."""
    body = [i for b in sorted(loop.blocks) for i in flow.instructions(b)]
    entries = execution.counts[flow.blocks[loop.header].start]
    latch = flow.blocks[loop.latches[0]].stop - 1
    back = execution.counts[latch] if loop.rotated else entries
    before = flow.idom[loop.header]
    times = entries / max(1.0, execution.counts[flow.blocks[before].start]) if before >= 0 else 0.0
    busy = _work(execution, flow, loop) >= MOST * execution.warp_instructions
    return bool(back and busy and times >= FEWEST and not _chained(body))


def _chained(body: Sequence[Instruction]) -> bool:
    """Return whether an iteration waits for the one before: at a barrier, or for a value it has loaded."""
    if any(i.flow in (Flow.BARRIER, Flow.CALL) for i in body) or _stores_what_it_loads(body):
        return True
    makers = _makers(body)
    made_by = [set(of.values()) for of in makers]
    for n, instruction in enumerate(body):
        circular = {r for r, m in makers[n].items() if m == n or _reaches(made_by, m, n)}
        if circular and not _adds_up(instruction, circular):
            return True
    return False


def _stores_what_it_loads(body: Sequence[Instruction]) -> bool:
    """Return whether a space is both read and written: an iteration may read what another wrote."""
    memory = [i.memory for i in body if i.memory is not None]
    read = {m.space for m in memory if m.access is Access.LOAD}
    return bool(read & {m.space for m in memory if m.access is Access.STORE})


def _adds_up(instruction: Instruction, circular: Collection[str]) -> bool:
    """Return whether it adds something to what earlier iterations left, so that the order does not matter.

    Of a multiply-add, only as the addend.
    """
    base = instruction.opcode.partition(".")[0]
    if base in _PRODUCTS:
        factors = [o.name for o in instruction.operands[1:3] if isinstance(o, Register)]
        return not set(factors) & set(circular)
    return base in _SUMS


def _makers(body: Sequence[Instruction]) -> list[dict[str, int]]:
    """Return, by place in the body, register to who makes it: the last before that place, in a circle."""
    found = []
    for n, instruction in enumerate(body):
        made = {}
        for register in instruction.reads:
            writers = [m for m, other in enumerate(body) if register in other.writes]
            if writers:
                made[register] = max((m for m in writers if m < n), default=writers[-1])
        found.append(made)
    return found


def _reaches(reads: Sequence[set[int]], start: int, end: int) -> bool:
    seen: set[int] = set()
    todo = list(reads[start])
    while todo:
        n = todo.pop()
        if n == end:
            return True
        if n not in seen:
            seen.add(n)
            todo += reads[n]
    return False


def shared_out(streams: WarpStreams, inside: NDArray[np.bool_], head: int, parts: int) -> WarpStreams:
    """Return streams in which ``parts`` warps share each warp's iterations of a loop, taking turns.

    What is not in the loop stays with the first of them; the others begin with an iteration, or with the
    warp's first step where there are none left.
    """
    own = inside[streams.steps[:, 0]]
    begins = own & (streams.steps[:, 0] == head)
    warps = streams.warps_per_block
    steps, lengths = [], []
    for block in range(len(streams.blocks)):
        for part in range(parts):
            for warp in range(block * warps, (block + 1) * warps):
                span = slice(streams.starts[warp], streams.starts[warp + 1])
                turn = (np.cumsum(begins[span]) - 1) % parts
                mine = np.where(own[span], turn == part, part == 0)
                mine[0] |= not mine.any()
                steps.append(streams.steps[span][mine])
                lengths.append(int(mine.sum()))
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return replace(streams, warps_per_block=warps * parts, starts=starts, steps=np.concatenate(steps))
