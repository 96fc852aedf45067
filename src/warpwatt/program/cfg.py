"""Control flow of a program: basic blocks, edges, reverse postorder, dominators and post-dominators.

A block ends behind every jump, return and exit, guarded or not, so that lanes only ever leave at the end
of a block. Calls and barriers are straight-line code. An indirect branch goes to each of its targets, or
to every label where the program does not list them. Running off the end leaves the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from warpwatt.core.errors import InputError
from warpwatt.core.program import Flow, Guard, Instruction, Program, SourceLine
from warpwatt.program.graph import children_of, dominators, postorder

_ENDS = (Flow.JUMP, Flow.RETURN, Flow.EXIT)


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions ``start`` to ``stop`` (exclusive); jump targets come before the fall-through."""

    index: int
    start: int
    stop: int
    successors: tuple[int, ...]
    predecessors: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ControlFlow:
    """The control-flow graph of one program. Block 0 is the entry; ``exit`` is a virtual last node.

    Attributes
    ----------
    blocks
        In program order.
    block_of
        Block of every instruction.
    order
        Reachable blocks in reverse postorder.
    rank
        Position of every block in ``order``; -1 where unreachable.
    idom
        Immediate dominator of every block; -1 for the entry and unreachable blocks.
    ipdom
        Immediate post-dominator; ``exit`` where only the end of the kernel is certain, -1 where unreachable.
        A block that can never reach the end is taken to lead there, so that every block has one.
    """

    program: Program
    blocks: tuple[Block, ...]
    block_of: Sequence[int]
    order: tuple[int, ...]
    rank: Sequence[int]
    idom: Sequence[int]
    ipdom: Sequence[int]
    dominator_spans: Sequence[tuple[int, int]]
    postdominator_spans: Sequence[tuple[int, int]]

    @property
    def exit(self) -> int:
        """The virtual exit node behind every return."""
        return len(self.blocks)

    @property
    def unreachable(self) -> tuple[int, ...]:
        """Blocks no path from the entry leads to."""
        return tuple(b.index for b in self.blocks if self.rank[b.index] < 0)

    def terminator(self, block: int) -> Instruction | None:
        """Return the jump, return or exit that ends a block, or None where it just falls through."""
        b = self.blocks[block]
        last = self.program.instructions[b.stop - 1] if b.stop > b.start else None
        return last if last is not None and last.flow in _ENDS else None

    def instructions(self, block: int) -> tuple[Instruction, ...]:
        """Return the instructions of a block."""
        b = self.blocks[block]
        return self.program.instructions[b.start : b.stop]

    def line(self, block: int) -> SourceLine | None:
        """Return the first known source line of a block."""
        return next((i.line for i in self.instructions(block) if i.line is not None), None)

    def dominates(self, above: int, below: int) -> bool:
        """Whether every path from the entry to ``below`` passes ``above`` (a block dominates itself)."""
        return _within(self.dominator_spans, above, below)

    def postdominates(self, after: int, before: int) -> bool:
        """Whether every path from ``before`` to the end passes ``after``."""
        return _within(self.postdominator_spans, after, before)

    def edge_guard(self, source: int, target: int) -> Guard | None:
        """Return the predicate under which control goes from ``source`` to ``target``; None if always.

        Only meaningful for direct branches: an indirect branch returns the guard of the whole branch.
        """
        last = self.terminator(source)
        if last is None or last.guard is None:
            return None
        falls = self.blocks[source].stop
        taken = {self.program.labels[t] for t in last.targets} if last.flow is Flow.JUMP else set()
        start = self.blocks[target].start
        if start in taken and start == falls:
            return None
        if start in taken or (last.flow is Flow.JUMP and not taken and start != falls):
            return last.guard
        return Guard(last.guard.register, not last.guard.negated)


def _within(spans: Sequence[tuple[int, int]], above: int, below: int) -> bool:
    first, last = spans[above]
    return 0 <= first <= spans[below][0] < last


