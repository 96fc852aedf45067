"""Natural loops: nested, headers shared by several latches merged, irreducible edges reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.core.program import SourceLine

if TYPE_CHECKING:
    from warpwatt.program.cfg import ControlFlow


@dataclass(frozen=True, slots=True)
class Loop:
    """One natural loop.

    ``header`` is the only block control enters by, ``latches`` jump back to it, ``exits`` are the edges
    ``(source, target)`` out of the loop, ``blocks`` all blocks of the loop, inner loops included, header
    first. ``parent`` is the index of the loop around it, ``depth`` counts from 1.
    """

    index: int
    header: int
    latches: tuple[int, ...]
    exits: tuple[tuple[int, int], ...]
    blocks: tuple[int, ...]
    parent: int | None
    children: tuple[int, ...]
    depth: int
    line: SourceLine | None

    @property
    def rotated(self) -> bool:
        """Whether the loop is tested at the bottom: its only latch is its only way out."""
        return len(self.latches) == 1 and {s for s, _ in self.exits} == set(self.latches)


@dataclass(frozen=True, slots=True, eq=False)
class LoopForest:
    """All loops of a program, outer before inner.

    Attributes
    ----------
    order
        Reachable blocks so that every edge except back edges goes forward and every loop is contiguous.
    innermost
        Index of the innermost loop around each block, or None.
    irreducible
        Edges ``(source, target)`` that close a cycle which can be entered past ``target``.
    """

    flow: ControlFlow
    loops: tuple[Loop, ...]
    order: tuple[int, ...]
    position: Sequence[int]
    innermost: Sequence[int | None]
    irreducible: tuple[tuple[int, int], ...]

    def contains(self, loop: int, block: int) -> bool:
        """Whether a block belongs to a loop or to one inside it."""
        first = self.position[self.loops[loop].header]
        return 0 <= first <= self.position[block] < first + len(self.loops[loop].blocks)

    def around(self, block: int) -> tuple[int, ...]:
        """Return the loops around a block, innermost first."""
        found: list[int] = []
        loop = self.innermost[block]
        while loop is not None:
            found.append(loop)
            loop = self.loops[loop].parent
        return tuple(found)

    def items(self, loop: int | None) -> list[tuple[int, int | None]]:
        """Return what lies directly in a loop (None: outside all), in order: ``(block, loop it heads)``.

        A loop inside is one item, its header's block; the loop's own header is a plain block.
        """
        blocks = self.order if loop is None else self.loops[loop].blocks
        result: list[tuple[int, int | None]] = []
        position = 0
        while position < len(blocks):
            block = blocks[position]
            inner = self._child_headed(loop, block)
            result.append((block, inner))
            position += 1 if inner is None else len(self.loops[inner].blocks)
        return result

    def _child_headed(self, loop: int | None, block: int) -> int | None:
        """Return the loop directly inside ``loop`` that ``block`` heads."""
        inner = self.innermost[block]
        return inner if inner is not None and inner != loop else None


def loop_lines(flow: ControlFlow, loop: Loop) -> list[int]:
    """Return the source lines a user may know a loop by: its test's, its latches', its head's."""
    ends = [flow.terminator(b) for b in (*loop.latches, *(s for s, _ in loop.exits))]
    lines = [loop.line, *[i.line for i in ends if i is not None], flow.line(loop.header)]
    return list(dict.fromkeys(line.line for line in lines if line is not None))


@lru_cache(maxsize=64)
def natural_loops(flow: ControlFlow) -> LoopForest:
    """Return the loops of a control-flow graph (cached per graph).

    >>> from warpwatt.core.program import Flow, Guard, Instruction, Level, Program
    >>> from warpwatt.program.cfg import control_flow
    >>> body = Instruction(0, "add.s32")
    >>> back = Instruction(1, "bra", guard=Guard("%p1"), flow=Flow.JUMP, targets=("TOP",))
    >>> end = Instruction(2, "ret", flow=Flow.RETURN)
    >>> program = Program("k", Level.PTX, "sm_90", (body, back, end), {"TOP": 0})
    >>> loop, = natural_loops(control_flow(program)).loops
    >>> loop.header, loop.latches, loop.exits, loop.rotated
    (0, (0,), ((0, 1),), True)
    """
    latches, irreducible = _back_edges(flow)
    headers = sorted(latches, key=lambda h: flow.rank[h], reverse=True)
    parent, innermost = _nest(flow, headers, latches)
    headers.reverse()
    number = {header: index for index, header in enumerate(headers)}
    innermost_index = [None if h is None else number[h] for h in innermost]
    parents = [None if (outer := parent[h]) is None else number[outer] for h in headers]
    order = _contiguous(flow, innermost_index, parents, headers)
    position = [-1] * len(flow.blocks)
    for place, block in enumerate(order):
        position[block] = place
    children: list[list[int]] = [[] for _ in headers]
    for child, outer in enumerate(parents):
        if outer is not None:
            children[outer].append(child)
    sizes, depths = _sizes(innermost_index, parents)
    loops = tuple(
        _loop(flow, i, latches[h], order[position[h] : position[h] + sizes[i]], parents, children, depths[i])
        for i, h in enumerate(headers)
    )
    return LoopForest(flow, loops, tuple(order), position, innermost_index, irreducible)


