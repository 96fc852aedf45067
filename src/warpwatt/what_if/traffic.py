"""Less traffic: registers reused, nothing spilled, every byte fetched once, atomics on many addresses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace

from warpwatt.core.advice import Change
from warpwatt.core.case import Case
from warpwatt.core.execution import Execution, Traffic
from warpwatt.core.program import Access, Instruction, Space
from warpwatt.emulate.workload import OFF_CHIP
from warpwatt.program.cfg import control_flow
from warpwatt.program.loops import natural_loops
from warpwatt.what_if.edit import by_line, with_execution, with_hits
from warpwatt.what_if.recurrence import circles
from warpwatt.what_if.removal import without_instructions

_ATOMICS = (Access.ATOMIC, Access.REDUCTION)


def spills(case: Case) -> Iterator[Change]:
    """Yield the case whose accesses to local memory are gone, if registers were spilled there.

    That more registers may cost resident warps is not counted.
    """
    resources, execution = case.kernel.resources, case.workload.execution
    local = {i.index for i in execution.program.instructions if _is_local(i) and execution.counts[i.index]}
    if not local or not (resources.spill_loads or resources.spill_stores) or execution.streams is None:
        return
    fix = "fewer live values per thread, or more registers (__launch_bounds__, -maxrregcount)"
    yield Change("spills", "avoiding register spills", without_instructions(case, local), None, fix)


def _is_local(instruction: Instruction) -> bool:
    return instruction.memory is not None and instruction.memory.space is Space.LOCAL


def dram(case: Case) -> Iterator[Change]:
    """Yield the case in which every byte that is read comes from DRAM only once."""
    work, least = case.workload, _footprints(case)
    groups: dict[str, list[int]] = defaultdict(list)
    for index, hits in work.hits.items():
        if hits.dram.read > 0 and least.get(hits.buffer):
            groups[hits.buffer].append(index)
    changed = {}
    for buffer, indices in groups.items():
        read = sum(work.hits[i].dram.read for i in indices)
        share = min(1.0, least[buffer] / read)
        for index in indices if share < 1.0 else ():
            hits = work.hits[index]
            once = Traffic(hits.dram.read * share, hits.dram.written)
            changed[index] = replace(hits, l2_hits=1 - (1 - hits.l2_hits) * share, dram=once)
    if changed:
        fix = "order the blocks so that those which read the same data run together, or tile for L2"
        yield Change("dram", "fetching every byte from DRAM only once", with_hits(case, changed), None, fix)


def _footprints(case: Case) -> dict[str, float]:
    """Return buffer to the distinct bytes of it that are touched."""
    found: dict[str, float] = defaultdict(float)
    for footprint in case.workload.execution.footprints:
        found[footprint.buffer] += footprint.bytes
    reuse = case.workload.execution.reuse
    for index, pattern in case.workload.execution.accesses.items():
        if pattern.footprint and reuse is not None and index in case.workload.hits:
            found[pattern.buffer] = max(found[pattern.buffer], pattern.footprint)
    return found


SUM_FIRST = "sum up in registers, by shuffles or in shared memory first: one atomic per block"
SUM_MORE = "fewer blocks that each sum up more in shared memory first (a grid-stride loop)"


def _sums_in_shared(execution: Execution) -> bool:
    """Whether blocks already meet in shared memory, by atomics there."""
    return any(
        i.memory is not None and i.memory.space is Space.SHARED and i.memory.access in _ATOMICS
        for i in execution.program.instructions
        if execution.counts[i.index]
    )


def atomics(case: Case) -> Iterator[Change]:
    """Yield the case whose atomics do not meet on one address."""
    execution = case.workload.execution
    found = {
        i.index
        for i in execution.program.instructions
        if i.memory is not None and i.memory.access in _ATOMICS and i.memory.space in OFF_CHIP
        if execution.counts[i.index] and i.index in execution.accesses
    }
    if not found:
        return
    accesses = {i: replace(p, footprint=None) if i in found else p for i, p in execution.accesses.items()}
    line = next(iter(by_line(case, found)), None)
    where = f" of line {line.line}" if line is not None else ""
    yield Change(
        "atomics", f"spreading the atomics{where} over addresses",
        with_execution(case, replace(execution, accesses=accesses)), line,
        SUM_MORE if _sums_in_shared(execution) else SUM_FIRST,
    )  # fmt: skip


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