@lru_cache(maxsize=64)
def control_flow(program: Program) -> ControlFlow:
    """Return the control-flow graph of a program (cached per program).

    Raises
    ------
    InputError
        If a jump names a label the program does not have.

    >>> from warpwatt.core.program import Flow, Guard, Instruction, Level, Program
    >>> jump = Instruction(0, "bra", guard=Guard("%p1"), flow=Flow.JUMP, targets=("END",))
    >>> flow = control_flow(Program("k", Level.PTX, "sm_90", (jump, Instruction(1, "add.s32")), {"END": 2}))
    >>> [(b.start, b.stop, b.successors) for b in flow.blocks]
    [(0, 1, (2, 1)), (1, 2, (2,)), (2, 2, ())]
    """
    starts = _leaders(program)
    stops = [*starts[1:], len(program.instructions)]
    at = {start: index for index, start in enumerate(starts)}
    successors = [
        _successors(program, stop, at) if stop > start else ()
        for start, stop in zip(starts, stops, strict=True)
    ]
    predecessors: list[list[int]] = [[] for _ in starts]
    for source, targets in enumerate(successors):
        for target in targets:
            predecessors[target].append(source)
    blocks = tuple(
        Block(i, starts[i], stops[i], successors[i], tuple(predecessors[i])) for i in range(len(starts))
    )
    return _with_orders(program, blocks)


def _with_orders(program: Program, blocks: tuple[Block, ...]) -> ControlFlow:
    count = len(blocks)
    order = postorder([b.successors for b in blocks], [0])[::-1]
    rank = [-1] * count
    for position, block in enumerate(order):
        rank[block] = position
    idom = dominators(order, [b.predecessors for b in blocks])
    ipdom = _postdominators(program, blocks, order, rank)
    block_of = [b.index for b in blocks for _ in range(b.start, b.stop)]
    return ControlFlow(
        program,
        blocks,
        block_of,
        tuple(order),
        rank,
        idom,
        ipdom[:count],
        _spans(idom, [0]),
        _spans(ipdom, [count]),
    )


def _leaders(program: Program) -> list[int]:
    """First instructions of blocks, in order; the end of the program is one where a label stands there."""
    starts, reached = {0}, {0}
    for i in program.instructions:
        if i.flow in _ENDS:
            starts.add(i.index + 1)
            reached.update(_destinations(program, i))
            reached.update([i.index + 1] if i.guard is not None else [])
    end = len(program.instructions)
    return sorted(s for s in starts | reached if s < end or end in reached) or [0]


def _destinations(program: Program, jump: Instruction) -> list[int]:
    if jump.flow is not Flow.JUMP:
        return []
    if not jump.targets:
        return sorted(set(program.labels.values()))
    missing = next((t for t in jump.targets if t not in program.labels), None)
    if missing is not None:
        where = jump.line
        raise InputError(
            f"{program.name}: the branch goes to {missing!r}, which is not a label",
            file=where.file if where else None,
            line=where.line if where else None,
        )
    return [program.labels[t] for t in jump.targets]


def _successors(program: Program, stop: int, at: dict[int, int]) -> tuple[int, ...]:
    last = program.instructions[stop - 1]
    targets = _destinations(program, last)
    if last.flow not in _ENDS or last.guard is not None:
        targets.append(stop)
    return tuple(dict.fromkeys(at[t] for t in targets if t in at))


def _postdominators(
    program: Program, blocks: tuple[Block, ...], order: list[int], rank: list[int]
) -> list[int]:
    """Immediate post-dominators by running the dominator algorithm on the reversed graph."""
    exit_node = len(blocks)
    leaving = [b for b in order if _leaves(program, blocks[b])]
    backward = [[p for p in b.predecessors if rank[p] >= 0] if rank[b.index] >= 0 else [] for b in blocks]
    backward.append(leaving)
    seen = set(postorder(backward, [exit_node]))
    for block in reversed(order):  # endless loops: let their last block lead to the exit
        if block not in seen:
            backward[exit_node] = [*backward[exit_node], block]
            seen.update(postorder(backward, [block]))
    reverse = postorder(backward, [exit_node])[::-1]
    forward: list[list[int]] = [[] for _ in range(exit_node + 1)]
    for source, targets in enumerate(backward):
        for target in targets:
            forward[target].append(source)
    return dominators(reverse, forward)


def _leaves(program: Program, block: Block) -> bool:
    last = program.instructions[block.stop - 1] if block.stop > block.start else None
    leaves = last is not None and last.flow in (Flow.RETURN, Flow.EXIT)
    return leaves or not block.successors or block.stop == block.start


def _spans(parents: Sequence[int], roots: Sequence[int]) -> list[tuple[int, int]]:
    """Preorder intervals of a tree: a node's interval lies in its ancestors'. (-1, -1) where unreachable."""
    children = children_of(parents)
    first = [-1] * len(parents)
    for number, node in enumerate(reversed(postorder(children, roots))):
        first[node] = number
    size = [1] * len(parents)
    for node in postorder(children, roots):
        if parents[node] >= 0:
            size[parents[node]] += size[node]
    return [(f, f + s) if f >= 0 else (-1, -1) for f, s in zip(first, size, strict=True)]
