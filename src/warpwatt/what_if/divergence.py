"""Warps whose lanes stay together: each side of a branch, each iteration of a loop with all lanes or none.

A side that a warp enters with half its lanes is entered half as often once warps are made of threads that
take it together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.advice import Change
from warpwatt.core.case import Case
from warpwatt.core.execution import Execution
from warpwatt.core.launch import WARP_SIZE
from warpwatt.core.program import Flow, SourceLine
from warpwatt.core.streams import WarpStreams
from warpwatt.program.cfg import control_flow
from warpwatt.program.loops import natural_loops
from warpwatt.what_if.edit import (
    MOST_LINES,
    SECTOR,
    WAVEFRONT,
    fewer_sectors,
    line_of,
    with_execution,
    with_hits,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.program.cfg import ControlFlow

TOGETHER = 0.9
"""Share of the branch's lanes from which on a side counts as undivided."""
IN_STEP = 4
"""Neighbouring warps that take the same side: one of each sub-core, so that these stay evenly busy."""
SMALL = 0.005
"""Share of all executed instructions below which a side is not looked at."""
_PARTS = (Flow.JUMP, Flow.EXIT)
FIX = "let whole warps take one side: branch on threadIdx.x / 32, or sort the work by it first"
LOOP_FIX = "give the threads of a warp loops of like length: sort the work, or let a warp share one item"


@dataclass(frozen=True, slots=True)
class Side:
    """Code that only some lanes of a warp execute: entered at ``head`` with ``share`` of the lanes."""

    line: SourceLine | None
    head: int
    inside: frozenset[int]
    share: float
    loop: bool
    before: float = 0.0
    """Shares of the same branch's other sides that come first, so that each warp takes one of them."""


def divergence(case: Case) -> Iterator[Change]:
    """Yield the case without divergence, then without that of one branch line at a time."""
    found = sides(case.workload.execution)
    lines: dict[SourceLine | None, list[Side]] = {}
    for side in found:
        lines.setdefault(side.line, []).append(side)
    waste = {line: sum(_waste(case.workload.execution, s) for s in of) for line, of in lines.items()}
    for line in sorted(lines, key=lambda line: -waste[line])[:MOST_LINES]:
        where = f"line {line.line}" if line is not None else "a branch"
        loop = all(side.loop for side in lines[line])
        text = f"keeping the lanes of a warp together at {where}"
        fix = LOOP_FIX if loop else FIX
        yield Change("divergence", text, _undivided(case, lines[line]), line, fix, part=len(lines) > 1)
    if len(lines) > 1:
        text = "keeping the lanes of a warp together at every branch"
        yield Change("divergence", text, _undivided(case, found))


def sides(execution: Execution) -> tuple[Side, ...]:
    """Return the sides of branches and the bodies of loops that are executed with lanes off.

    Not those with a block barrier inside, which all threads have to reach.
    """
    flow = control_flow(execution.program)
    every = [*_branches(execution, flow), *_loops(execution, flow)]
    return tuple(s for s in every if s.share < TOGETHER and _matters(execution, s))


def _matters(execution: Execution, side: Side) -> bool:
    instructions = execution.program.instructions
    if any(instructions[i].flow is Flow.BARRIER for i in side.inside):
        return False
    return _waste(execution, side) >= SMALL * execution.warp_instructions


def _waste(execution: Execution, side: Side) -> float:
    """Return the warp instructions that packing its lanes would save."""
    return (1 - side.share) * sum(execution.counts[i] for i in side.inside)


def _branches(execution: Execution, flow: ControlFlow) -> Iterator[Side]:
    heads = {loop.header for loop in natural_loops(flow).loops}
    for block in flow.blocks:
        last = flow.terminator(block.index)
        if last is None or last.flow not in _PARTS or not execution.counts[last.index]:
            continue
        meeting = flow.ipdom[block.index]
        before = 0.0
        for start in block.successors:
            if start == meeting or start in heads or not execution.counts[flow.blocks[start].start]:
                continue
            head = flow.blocks[start].start
            share = _present(execution, flow, start) / _present(execution, flow, block.index)
            share = max(share, _once_a_block(execution, head))
            inside = _instructions(flow, _reached(flow, start, {meeting, block.index}))
            yield Side(line_of(last), head, inside, share, loop=False, before=before)
            before += share


def _loops(execution: Execution, flow: ControlFlow) -> Iterator[Side]:
    for loop in natural_loops(flow).loops:
        head, before = flow.blocks[loop.header].start, flow.idom[loop.header]
        if before < 0 or not execution.counts[head]:
            continue
        last = flow.terminator(loop.latches[0])
        line = loop.line.home if loop.line else line_of(last) if last else None
        inside = _instructions(flow, loop.blocks)
        share = _present(execution, flow, loop.header) / _present(execution, flow, before)
        share = max(share, _once_a_block(execution, head))
        yield Side(line, head, inside, share, loop=True)


