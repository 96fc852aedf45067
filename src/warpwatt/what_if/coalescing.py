"""Accesses of a warp side by side: coalesced beyond the SM, free of bank conflicts in shared memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.advice import Change
from warpwatt.core.case import Case
from warpwatt.core.execution import Execution
from warpwatt.core.program import Access, Instruction, SourceLine, Space
from warpwatt.core.streams import WarpStreams
from warpwatt.what_if.edit import (
    GAIN,
    MOST_LINES,
    SECTOR,
    WAVEFRONT,
    by_line,
    fewer_sectors,
    with_execution,
    with_hits,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


_BEYOND = frozenset({Space.GLOBAL, Space.GENERIC, Space.TEXTURE, Space.SURFACE})
_PLAIN = frozenset({Access.LOAD, Access.STORE, Access.COPY})
LINE = 128


def coalescing(case: Case) -> Iterator[Change]:
    """Yield the case with every off-chip access coalesced, then with those of one line at a time.

    Coalesced: an access takes the sectors its lanes' bytes fill, or those it takes now if they are fewer.
    """
    kept = _kept(case, shared=False)
    lines = _costliest(case, kept)
    for line, indices in lines.items():
        what = _what(case, indices)
        yield Change(
            "coalescing", f"coalescing {what} of line {line.line}", coalesced(case, indices), line,
            _fix(case, indices), part=len(lines) > 1,
        )  # fmt: skip
    if len(lines) > 1:
        yield Change("coalescing", "coalescing every access", coalesced(case, kept))


def bank_conflicts(case: Case) -> Iterator[Change]:
    """Yield the case without conflicts in shared memory, then without those of one line at a time."""
    kept = _kept(case, shared=True)
    lines = _costliest(case, kept)
    fix = "pad the rows (tile[32][33]), or swizzle the column index with the row"
    for line, indices in lines.items():
        text = f"removing the bank conflicts of line {line.line}"
        changed = unconflicted(case, indices)
        yield Change("bank conflicts", text, changed, line, fix, part=len(lines) > 1)
    if len(lines) > 1:
        yield Change("bank conflicts", "removing every bank conflict", unconflicted(case, kept), fix=fix)


def coalesced(case: Case, indices: Collection[int]) -> Case:
    """Return the case with the off-chip accesses of some instructions coalesced."""
    execution = case.workload.execution
    streams, kept = execution.streams, _kept(case, shared=False)
    assert streams is not None
    moved, which = _moved(execution, streams), _chosen(execution, streams, indices)
    sectors = np.where(which, np.minimum(streams.sectors, np.ceil(moved / SECTOR)), streams.sectors)
    lines = np.where(which, np.minimum(streams.lines, np.ceil(moved / LINE)), streams.lines)
    patterns = dict(execution.accesses)
    for index in indices:
        if index in patterns:
            before, share = patterns[index], kept[index]
            lines_now = max(1.0, before.lines * share)
            patterns[index] = replace(before, sectors=before.sectors * share, lines=lines_now, l1_passes=0.0)
    better = replace(execution, accesses=patterns, streams=replace(streams, sectors=sectors, lines=lines))
    changed = fewer_sectors(case, {index: kept[index] for index in indices})
    beside = _request_bytes(execution, streams, moved)
    changed = {index: replace(hits, run=max(hits.run, beside[index])) for index, hits in changed.items()}
    return with_hits(with_execution(case, better), changed)


def unconflicted(case: Case, indices: Collection[int]) -> Case:
    """Return the case with the shared-memory accesses of some instructions free of conflicts."""
    execution = case.workload.execution
    streams, kept = execution.streams, _kept(case, shared=True)
    assert streams is not None
    moved, which = _moved(execution, streams), _chosen(execution, streams, indices)
    least = np.minimum(streams.wavefronts, np.ceil(moved / WAVEFRONT))
    patterns = dict(execution.accesses)
    for index in indices:
        if index in patterns:
            patterns[index] = replace(patterns[index], wavefronts=patterns[index].wavefronts * kept[index])
    streams = replace(streams, wavefronts=np.where(which, least, streams.wavefronts))
    return with_execution(case, replace(execution, accesses=patterns, streams=streams))


def _kept(case: Case, *, shared: bool) -> dict[int, float]:
    """Return the share of its sectors or wavefronts that each instruction would still take.

    Only of instructions whose share is well below 1.
    """
    execution = case.workload.execution
    streams = execution.streams
    if streams is None:
        return {}
    taken = streams.wavefronts if shared else streams.sectors
    least = np.minimum(taken, np.ceil(_moved(execution, streams) / (WAVEFRONT if shared else SECTOR)))
    size = len(execution.program.instructions)
    now, then = (np.bincount(streams.access_instruction, x, size) for x in (taken, least))
    spaces = frozenset({Space.SHARED}) if shared else _BEYOND
    return {
        i.index: float(then[i.index] / now[i.index])
        for i in execution.program.instructions
        if i.memory is not None and i.memory.space in spaces and i.memory.access in _PLAIN
        if now[i.index] > GAIN * then[i.index] > 0
    }


def _costliest(case: Case, kept: Mapping[int, float]) -> dict[SourceLine, frozenset[int]]:
    """Return the lines with most to gain, and their instructions."""
    counts, accesses = case.workload.execution.counts, case.workload.execution.accesses

    def waste(indices: Collection[int]) -> float:
        return sum(
            (1 - kept[i]) * counts[i] * max(accesses[i].sectors, accesses[i].wavefronts)
            for i in indices
            if i in accesses
        )

    lines = by_line(case, kept)
    return dict(sorted(lines.items(), key=lambda item: -waste(item[1]))[:MOST_LINES])


def _moved(execution: Execution, streams: WarpStreams) -> NDArray[np.float64]:
    """Return the bytes of each access, all lanes."""
    size = np.zeros(len(execution.program.instructions))
    for i in execution.program.instructions:
        size[i.index] = i.memory.bytes if i.memory is not None else 0
    moved: NDArray[np.float64] = size[streams.access_instruction] * streams.lanes
    return moved


def _request_bytes(
    execution: Execution, streams: WarpStreams, moved: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the bytes a request of each instruction moves: so many lie side by side in DRAM, coalesced."""
    at, size = streams.access_instruction, len(execution.program.instructions)
    found: NDArray[np.float64] = np.bincount(at, moved, size) / np.maximum(1, np.bincount(at, minlength=size))
    return found


