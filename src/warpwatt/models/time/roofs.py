"""Roofs: for every resource, the time a case needs if that resource were the only limit.

Each roof knows which instructions load it, so that time can be attributed to source lines, and how sure
its rate is, so that intervals follow the resource that binds.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.launch import WARP_SIZE
from warpwatt.core.program import Space, Unit
from warpwatt.emulate.workload import OFF_CHIP, off_chip_bytes, pattern_of
from warpwatt.models.time.latency import warp_latency_cycles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpwatt.core.case import Case

DRAM_EFFICIENCY = 0.87
"""Achievable over theoretical DRAM bandwidth where nobody measured the board: mean of the boards of the
packaged memory measurements (0.81-0.97)."""
L2_BYTES_PER_SM_CLOCK = 32.0
"""L2 bandwidth per SM and clock where nobody measured it: A100 80GB 36, L40 15, V100 22, H200 39."""
LINE_CYCLES = (0.77, 0.25)
"""L1 cycles per access = 0.77 + 0.25 per 128-byte line touched (fits Hopper within 0.12 cycles)."""

UNIT_NAMES = {
    Unit.FP16: "FP16 pipe",
    Unit.FP32: "FP32 pipe",
    Unit.FP64: "FP64 pipe",
    Unit.INT: "INT pipe",
    Unit.SFU: "SFU",
    Unit.TENSOR: "tensor cores",
    Unit.CONTROL: "branch unit",
}


@dataclass(frozen=True, slots=True)
class Roof:
    """Time under one resource alone.

    ``loads`` are the per-instruction shares of that time in any unit; ``spread`` is the standard deviation
    of the logarithm of its rate; ``key`` is the utilisation's name.
    """

    name: str
    key: str
    seconds: float
    loads: tuple[float, ...]
    spread: float


def roofs(case: Case) -> tuple[Roof, ...]:
    """Return the roofs of every resource a case uses, in no particular order."""
    found = [*_memory_roofs(case), *_pipe_roofs(case), _issue_roof(case), _latency_roof(case)]
    return tuple(roof for roof in found if roof.seconds > 0)


def imbalance(case: Case) -> float:
    """Return how much longer the fullest SM works than the average one (tail of the grid).

    Blocks are dealt out one by one, so some SM gets ``ceil(blocks / SMs)`` of them.
    """
    blocks, sms = case.launch.grid.count, case.gpu.sm_count
    return math.ceil(blocks / sms) * sms / blocks


def dram_bandwidth(case: Case) -> tuple[float, float]:
    """Return (achievable DRAM bandwidth in bytes per second at the case's memory clock, spread)."""
    gpu = case.gpu
    measured = gpu.memory.dram_bandwidth or DRAM_EFFICIENCY * gpu.memory_bandwidth
    own = gpu.memory.dram_bandwidth is not None and not gpu.memory.borrowed("dram_bandwidth")
    return measured * case.clocks.memory / gpu.memory_clock, 0.05 if own else 0.10


def l2_bandwidth(case: Case) -> tuple[float, float]:
    """Return (L2 bandwidth in bytes per second at the case's SM clock, spread)."""
    gpu = case.gpu
    measured = gpu.memory.l2_bandwidth
    if measured:
        return measured * case.clocks.sm / gpu.boost_clock, 0.25 if gpu.memory.borrowed(
            "l2_bandwidth"
        ) else 0.10
    return L2_BYTES_PER_SM_CLOCK * gpu.sm_count * case.clocks.sm, 0.35


def _memory_roofs(case: Case) -> Iterator[Roof]:
    work = case.workload
    bytes_per_instruction = off_chip_bytes(case)
    dram_rate, dram_spread = dram_bandwidth(case)
    yield Roof("DRAM bandwidth", "dram", work.dram.total / dram_rate, bytes_per_instruction, dram_spread)
    l2_rate, l2_spread = l2_bandwidth(case)
    yield Roof("L2 bandwidth", "l2", work.l2.total / l2_rate, bytes_per_instruction, l2_spread)
    yield _lsu_roof(case)
    yield _shared_roof(case)


def _lsu_roof(case: Case) -> Roof:
    """L1 pipe: every off-chip access costs cycles by the lines it touches and the bytes it returns."""
    execution = case.workload.execution
    base, per_line = LINE_CYCLES
    bytes_per_clock = case.gpu.memory.l1_bandwidth_per_sm_clock or 128.0
    cycles = [0.0] * len(execution.counts)
    for instruction in execution.program.instructions:
        memory = instruction.memory
        count = execution.counts[instruction.index]
        if memory is None or memory.space not in OFF_CHIP or not count:
            continue
        pattern = pattern_of(execution, instruction)
        moved = memory.bytes * execution.lanes[instruction.index] / bytes_per_clock
        cycles[instruction.index] = max(base + per_line * pattern.lines, moved) * count
    return Roof("L1 throughput", "l1", _sm_seconds(case, sum(cycles)), tuple(cycles), 0.2)


def _shared_roof(case: Case) -> Roof:
    """Shared memory: one wavefront per clock and SM."""
    execution = case.workload.execution
    cycles = [0.0] * len(execution.counts)
    for instruction in execution.program.instructions:
        if instruction.memory is not None and instruction.memory.space == Space.SHARED:
            passes = max(pattern_of(execution, instruction).wavefronts, _wide(instruction.memory.bytes))
            cycles[instruction.index] = passes * execution.counts[instruction.index]
    return Roof("shared memory", "shared", _sm_seconds(case, sum(cycles)), tuple(cycles), 0.15)


def _wide(bytes_per_lane: int) -> float:
    """Return the fewest passes of 128 bytes a full warp needs for accesses of that width.

    >>> _wide(4), _wide(16)
    (1.0, 4.0)
    """
    return max(1.0, bytes_per_lane * WARP_SIZE / 128)


def _pipe_roofs(case: Case) -> Iterator[Roof]:
    execution = case.workload.execution
    throughput = case.gpu.capability.throughput
    cycles: dict[Unit, list[float]] = defaultdict(lambda: [0.0] * len(execution.counts))
    for instruction in execution.program.instructions:
        rate = throughput.get(instruction.throughput_class)
        count = execution.counts[instruction.index]
        if rate and count:
            cycles[instruction.unit][instruction.index] = count * WARP_SIZE / rate
    for unit, per_instruction in cycles.items():
        name = UNIT_NAMES.get(unit, str(unit))
        yield Roof(name, str(unit), _sm_seconds(case, sum(per_instruction)), tuple(per_instruction), 0.1)


def _issue_roof(case: Case) -> Roof:
    """Issue slots: one warp instruction per scheduler and clock.

    Moves, address-space conversions and parameter loads of PTX rarely survive in machine code and are left
    out.
    """
    execution = case.workload.execution
    slots = [
        count if i.unit != Unit.MOVE and not (i.memory is not None and i.memory.space == Space.PARAM) else 0.0
        for i, count in zip(execution.program.instructions, execution.counts, strict=True)
    ]
    schedulers = case.gpu.capability.warp_schedulers
    return Roof("issue slots", "issue", _sm_seconds(case, sum(slots) / schedulers), tuple(slots), 0.15)


def _latency_roof(case: Case) -> Roof:
    """Dependence latency: rounds of resident blocks, each as long as the longest chain of one warp."""
    per_instruction = warp_latency_cycles(case)
    rounds = math.ceil(case.workload.waves)
    seconds = rounds * sum(per_instruction) / case.clocks.sm
    return Roof("latency", "latency", seconds, per_instruction, 0.25)


def _sm_seconds(case: Case, sm_cycles: float) -> float:
    """Return the time the fullest SM needs for its part of ``sm_cycles`` summed over all SMs."""
    return sm_cycles / case.gpu.sm_count * imbalance(case) / case.clocks.sm