def _once_a_block(execution: Execution, head: int) -> float:
    """Return the share of the entries of a side that is left with one a block: no warp holds lanes of two."""
    return min(1.0, execution.launch.grid.count / execution.counts[head])


def _present(execution: Execution, flow: ControlFlow, block: int) -> float:
    """Return the lanes with which a block is executed: guards switch off more for single instructions."""
    return max((execution.lanes[i.index] for i in flow.instructions(block)), default=0.0) or 1.0


def _reached(flow: ControlFlow, start: int, stop: Iterable[int]) -> set[int]:
    """Return the blocks that lead on from ``start`` and are not behind those of ``stop``."""
    seen, todo = set(stop), [start]
    found = set()
    while todo:
        block = todo.pop()
        if block in seen or block >= len(flow.blocks):
            continue
        seen.add(block)
        found.add(block)
        todo += flow.blocks[block].successors
    return found


def _instructions(flow: ControlFlow, blocks: Iterable[int]) -> frozenset[int]:
    return frozenset(i for b in blocks for i in range(flow.blocks[b].start, flow.blocks[b].stop))


def _undivided(case: Case, found: Sequence[Side]) -> Case:
    """Return the case with all lanes on in those sides, entered as much less often."""
    for side in found:
        case = _packed(case, side)
    return case


def _packed(case: Case, side: Side) -> Case:
    execution = case.workload.execution
    inside = np.zeros(len(execution.program.instructions), bool)
    inside[sorted(side.inside)] = True
    counts = tuple(n * side.share if own else n for n, own in zip(execution.counts, inside, strict=True))
    lanes = tuple(
        min(float(WARP_SIZE), n / side.share) if own else n
        for n, own in zip(execution.lanes, inside, strict=True)
    )
    assert execution.streams is not None
    streams, grown = _packed_streams(execution, execution.streams, inside, side)
    accesses = {
        i: replace(p, sectors=p.sectors * grown.get(i, 1.0), lines=p.lines * grown.get(i, 1.0))
        for i, p in execution.accesses.items()
    }
    better = replace(execution, counts=counts, lanes=lanes, streams=streams, accesses=accesses)
    kept = {i: side.share * factor for i, factor in grown.items()}
    return with_hits(with_execution(case, better), fewer_sectors(case, kept))


def _packed_streams(
    execution: Execution, streams: WarpStreams, inside: NDArray[np.bool_], side: Side
) -> tuple[WarpStreams, dict[int, float]]:
    """Return streams that enter a side less often with more lanes, and by how much its sectors grow.

    An access takes as many sectors as before, if the bytes of its lanes fit into them; lanes that copy more
    than their own bytes go on doing so.
    """
    keep = kept_steps(streams, inside, side)
    counts = np.concatenate(([0], np.cumsum(keep)))
    size = np.zeros(len(inside))
    for i in execution.program.instructions:
        size[i.index] = i.memory.bytes if i.memory is not None else 0
    at = streams.access_instruction
    own = inside[at]
    lanes = np.where(own, np.minimum(WARP_SIZE, streams.lanes / side.share), streams.lanes)
    beyond = streams.sectors > 0
    alone = streams.sectors * SECTOR > WARP_SIZE * np.maximum(size[at], SECTOR)
    least = np.where(alone, streams.sectors / side.share, lanes * size[at] / SECTOR)
    sectors = np.where(own & beyond, np.maximum(streams.sectors, least), streams.sectors)
    waves = np.maximum(streams.wavefronts, np.ceil(lanes * size[at] / WAVEFRONT))
    now, then = (np.bincount(at, x, len(inside)) for x in (streams.sectors, sectors))
    grown = {int(i): float(then[i] / now[i]) for i in np.flatnonzero(inside & (now > 0))}
    return replace(
        streams,
        starts=counts[streams.starts],
        steps=streams.steps[keep],
        lanes=lanes,
        sectors=sectors,
        lines=np.where(own & beyond, np.maximum(streams.lines, np.ceil(sectors / 4)), streams.lines),
        wavefronts=np.where(own & (streams.wavefronts > 0), waves, streams.wavefronts),
    ), grown


def kept_steps(streams: WarpStreams, inside: NDArray[np.bool_], side: Side) -> NDArray[np.bool_]:
    """Return which steps remain: of the visits of a side, which begin at its head, only its share."""
    first = streams.steps[:, 0]
    own = inside[first]
    visit = np.cumsum(own & (first == side.head))
    turn = (_spread(np.maximum(visit - 1, 0) // IN_STEP) - side.before) % 1.0
    stays: NDArray[np.bool_] = ~own | (turn < side.share) | (visit == 0)
    return stays


def _spread(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return numbers in [0, 1) that fill it evenly however many come: their binary digits mirrored.

    >>> _spread(np.arange(8)).tolist()
    [0.0, 0.5, 0.25, 0.75, 0.125, 0.625, 0.375, 0.875]
    """
    left, found, digit = numbers.copy(), np.zeros(len(numbers)), 0.5
    while left.any():
        found += digit * (left & 1)
        left, digit = left >> 1, digit / 2
    return found
