"""Registers as the innermost cache: each value loaded serves two results instead of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.advice import Change
from warpwatt.core.program import Access, Space
from warpwatt.program.cfg import control_flow
from warpwatt.program.loops import natural_loops
from warpwatt.what_if.edit import by_line
from warpwatt.what_if.recurrence import circles
from warpwatt.what_if.removal import without_instructions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from warpwatt.core.case import Case
    from warpwatt.core.program import Instruction

OFTEN = 4.0
"""Times that a byte is read from which on threads are taken to read the same."""
CACHED = 0.5
"""Share of its sectors that L1 has from which on an off-chip load counts as one of L1."""


def reuse(case: Case) -> Iterator[Change]:
    """Yield the case in which the line that reads most from shared memory or L1 reads half as often.

    Every second of its loads is gone, as if a thread computed two results from what it has loaded.
    """
    execution = case.workload.execution
    loads = [i.index for i in execution.program.instructions if _shareable(case, i)]
    chased = _chased(case)
    lines = {line: of for line, of in by_line(case, loads).items() if len(of) > 1 and not of & chased}
    line = max(lines, key=lambda line: _work(case, lines[line]), default=None)
    if line is None:
        return
    shared = all(_space(case, i) is Space.SHARED for i in lines[line])
    where = "shared memory" if shared else "L1"
    changed = without_instructions(case, sorted(lines[line])[1::2])
    text = f"using each value that line {line.line} reads from {where} twice"
    fix = "let a thread compute 2 × 2 results (register tiling): half the reads for the same arithmetic"
    yield Change("reuse", text, changed, line, fix)


def _shareable(case: Case, instruction: Instruction) -> bool:
    """Return whether a load brings what other threads of the block have been brought, too."""
    memory, work = instruction.memory, case.workload
    count = work.execution.counts[instruction.index]
    if memory is None or memory.access is not Access.LOAD or not count:
        return False
    read = count * work.execution.lanes[instruction.index] * memory.bytes
    if memory.space is Space.SHARED:
        held = case.kernel.resources.static_shared + case.launch.dynamic_shared
        return read / case.launch.grid.count >= OFTEN * held
    hits, pattern = work.hits.get(instruction.index), work.execution.accesses.get(instruction.index)
    if hits is None or pattern is None or not pattern.footprint or memory.space is Space.LOCAL:
        return False
    return hits.l1_hits >= CACHED and read >= OFTEN * pattern.footprint


def _chased(case: Case) -> set[int]:
    """Return the loads whose address depends on what they loaded before."""
    found: set[int] = set()
    flow = control_flow(case.workload.execution.program)
    for loop in natural_loops(flow).loops:
        body = [i for b in sorted(loop.blocks) for i in flow.instructions(b)] if not loop.children else []
        found.update(body[n].index for circle in circles(body) for n in circle if body[n].memory is not None)
    return found


def _space(case: Case, index: int) -> Space | None:
    memory = case.workload.execution.program.instructions[index].memory
    return memory.space if memory is not None else None


def _work(case: Case, indices: Collection[int]) -> float:
    execution = case.workload.execution
    return sum(
        execution.counts[i] * max(p.wavefronts, p.lines)
        for i in indices
        if (p := execution.accesses.get(i)) is not None
    )
