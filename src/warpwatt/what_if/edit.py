"""Cases with other accesses, other code or other counts: what the changes have in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from warpwatt.core.case import Case
from warpwatt.core.execution import Execution, LevelHits, Traffic
from warpwatt.core.program import Access, Instruction, SourceLine, Space

SECTOR, WAVEFRONT = 32, 128
"""Bytes of a sector, and bytes that all banks of shared memory give at once."""
GAIN = 1.25
"""Work over what would do from which on a trouble is looked at."""
MOST_LINES = 4
"""Lines tried by themselves for each kind of trouble, the costliest ones."""


def line_of(instruction: Instruction) -> SourceLine | None:
    """Return the line of the kernel that an instruction counts for."""
    return instruction.line.home if instruction.line is not None else None


def by_line(case: Case, indices: Iterable[int]) -> dict[SourceLine, frozenset[int]]:
    """Return line to those of some instructions that count for it, in order of the lines."""
    found: dict[SourceLine, set[int]] = defaultdict(set)
    for index in indices:
        line = line_of(case.workload.execution.program.instructions[index])
        if line is not None:
            found[line].add(index)
    order = sorted(found, key=lambda line: (line.file, line.line))
    return {line: frozenset(found[line]) for line in order}


def with_execution(case: Case, execution: Execution) -> Case:
    """Return the case with another execution and everything beyond it as it was."""
    work = case.workload
    wavefronts = sum(
        pattern.wavefronts * execution.counts[index]
        for index, pattern in execution.accesses.items()
        if (memory := execution.program.instructions[index].memory) is not None
        and memory.space is Space.SHARED
    )
    return replace(case, workload=replace(work, execution=execution, shared_wavefronts=wavefronts))


def with_hits(case: Case, changed: Mapping[int, LevelHits]) -> Case:
    """Return the case with other traffic of some instructions; the totals follow."""
    work = case.workload
    levels = []
    for name in ("l1", "l2", "dram"):
        more = [getattr(hits, name) for hits in changed.values()]
        less = [getattr(work.hits[index], name) for index in changed]
        levels.append(_sum(getattr(work, name), more, less))
    l1, l2, dram = levels
    return replace(case, workload=replace(work, hits={**work.hits, **changed}, l1=l1, l2=l2, dram=dram))


def _sum(base: Traffic, more: Iterable[Traffic], less: Iterable[Traffic]) -> Traffic:
    read, written = base.read, base.written
    for sign, parts in ((1, more), (-1, less)):
        for part in parts:
            read, written = read + sign * part.read, written + sign * part.written
    return Traffic(max(0.0, read), max(0.0, written))


def fewer_sectors(case: Case, kept: Mapping[int, float]) -> dict[int, LevelHits]:
    """Return the traffic of instructions that ask for only a part (``kept``) of their sectors.

    Instructions on one buffer share what they bring from the next level: that stays as it was, unless they
    ask for less than it. So what one brought and the others found is not lost when all ask for less.
    """
    groups: dict[tuple[str, bool], list[int]] = defaultdict(list)
    instructions = case.workload.execution.program.instructions
    for index in kept:
        memory = instructions[index].memory
        if index in case.workload.hits and memory is not None:
            key = case.workload.hits[index].buffer, memory.access is Access.STORE
            groups[key].append(index)
    found = {}
    for indices in groups.values():
        found.update(_together(case, indices, kept))
    return found


def _together(case: Case, indices: Collection[int], kept: Mapping[int, float]) -> dict[int, LevelHits]:
    before = [case.workload.hits[i] for i in indices]
    asked = sum(h.sectors for h in before)
    to_l2 = sum(h.sectors * (1 - h.l1_hits) for h in before)
    to_dram = sum(h.sectors * (1 - h.l1_hits) * (1 - h.l2_hits) for h in before)
    now = sum(case.workload.hits[i].sectors * kept[i] for i in indices)
    now_l2 = min(to_l2, now)
    now_dram = min(to_dram, now_l2)
    l1 = _scaled([h.l1 for h in before], now, asked)
    l2 = _scaled([h.l2 for h in before], now_l2, to_l2)
    dram = _scaled([h.dram for h in before], now_dram, to_dram)
    found = {}
    for index in indices:
        own = case.workload.hits[index]
        part = own.sectors * kept[index] / now if now else 0.0
        found[index] = replace(
            own,
            sectors=own.sectors * kept[index],
            l1_hits=1 - now_l2 / now if now else 0.0,
            l2_hits=1 - now_dram / now_l2 if now_l2 else 1.0,
            l1=_part(l1, part),
            l2=_part(l2, part),
            dram=_part(dram, part),
        )
    return found


def _scaled(parts: Collection[Traffic], now: float, before: float) -> Traffic:
    """Return the sum of some traffic, as much less as ``now`` is less than ``before``."""
    whole = Traffic(sum(t.read for t in parts), sum(t.written for t in parts))
    return _part(whole, now / before if before else 1.0)


def _part(traffic: Traffic, share: float) -> Traffic:
    return Traffic(traffic.read * share, traffic.written * share)
