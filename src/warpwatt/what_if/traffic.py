"""Less traffic: no spilled registers, every byte fetched once, atomics on many addresses."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.core.advice import Change
from warpwatt.core.execution import Traffic
from warpwatt.core.program import Access, Space
from warpwatt.emulate.workload import OFF_CHIP
from warpwatt.what_if.edit import by_line, with_execution, with_hits
from warpwatt.what_if.removal import without_instructions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpwatt.core.case import Case
    from warpwatt.core.program import Instruction

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
        "sum up in registers, by shuffles or in shared memory first: one atomic per block",
    )  # fmt: skip
