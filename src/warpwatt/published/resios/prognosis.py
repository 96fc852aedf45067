"""The prognosis of one loop nest on one GPU: chapters 4 to 6 put together, the report of section 5.3."""

from __future__ import annotations

import math
from collections.abc import Mapping as Table
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.gpu import Gpu
from warpwatt.core.launch import WARP_SIZE, Dim3
from warpwatt.published.resios.accesses import (
    executions,
    greedy,
    lane_stride,
    opportunities,
    requests,
)  # fmt: skip
from warpwatt.published.resios.analyses import arithmetic_intensity, block_spills, pressure
from warpwatt.published.resios.equations import even_warps, global_penalty, hiding_warps, shared_penalty
from warpwatt.published.resios.graph import LOAD, Op, blocks, is_flop
from warpwatt.published.resios.machine import Rate, machine
from warpwatt.published.resios.simulation import Hardware, Step, Unit, simulate

if TYPE_CHECKING:
    from warpwatt.published.resios.accesses import Opportunity
    from warpwatt.published.resios.c_loops.bound import Access, BoundFunction
    from warpwatt.published.resios.c_loops.mapping import Mapping
    from warpwatt.published.resios.graph import Block
    from warpwatt.published.resios.machine import Machine

SIMULATED_WARPS = 96
"""W: warps simulated before scaling up (5.2.1); two full SMs of compute capability 2.1."""


@dataclass(frozen=True, slots=True)
class WarpsPerBlock:
    """n_w of section 5.2.1 by its three rules, and the least of them, within what a block can hold."""

    even: int
    occupancy: int
    hiding: int
    limit: int

    @property
    def chosen(self) -> int:
        """The least, at least one and at most what a block can hold."""
        return max(1, min(self.even, self.occupancy, self.hiding, self.limit))

    @property
    def rule(self) -> str:
        """Which rule decided."""
        rules = {"even work": self.even, "occupancy": self.occupancy, "latency hiding": self.hiding,
                 "largest block": self.limit}  # fmt: skip
        return min(rules, key=lambda name: rules[name])


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """One access in the report: where it goes, what it costs a warp, its share in the waiting."""

    array: str
    line: int
    store: bool
    shared: bool
    requests: int
    conflicts: int
    frequency: float
    delay_share: float
    """Of the time memory instructions take."""
    idle_share: float
    """Of its own time, with no compute unit at work."""

    @property
    def heat(self) -> float:
        """Share of memory time this access takes with nothing to hide it: the hot spots of section 5.3."""
        return self.delay_share * self.idle_share


@dataclass(frozen=True, slots=True)
class Prognosis:
    """What Resios' system says of a loop nest on a GPU. Seconds, bytes, counts over the whole launch."""

    machine: Machine
    warps: WarpsPerBlock
    block: Dim3
    grid: Dim3
    seconds: float
    cycles: float
    """Of one SM."""
    parallelism: float
    """ILP, weighted by executions."""
    threads_ready: float
    """Mean TLP of the simulation."""
    intensity: float
    registers: int
    spills: int
    reloads: int
    instructions: float
    flops: float
    bytes: float
    shared: tuple[Opportunity, ...]
    left_out: tuple[Opportunity, ...]
    accesses: tuple[MemoryAccess, ...]
    """Hottest first."""
    policy: str
    simulated: int

    @property
    def bandwidth(self) -> float:
        """Bytes accessed per second of kernel time."""
        return self.bytes / self.seconds

    @property
    def flop_rate(self) -> float:
        """Floating-point operations per second of kernel time."""
        return self.flops / self.seconds


def prognose(
    bound: BoundFunction,
    mapping: Mapping,
    gpu: Gpu,
    *,
    policy: str = "in-turn",
    simulated: int = SIMULATED_WARPS,
) -> Prognosis:
    """Return the prognosis of a mapped nest.

    The recommended block comes first, from a kernel without shared memory; its tiles decide what lies in
    shared memory (Algorithm 6.2), and the block is chosen again with what they take.
    """
    device = machine(gpu)
    graph = blocks(mapping)
    registers = min(pressure(graph), device.registers_per_thread)
    free = _warps(mapping, device, graph, registers, 0, frozenset())
    found = opportunities(bound, mapping, mapping.block(free.chosen))
    chosen = greedy(found, device.shared)
    names = frozenset(one.array for one in chosen)
    per_thread = math.ceil(sum(one.size for one in chosen) / (free.chosen * WARP_SIZE))
    warps = _warps(mapping, device, graph, registers, per_thread, names)
    return _Nest(bound, mapping, device, graph, chosen, registers).prognosis(
        warps, [one for one in found if one not in chosen], policy, simulated
    )


