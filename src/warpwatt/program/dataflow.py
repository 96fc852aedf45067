"""Data flow inside a basic block: who needs whose result, the longest chain, the parallelism.

The thesis (Alavani 2023, section 4.2) models a block as a graph G = ⟨V, E⟩: vertices are instructions,
and an edge u → v says that v uses the result of u; the edge carries the latency L(u). Latencies belong to a
machine, so an edge here carries its producer, and whoever knows the machine passes a weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from warpwatt.core.program import Access, Flow, Instruction, Program, Space
from warpwatt.program.cfg import control_flow


class Dependence(StrEnum):
    """Why one instruction waits for another."""

    DATA = "data"
    """It reads what the other wrote."""
    MEMORY = "memory"
    """Both touch the same space and one of them writes, or a barrier stands between them."""


@dataclass(frozen=True, slots=True)
class Edge:
    """``consumer`` waits for ``producer``: indices into ``Program.instructions``."""

    producer: int
    consumer: int
    kind: Dependence


@dataclass(frozen=True, slots=True, eq=False)
class BlockGraph:
    """The data-flow graph of one block. Program order is a topological order of it."""

    instructions: tuple[Instruction, ...]
    edges: tuple[Edge, ...]

    @property
    def order(self) -> tuple[int, ...]:
        """Instruction indices in a topological order (that of the program)."""
        return tuple(i.index for i in self.instructions)

    @property
    def predecessors(self) -> tuple[tuple[int, ...], ...]:
        """For each instruction, the positions in the block that it waits for."""
        first = self.instructions[0].index if self.instructions else 0
        inputs: list[list[int]] = [[] for _ in self.instructions]
        for edge in self.edges:
            inputs[edge.consumer - first].append(edge.producer - first)
        return tuple(tuple(sorted(producers)) for producers in inputs)

    def critical_path(
        self, weight: Callable[[Instruction], float] = lambda _: 1.0
    ) -> tuple[Instruction, ...]:
        """Return the instructions on the chain of dependences with the largest sum of weights, in order."""
        ends: list[float] = []
        before: list[int] = []
        for instruction, producers in zip(self.instructions, self.predecessors, strict=True):
            latest = max(producers, key=ends.__getitem__, default=-1)
            before.append(latest)
            ends.append(weight(instruction) + (ends[latest] if latest >= 0 else 0.0))
        path = []
        position = max(range(len(ends)), key=ends.__getitem__, default=-1)
        while position >= 0:
            path.append(self.instructions[position])
            position = before[position]
        return tuple(reversed(path))

    def longest_chain(self, weight: Callable[[Instruction], float] = lambda _: 1.0) -> float:
        """Return the largest sum of weights along a chain of dependences; 0 for an empty block."""
        return float(sum(weight(instruction) for instruction in self.critical_path(weight)))

    @property
    def ilp(self) -> float:
        """Instructions over the longest chain (Resios 2011, equation 6.1); 1 for an empty block."""
        return len(self.instructions) / self.longest_chain() if self.instructions else 1.0


@lru_cache(maxsize=4096)
def block_graph(program: Program, block: int, *, memory: bool = True) -> BlockGraph:
    """Return the data-flow graph of a block.

    Parameters
    ----------
    memory
        Whether to keep memory order: a load behind a store to the same space, a store behind any access,
        all behind a barrier. Reads of ``param`` and ``const`` are always free.

    >>> from warpwatt.core.program import Level, Instruction, Program
    >>> load = Instruction(0, "mov.u32", writes=("%r1",))
    >>> use = Instruction(1, "add.s32", writes=("%r2",), reads=("%r1",))
    >>> other = Instruction(2, "add.s32", writes=("%r3",), reads=("%r9",))
    >>> graph = block_graph(Program("k", Level.PTX, "sm_90", (load, use, other)), 0)
    >>> [(e.producer, e.consumer) for e in graph.edges], graph.longest_chain(), graph.ilp
    ([(0, 1)], 2.0, 1.5)
    """
    instructions = control_flow(program).instructions(block)
    edges = _data_edges(instructions)
    if memory:
        known = {(e.producer, e.consumer) for e in edges}
        edges += [e for e in _memory_edges(instructions) if (e.producer, e.consumer) not in known]
    return BlockGraph(instructions, tuple(sorted(edges, key=lambda e: (e.consumer, e.producer))))


def _data_edges(instructions: Sequence[Instruction]) -> list[Edge]:
    writer: dict[str, int] = {}
    edges: list[Edge] = []
    for instruction in instructions:
        producers = {writer[name] for name in instruction.reads if name in writer}
        edges += [Edge(p, instruction.index, Dependence.DATA) for p in producers]
        writer.update(dict.fromkeys(instruction.writes, instruction.index))
    return edges


def _memory_edges(instructions: Sequence[Instruction]) -> list[Edge]:
    """Order accesses by space; generic ones and barriers touch all spaces."""
    writes: dict[Space, int] = {}
    reads: dict[Space, list[int]] = {}
    edges: set[tuple[int, int]] = set()
    for instruction in instructions:
        spaces, writing = _touched(instruction)
        for space in spaces:
            if space in writes:
                edges.add((writes[space], instruction.index))
            if writing:
                edges.update((r, instruction.index) for r in reads.pop(space, []))
                writes[space] = instruction.index
            else:
                reads.setdefault(space, []).append(instruction.index)
    return [Edge(p, c, Dependence.MEMORY) for p, c in edges if p != c]


_ORDERED: tuple[Space, ...] = (Space.GLOBAL, Space.SHARED, Space.LOCAL)


def _touched(instruction: Instruction) -> tuple[tuple[Space, ...], bool]:
    """Return the spaces an instruction touches as far as order matters, and whether it may write them."""
    if instruction.flow in (Flow.BARRIER, Flow.CALL):
        return _ORDERED, True
    memory = instruction.memory
    if memory is None:
        return (), False
    named = _ORDERED if memory.space is Space.GENERIC else (memory.space,)
    if memory.access is Access.COPY:
        named = (Space.GLOBAL, Space.SHARED)
    touched = tuple(s for s in named if s in _ORDERED)
    return touched, memory.access not in (Access.LOAD, Access.PREFETCH)