def _chosen(execution: Execution, streams: WarpStreams, indices: Collection[int]) -> NDArray[np.bool_]:
    chosen = np.zeros(len(execution.program.instructions), bool)
    chosen[list(indices)] = True
    which: NDArray[np.bool_] = chosen[streams.access_instruction]
    return which


_NOUNS = {Access.LOAD: "reads", Access.STORE: "writes", Access.COPY: "copies"}


def _what(case: Case, indices: Collection[int]) -> str:
    """Return what kind of accesses they are: ``"the reads"``, ``"the accesses"``."""
    kinds = {_access(i) for i in _instructions(case, indices)}
    return f"the {_NOUNS[kinds.pop()]}" if len(kinds) == 1 else "the accesses"


def _access(instruction: Instruction) -> Access:
    assert instruction.memory is not None
    return instruction.memory.access


def _instructions(case: Case, indices: Collection[int]) -> list[Instruction]:
    return [case.workload.execution.program.instructions[i] for i in sorted(indices)]


def _fix(case: Case, indices: Collection[int]) -> str:
    """Return how to coalesce, as far as the distance between neighbouring lanes tells."""
    execution = case.workload.execution
    strides = {execution.accesses[i].stride for i in indices if i in execution.accesses}
    stride = strides.pop() if len(strides) == 1 else None
    widths = {m.bytes for i in _instructions(case, indices) if (m := i.memory) is not None}
    wide = max(widths, default=4)
    if stride is None:
        return "sort or stage the indices so that neighbouring threads use neighbouring addresses"
    if wide < abs(stride) <= 16 and abs(stride) in (8, 16):
        return f"let a thread load its {abs(stride)} neighbouring bytes at once (float{abs(stride) // 4})"
    if abs(stride) <= LINE:
        return "an array per field instead of an array of structures, or consecutive elements per warp"
    return "let threadIdx.x run along the innermost index, or pass through a tile in shared memory"
