"""Algorithms 6 and 7 of Alavani's thesis: resource reservation in a block, longest path through the blocks.

A block is a list of vertices in a topological order of its data-flow graph; predecessors are indices into
that list. All times are whole SM cycles.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwatt.published.alavani.opclass import Resource

PIPELINE_LATENCY = 1
"""𝓛_pipeline: cycles each further batch adds once an instruction's pipeline is filled (section 4.4.3)."""


@dataclass(frozen=True, slots=True)
class Vertex:
    """A vertex v of a data-flow graph: 𝓛(v) in cycles and R_map(v)."""

    latency: int
    resource: Resource


@dataclass(frozen=True, slots=True)
class FlowBlock:
    """A basic block of the control-flow graph.

    ``predecessors[i]`` are the vertices that vertex ``i`` depends on, all below ``i``; ``successors`` are
    indices of blocks, back edges included; ``executions`` is how often a warp runs the block (nLoop).
    """

    vertices: tuple[Vertex, ...]
    predecessors: tuple[tuple[int, ...], ...]
    successors: tuple[int, ...] = ()
    executions: float = 1.0


@dataclass(frozen=True, slots=True)
class BlockSchedule:
    """Sch of Algorithm 6: ``start[v]`` and ``duration[v]`` of every vertex, and what it waited for.

    ``waits_for[v]`` is the vertex whose end let ``v`` start (a dependence or the previous holder of its
    resource), or None at the start of the block.
    """

    start: tuple[int, ...]
    duration: tuple[int, ...]
    waits_for: tuple[int | None, ...]

    @property
    def delay(self) -> int:
        """Cycles until every vertex has ended."""
        return max((s + d for s, d in zip(self.start, self.duration, strict=True)), default=0)

    def critical(self) -> tuple[int, ...]:
        """Return the cycles of the delay each vertex accounts for, 0 where it is hidden; they sum to it."""
        cycles = [0] * len(self.start)
        vertex = self._last()
        while vertex is not None:
            cycles[vertex] = self.duration[vertex]
            vertex = self.waits_for[vertex]
        return tuple(cycles)

    def _last(self) -> int | None:
        ends = [s + d for s, d in zip(self.start, self.duration, strict=True)]
        return ends.index(max(ends)) if ends else None


def batches(threads: int, instances: float) -> int:
    """Return ⌈nTW/R[r]⌉, the passes ``threads`` threads make through ``instances`` units.

    >>> batches(256, 192), batches(256, 32)
    (2, 8)
    """
    return math.ceil(threads / instances)


def occupancy_cycles(vertex: Vertex, threads: int, instances: Mapping[Resource, float]) -> int:
    """Return d = 𝓛(v) + 𝓛_pipeline·(⌈nTW/R[R_map(v)]⌉ − 1) of Algorithm 6, line 8.

    >>> from warpwatt.published.alavani.opclass import Resource
    >>> occupancy_cycles(Vertex(9, Resource.SP), 256, {Resource.SP: 192})
    10
    """
    return vertex.latency + PIPELINE_LATENCY * (batches(threads, instances[vertex.resource]) - 1)


def schedule_block(
    vertices: Sequence[Vertex],
    predecessors: Sequence[Sequence[int]],
    threads: int,
    instances: Mapping[Resource, float],
) -> BlockSchedule:
    """Return the schedule Algorithm 6 gives a block in which nTW = ``threads`` threads run.

    A vertex starts at the first cycle at or after the end of its predecessors from which its resource is
    free as long as it needs it. Two readings: the delay is the end of the last vertex to end, not of the
    last in order (line 13), because the thesis' graphs close with a dummy vertex behind all others; and
    vertices come in program order, which is a topological order of a block.

    >>> from warpwatt.published.alavani.opclass import Resource
    >>> units = {Resource.SP: 192, Resource.LSU: 32}
    >>> add, load = Vertex(9, Resource.SP), Vertex(315, Resource.LSU)
    >>> schedule_block([add, load, add], [[], [0], [1]], 256, units).start
    (0, 10, 332)
    """
    tables = {vertex.resource: _Reservations() for vertex in vertices}
    start: list[int] = []
    duration: list[int] = []
    waits_for: list[int | None] = []
    for index, vertex in enumerate(vertices):
        needed = occupancy_cycles(vertex, threads, instances)
        data = max(predecessors[index], key=lambda u: start[u] + duration[u], default=None)
        ready = 0 if data is None else start[data] + duration[data]
        begin, holder = tables[vertex.resource].reserve(ready, needed, index)
        start.append(begin)
        duration.append(needed)
        waits_for.append(data if begin == ready else holder)
    return BlockSchedule(tuple(start), tuple(duration), tuple(waits_for))