def _back_edges(flow: ControlFlow) -> tuple[dict[int, list[int]], tuple[tuple[int, int], ...]]:
    latches: dict[int, list[int]] = {}
    irreducible: list[tuple[int, int]] = []
    for source in flow.order:
        for target in flow.blocks[source].successors:
            if flow.rank[target] > flow.rank[source]:
                continue
            if flow.dominates(target, source):
                latches.setdefault(target, []).append(source)
            else:
                irreducible.append((source, target))
    return latches, tuple(irreducible)


def _nest(
    flow: ControlFlow, headers: list[int], latches: dict[int, list[int]]
) -> tuple[dict[int, int | None], list[int | None]]:
    """Assign every block its innermost header and every header the one around it, innermost loops first."""
    innermost: list[int | None] = [None] * len(flow.blocks)
    parent: dict[int, int | None] = dict.fromkeys(headers)
    top = {h: h for h in headers}

    def outermost(header: int) -> int:
        while top[header] != header:
            top[header] = top[top[header]]
            header = top[header]
        return header

    for header in headers:
        innermost[header] = header
        stack = [latch for latch in latches[header] if latch != header]
        while stack:
            block = stack.pop()
            inside = innermost[block]
            if inside is None:
                innermost[block] = header
                stack.extend(p for p in flow.blocks[block].predecessors if flow.rank[p] >= 0)
                continue
            child = outermost(inside)
            if child != header:
                parent[child] = header
                top[child] = header
                stack.extend(p for p in flow.blocks[child].predecessors if flow.rank[p] >= 0)
    return parent, innermost


def _contiguous(
    flow: ControlFlow, innermost: list[int | None], parents: list[int | None], headers: list[int]
) -> list[int]:
    """Flatten the nest: blocks by reverse postorder, each loop in one piece at the place of its header."""
    inside: dict[int | None, list[tuple[int, int | None]]] = {}
    heads = {header: index for index, header in enumerate(headers)}
    for block in flow.order:
        loop = heads.get(block)
        if loop is not None:
            inside.setdefault(parents[loop], []).append((block, loop))
            inside.setdefault(loop, []).append((block, None))
        else:
            inside.setdefault(innermost[block], []).append((block, None))
    order: list[int] = []
    stack = list(reversed(inside.get(None, [])))
    while stack:
        block, loop = stack.pop()
        if loop is None:
            order.append(block)
        else:
            stack.extend(reversed(inside[loop]))
    return order


def _sizes(innermost: list[int | None], parents: list[int | None]) -> tuple[list[int], list[int]]:
    """Return the number of blocks and nesting depth of every loop."""
    sizes, depths = [0] * len(parents), [1] * len(parents)
    for loop in innermost:
        if loop is not None:
            sizes[loop] += 1
    for loop in reversed(range(len(parents))):
        outer = parents[loop]
        if outer is not None:
            sizes[outer] += sizes[loop]
    for loop, outer in enumerate(parents):
        if outer is not None:
            depths[loop] = depths[outer] + 1
    return sizes, depths


def _loop(
    flow: ControlFlow,
    index: int,
    latches: list[int],
    blocks: list[int],
    parents: list[int | None],
    children: list[list[int]],
    depth: int,
) -> Loop:
    inside = set(blocks)
    exits = [(b, s) for b in blocks for s in flow.blocks[b].successors if s not in inside]
    last = flow.terminator(latches[-1])
    line = last.line if last is not None and last.line is not None else flow.line(blocks[0])
    return Loop(
        index,
        blocks[0],
        tuple(latches),
        tuple(exits),
        tuple(blocks),
        parents[index],
        tuple(children[index]),
        depth,
        line,
    )