def _warps(
    mapping: Mapping, device: Machine, graph: Sequence[Block], registers: int,
    shared_per_thread: int, shared: frozenset[str],
) -> WarpsPerBlock:  # fmt: skip
    """Return n_w; n_s of the occupancy rule is read as shared bytes per thread, as the formula needs it."""
    limits = [device.max_warps, device.registers // (WARP_SIZE * registers)]
    if shared_per_thread:
        limits.append(device.shared // (WARP_SIZE * shared_per_thread))
    intensity = arithmetic_intensity(graph, shared)
    hiding = max(_hiding(op, device, intensity, shared) for block in graph for op in block.ops)
    even = even_warps(mapping.threads, device.sms)
    return WarpsPerBlock(even, max(1, min(limits)), math.ceil(hiding), device.warps_per_block)


def _hiding(op: Op, device: Machine, intensity: float, shared: frozenset[str]) -> float:
    if not op.memory:
        return hiding_warps(device.issue_factor, device.rates[op.kind].latency)
    assert op.element is not None
    if op.element.array.name in shared:
        return hiding_warps(device.issue_factor, device.shared_latency)
    return hiding_warps(device.issue_factor, device.global_latency, intensity)


@dataclass(frozen=True, slots=True)
class _Nest:
    """A nest with everything decided, ready to be simulated."""

    bound: BoundFunction
    mapping: Mapping
    device: Machine
    graph: tuple[Block, ...]
    shared: tuple[Opportunity, ...]
    registers: int

    def prognosis(
        self, warps: WarpsPerBlock, left_out: list[Opportunity], policy: str, most: int
    ) -> Prognosis:
        block = self.mapping.block(warps.chosen)
        grid = self.mapping.grid(block)
        trace, labels, spilled, reloaded = self._trace()
        per_block = -(-block.count // WARP_SIZE)
        own = -(-grid.count // self.device.sms)
        run = max(1, min(own, -(-most // per_block)))
        resident = self._resident(per_block, block)
        outcome = simulate(trace, run, per_block, Hardware(resident * per_block, resident), policy)
        cycles = outcome.cycles * own / run
        threads = self.mapping.threads
        counted = [(op, part.executions) for part in self.graph for op in part.ops]
        whole = sum(part.executions * len(part.ops) for part in self.graph)
        return Prognosis(
            machine=self.device,
            warps=warps,
            block=block,
            grid=grid,
            seconds=cycles / self.device.clock,
            cycles=cycles,
            parallelism=whole / sum(part.executions * part.longest for part in self.graph),
            threads_ready=outcome.mean_parallelism,
            intensity=arithmetic_intensity(self.graph, frozenset(o.array for o in self.shared)),
            registers=self.registers,
            spills=spilled,
            reloads=reloaded,
            instructions=whole * threads,
            flops=threads * sum(n for op, n in counted if is_flop(op)),
            bytes=threads * sum(n * op.element.type.size for op, n in counted if op.element is not None),
            shared=self.shared,
            left_out=tuple(left_out),
            accesses=self._report(labels, outcome.taken, outcome.idle),
            policy=policy,
            simulated=run * per_block,
        )

    def _resident(self, per_block: int, block: Dim3) -> int:
        """Return the blocks an SM holds at once."""
        used = sum(one.size for one in self.shared)
        limits = [
            self.device.max_blocks,
            self.device.max_warps // per_block,
            self.device.registers // max(1, self.registers * block.count),
        ]
        if used:
            limits.append(self.device.shared // used)
        return max(1, min(limits))

    def _trace(self) -> tuple[list[Step], list[Op], int, int]:
        """Return the steps of one warp, the memory operation of every label, and MIN's spills and reloads."""
        steps: list[Step] = []
        labels: list[Op] = []
        spilled = reloaded = 0
        for part in self.graph:
            for op in part.ops:
                if op.memory:
                    labels.append(op)
                    steps.append(self._memory(op, part, len(labels) - 1))
                else:
                    rate = self.device.rates[op.kind]
                    steps.append(Step(Unit.COMPUTE, part.executions, part.parallelism, rate))
            evicted = block_spills(part, self.device.registers_per_thread)
            spilled, reloaded = spilled + len(evicted.spills), reloaded + len(evicted.reloads)
            steps += [self._spill(part)] * (len(evicted.spills) + len(evicted.reloads))
        return steps, labels, spilled, reloaded

    def _memory(self, op: Op, part: Block, label: int) -> Step:
        assert op.element is not None
        tile = self._tile(op)
        most, size = self.device.peak_parallelism, op.element.type.size
        if tile is not None:
            rate = Rate(self.device.shared_latency, 0, most)
            penalty = shared_penalty(size, tile.conflicts, self.device.bank_bandwidth, self.device.banks)
        else:
            rate = Rate(self.device.global_latency, 0, most)
            penalty = global_penalty(self.device.line, self._requests(op), self.device.global_bandwidth)
        return Step(Unit.MEMORY, part.executions, part.parallelism, rate, penalty, label)

    def _spill(self, part: Block) -> Step:
        """Return a spill or reload: cached on Fermi, so with the timings of shared memory (6.4)."""
        rate = Rate(self.device.shared_latency, 0, self.device.peak_parallelism)
        penalty = shared_penalty(4, 0, self.device.bank_bandwidth, self.device.banks)
        return Step(Unit.MEMORY, part.executions, part.parallelism, rate, penalty)

    def _tile(self, op: Op) -> Opportunity | None:
        assert op.element is not None
        return next((one for one in self.shared if one.array == op.element.array.name), None)

    def _access(self, op: Op) -> Access:
        found = (
            a for a in self.mapping.nest.accesses if a.element is op.element and a.write == (op.kind != LOAD)
        )
        return next(found)

    def _requests(self, op: Op) -> int:
        assert op.element is not None
        stride = lane_stride(self._access(op), self.bound, self.mapping)
        return requests(stride, op.element.type.size, self.device.line)

    def _report(
        self, labels: list[Op], taken: Table[int, float], idle: Table[int, float]
    ) -> tuple[MemoryAccess, ...]:
        total = sum(taken.values()) or 1.0
        found = []
        for label, op in enumerate(labels):
            assert op.element is not None
            tile, cycles = self._tile(op), taken.get(label, 0.0)
            found.append(
                MemoryAccess(
                    array=op.element.array.name,
                    line=op.line,
                    store=op.kind != LOAD,
                    shared=tile is not None,
                    requests=self._requests(op),
                    conflicts=tile.conflicts if tile is not None else 0,
                    frequency=executions(self._access(op), self.mapping),
                    delay_share=cycles / total,
                    idle_share=idle.get(label, 0.0) / cycles if cycles else 0.0,
                )
            )
        return tuple(sorted(found, key=lambda a: (-a.heat, -a.delay_share)))