class _Reservations:
    """One column of the reservation table Rsv, as sorted disjoint intervals instead of cycles."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._owners: list[int] = []

    def reserve(self, ready: int, length: int, owner: int) -> tuple[int, int | None]:
        """Take the first free ``length`` cycles from ``ready`` on; return start and previous holder."""
        at = bisect_left(self._ends, ready + 1)
        begin = ready
        while at < len(self._starts) and self._starts[at] < begin + length:
            begin = max(begin, self._ends[at])
            at += 1
        self._starts.insert(at, begin)
        self._ends.insert(at, begin + length)
        self._owners.insert(at, owner)
        return begin, self._owners[at - 1] if at else None


@dataclass(frozen=True, slots=True)
class CfgSchedule:
    """What Algorithm 7 returns: ``delay`` in cycles, the blocks' schedules, the longest path."""

    delay: float
    blocks: tuple[BlockSchedule, ...]
    path: tuple[int, ...]


def schedule_cfg(
    blocks: Sequence[FlowBlock], threads: int, instances: Mapping[Resource, float]
) -> CfgSchedule:
    """Return Algorithm 7: the longest path from block 0, every block weighted with its executions per warp.

    The thesis multiplies the block with the back edge by a loop count the user gives. Here every block
    carries how often a warp runs it, which covers nested loops and partly taken branches as well. The delay
    is the largest over all blocks, the last one in order (line 10) only where it is the only exit.

    >>> from warpwatt.published.alavani.opclass import Resource
    >>> one = FlowBlock((Vertex(9, Resource.SP),), ((),), successors=(1,))
    >>> loop = FlowBlock((Vertex(9, Resource.SP),), ((),), successors=(1,), executions=5)
    >>> schedule_cfg([one, loop], 192, {Resource.SP: 192}).delay
    54.0
    """
    schedules = tuple(schedule_block(b.vertices, b.predecessors, threads, instances) for b in blocks)
    delay: dict[int, float] = {}
    before: dict[int, int | None] = {}
    for block, parents in forward_order([b.successors for b in blocks]):
        parent = max(parents, key=lambda p: delay[p], default=None)
        behind = 0.0 if parent is None else delay[parent]
        delay[block] = behind + schedules[block].delay * blocks[block].executions
        before[block] = parent
    last = max(delay, key=lambda b: delay[b], default=None)
    path: list[int] = []
    at = last
    while at is not None:
        path.append(at)
        at = before[at]
    return CfgSchedule(delay[last] if last is not None else 0.0, schedules, tuple(reversed(path)))


def forward_order(successors: Sequence[Sequence[int]]) -> list[tuple[int, tuple[int, ...]]]:
    """Return the blocks reachable from block 0 in topological order, each with its forward predecessors.

    Edges that lead back to a block still on the depth-first path are left out, so any graph, reducible or
    not, has such an order.

    >>> forward_order([[1, 2], [1, 3], [3], [0]])
    [(0, ()), (2, (0,)), (1, (0,)), (3, (2, 1))]
    """
    if not successors:
        return []
    parents: dict[int, list[int]] = {0: []}
    open_blocks, finished = {0}, []
    stack = [(0, iter(successors[0]))]
    while stack:
        block, remaining = stack[-1]
        child = next(remaining, None)
        if child is None:
            stack.pop()
            open_blocks.discard(block)
            finished.append(block)
        elif child not in open_blocks:
            if child not in parents:
                parents[child] = []
                open_blocks.add(child)
                stack.append((child, iter(successors[child])))
            parents[child].append(block)
    order = finished[::-1]
    position = {block: i for i, block in enumerate(order)}
    return [(b, tuple(sorted(set(parents[b]), key=position.__getitem__))) for b in order]
