"""Roofs: for every resource, the time a case needs if that resource were the only limit.

Each roof knows which instructions load it, so that time can be attributed to source lines, and how sure
its rate is, so that intervals follow the resource that binds.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from warpwatt.core.case import Case
from warpwatt.core.execution import AccessPattern
from warpwatt.core.gpu import Gpu
from warpwatt.core.launch import WARP_SIZE
from warpwatt.core.program import Access, Flow, Instruction, Space, Unit
from warpwatt.emulate.workload import OFF_CHIP, off_chip_bytes, pattern_of
from warpwatt.models.dispatch import dispatch_cycles, dispatch_rate
from warpwatt.models.dram import slowdown, visit_bytes
from warpwatt.models.fill import fill_bandwidth
from warpwatt.models.latency import warp_latency_cycles
from warpwatt.models.memo import at_any_clock
from warpwatt.models.pipes import NAMES as PIPE_NAMES
from warpwatt.models.pipes import issue_slots, pipe_cycles

DRAM_EFFICIENCY = 0.87
"""Achievable over theoretical DRAM bandwidth where nobody measured the board: mean of the boards of the
packaged memory measurements (0.81-0.97)."""
L2_BYTES_PER_SM_CLOCK = {"HBM": 32.0, "": 16.0}
"""L2 bandwidth per SM and clock where nobody measured it in a board's generation, by device memory: A100 80GB
36, V100 22, H200 39; others A40 17, L40 15, RTX 4090 13, T4 20."""
LINE_CYCLES = (0.77, 0.25)
"""L1 cycles per access = 0.77 + 0.25 per 128-byte line touched (fits Hopper within 0.12 cycles)."""

SLICE_BYTES = 256
"""Neighbouring bytes in one slice of L2 (address mapping of Accel-Sim's configurations since Volta)."""
ATOMIC_CYCLES = 2.5
"""L2 clocks a slice needs for the atomics of one request on one sector: 8 requests on 4 sectors each of one
KiB take 20 clocks on four GeForce boards of Turing and Ampere (pmpp_nvbench, histograms; chosen on them).
That of a single lane takes a clock: two million on one address take an RTX 3080 2.0 ms at 1.44 GHz
(gpuFLOPBench, linearprobing)."""
FLOAT_ATOMIC_CYCLES = 2.0
"""L2 clocks a slice needs for a sum of floating-point numbers on one address, where integers take one: a
million of them on neighbouring cells take 1.48 ms on an RTX 3080 at 1.44 GHz (gpuFLOPBench, scatterParticle
of sheath; chosen on it)."""
L2_CLOCK_SHARE = 0.94
"""L2's clock over the SMs': 67 million atomics on one address, one a clock, show 0.92 to 0.95 on the same."""
SHARED_ATOMIC_CYCLES = 2
"""Cycles of shared memory per lane of an atomic on one address: 64 for a whole warp on a V100 and T4 (Jia et
al. 2018 and 2019, latencies of atomics under contention; recalled)."""

SECTOR_BYTES = 32
_ATOMICS = (Access.ATOMIC, Access.REDUCTION)


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
    found = [*_memory_roofs(case), *_pipe_roofs(case), _issue_roof(case)]
    on_sm = max((roof.seconds for roof in found if roof.key not in ("dram", "l2", "atomics")), default=0.0)
    found += [_latency_roof(case, on_sm / _sm_seconds(case, 1.0)), _dispatch_roof(case)]
    return tuple(roof for roof in found if roof.seconds > 0)


def imbalance(case: Case) -> float:
    """Return how much longer the fullest SM works than the average one (tail of the grid).

    Blocks are dealt out one by one, so some SM gets ``ceil(blocks / SMs)`` of them.
    """
    blocks, sms = case.launch.grid.count, case.gpu.sm_count
    return math.ceil(blocks / sms) * sms / blocks


def dram_bandwidth(case: Case) -> tuple[float, float]:
    """Return (achievable DRAM bandwidth in bytes per second at the case's memory clock, spread).

    Reads alone or writes alone reach what was measured for reads. Where both pass, the bus turns around
    between them: what a copy loses to reads, in proportion to the smaller of the two streams. At low SM
    clocks L2 takes no more than :func:`~warpwatt.models.fill.fill_bandwidth`.
    """
    gpu, traffic = case.gpu, case.workload.dram
    measured = gpu.memory.dram_bandwidth or DRAM_EFFICIENCY * gpu.memory_bandwidth
    mixed = 2.0 * min(traffic.read, traffic.written) / traffic.total if traffic.total else 0.0
    reached = measured / (1.0 + mixed * turnaround(gpu))
    filled = fill_bandwidth(gpu, case.clocks)
    return min(filled, reached * case.clocks.memory / gpu.memory_clock), _dram_spread(gpu)


def _dram_spread(gpu: Gpu) -> float:
    """Return the spread of the achievable bandwidth: as measured on the board, on a relative, or nowhere."""
    if gpu.memory.dram_bandwidth is None:
        return 0.12
    return 0.07 if gpu.memory.borrowed("dram_bandwidth") else 0.05


def turnaround(gpu: Gpu) -> float:
    """Return how much longer DRAM takes per byte of a copy than of reads, as a share of the reads' time.

    >>> from warpwatt.gpus import find
    >>> round(turnaround(find("h200")), 2), round(turnaround(find("a40")), 2)
    (0.23, 0.03)
    """
    read, copied = gpu.memory.dram_bandwidth, gpu.memory.dram_copy_bandwidth
    return max(0.0, read / copied - 1.0) if read and copied else 0.0


def l1_bytes(gpu: Gpu) -> float:
    """Return the bytes per cycle that L1 of one SM delivers to wide loads.

    Where the load-store lanes pass fewer than the banks deliver, a measurement with narrow loads shows the
    lanes, and the documented width counts.

    >>> from warpwatt.gpus import find
    >>> l1_bytes(find("a40")), l1_bytes(find("t4"))
    (128.0, 58.8)
    """
    return max(gpu.memory.l1_bandwidth_per_sm_clock or 128.0, float(gpu.capability.l1_bytes_per_clock or 0))


def dram_bytes(case: Case) -> float:
    """Return the bytes DRAM could move in the time it needs: more than it moves where it opens many pages."""
    work, visit = case.workload, visit_bytes(case.gpu, case.clocks)
    if not work.hits:
        return work.dram.total
    return sum(hits.dram.total * slowdown(hits.run, visit) for hits in work.hits.values())


def l2_bandwidth(case: Case) -> tuple[float, float]:
    """Return (L2 bandwidth in bytes per second at the case's SM clock, spread)."""
    gpu = case.gpu
    measured = gpu.memory.l2_bandwidth
    if measured:
        return measured * case.clocks.sm / gpu.boost_clock, 0.25 if gpu.memory.borrowed(
            "l2_bandwidth"
        ) else 0.10
    typical = typical_l2_bytes(gpu) * gpu.sm_count
    return max(typical, gpu.memory_bandwidth / gpu.boost_clock) * case.clocks.sm, 0.35


def typical_l2_bytes(gpu: Gpu) -> float:
    """Return L2's bytes per SM and clock where nobody measured them."""
    return L2_BYTES_PER_SM_CLOCK["HBM" if gpu.memory_type.startswith("HBM") else ""]


def _memory_roofs(case: Case) -> Iterator[Roof]:
    work = case.workload
    bytes_per_instruction = off_chip_bytes(case)
    dram_rate, dram_spread = dram_bandwidth(case)
    yield Roof("DRAM bandwidth", "dram", dram_bytes(case) / dram_rate, bytes_per_instruction, dram_spread)
    l2_rate, l2_spread = l2_bandwidth(case)
    yield Roof("L2 bandwidth", "l2", work.l2.total / l2_rate, bytes_per_instruction, l2_spread)
    yield atomics_roof(case)
    yield from _load_store_roofs(case)


def atomics_roof(case: Case) -> Roof:
    """Atomics on few addresses, which few slices of L2 have to take, however many SMs send them.

    A slice takes one operation per clock on the same address (NVIDIA, "Kepler GK110" whitepaper), one in
    :data:`FLOAT_ATOMIC_CYCLES` of floating-point numbers, and those of several lanes on a sector in
    :data:`ATOMIC_CYCLES` at least, at :data:`L2_CLOCK_SHARE` of the SMs' clock: lanes of a request that share
    an address keep its slice busy one by one. Operations spread evenly over the bytes that an instruction
    reaches, as far as they fill slices, unless one of them was seen to take more: all wait for that one then.
    """
    cycles = _queued_cycles(case)
    return Roof("atomics on one address", "atomics", sum(cycles) / case.clocks.sm, cycles, 0.2)


@at_any_clock
def _queued_cycles(case: Case) -> tuple[float, ...]:
    execution = case.workload.execution
    cycles = [0.0] * len(execution.counts)
    for instruction in execution.program.instructions:
        memory = instruction.memory
        count, lanes = execution.counts[instruction.index], execution.lanes[instruction.index]
        if memory is None or memory.access not in _ATOMICS or memory.space not in OFF_CHIP or not count:
            continue
        pattern = pattern_of(execution, instruction)
        if pattern.footprint:
            operations = count * (1.0 if pattern.stride == 0 and pattern.collisions == 1.0 else lanes)
            addresses = _addresses(case, pattern, lanes, memory.bytes)
            turn = FLOAT_ATOMIC_CYCLES if _is_floating(instruction) else 1.0
            each = max(ATOMIC_CYCLES if lanes > pattern.sectors else 1.0, turn * pattern.collisions)
            sectors = count * pattern.sectors * each / _slices(case, pattern)
            cycles[instruction.index] = max(turn * operations / addresses, sectors) / L2_CLOCK_SHARE
    return tuple(cycles)


def _is_floating(atomic: Instruction) -> bool:
    """Whether an atomic works on floating-point numbers (``red.add.f32``, ``RED.E.ADD.F32``)."""
    return any(part[:1] in "fF" and part[1:2].isdigit() for part in atomic.opcode.split("."))


def _addresses(case: Case, pattern: AccessPattern, lanes: float, bytes_per_lane: int) -> float:
    """Return how many addresses an atomic reaches in the whole launch, as far as its footprint tells.

    Emulation knows footprints in whole sectors: where all lanes of a warp share an address, each sector is
    taken to hold one.
    """
    assert pattern.footprint is not None
    one_each = case.workload.execution.reuse is not None and pattern.collisions > 0.99 * lanes
    return max(1.0, pattern.footprint / (SECTOR_BYTES if one_each else max(1, bytes_per_lane)))


def l2_slices(case: Case) -> float:
    """Return how many slices L2 has: each moves a sector per clock."""
    return l2_bandwidth(case)[0] / case.clocks.sm / SECTOR_BYTES


def _slices(case: Case, pattern: AccessPattern) -> float:
    """Return how many slices of L2 take an atomic's sectors, each as many as the busiest one.

    What it reaches fills them: a rest in one more relieves no other.
    """
    assert pattern.footprint is not None
    evenly = max(1.0, min(l2_slices(case), pattern.footprint // SLICE_BYTES))
    return min(evenly, 1.0 / pattern.busiest) if pattern.busiest else evenly


def _load_store_roofs(case: Case) -> Iterator[Roof]:
    """L1, shared memory, and where one memory serves both, the unit that feeds them and shuffles."""
    l1, shared, shuffles = load_store_cycles(case)
    yield Roof("L1 throughput", "l1", _sm_seconds(case, sum(l1)), l1, 0.2)
    yield Roof("shared memory", "shared", _sm_seconds(case, sum(shared)), shared, 0.15)
    if case.gpu.l1_shared_unified:
        together = tuple(map(sum, zip(l1, shared, shuffles, strict=True)))
        if sum(together) > max(sum(l1), sum(shared)):
            yield Roof("LSU", "lsu", _sm_seconds(case, sum(together)), together, 0.15)


@at_any_clock
def load_store_cycles(case: Case) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
    """Return SM cycles by instruction for L1, for shared memory and for shuffles, in the whole grid.

    An off-chip access costs by the lines it touches and the bytes it returns, a shared one by its
    wavefronts; none less than its lanes take to pass the load-store units.
    """
    execution, capability = case.workload.execution, case.gpu.capability
    size = len(execution.counts)
    l1, shared, shuffles = [0.0] * size, [0.0] * size, [0.0] * size
    passing = WARP_SIZE / (capability.lsu_lanes or WARP_SIZE)
    banks = capability.shared_banks * capability.shared_bank_width
    per_wavefront = banks / (capability.shared_bytes_per_clock or banks)
    shuffling = WARP_SIZE / capability.throughput.get("warp_shuffle", WARP_SIZE)
    for instruction in execution.program.instructions:
        i, memory = instruction.index, instruction.memory
        if instruction.throughput_class == "warp_shuffle":
            shuffles[i] = shuffling * execution.counts[i]
        elif memory is not None and memory.space == Space.SHARED:
            pattern = pattern_of(execution, instruction)
            cycles = max(pattern.wavefronts, _wide(memory.bytes)) * per_wavefront
            cycles = max(passing, cycles, atomic_cycles(instruction, pattern))
            shared[i] = cycles * execution.counts[i]
        elif memory is not None and memory.space in OFF_CHIP and execution.counts[i]:
            l1[i] = max(passing, _l1_cycles(case, instruction, memory.bytes)) * execution.counts[i]
    return tuple(l1), tuple(shared), tuple(shuffles)


def atomic_cycles(instruction: Instruction, pattern: AccessPattern) -> float:
    """Return the cycles an atomic keeps shared memory, 0 for other accesses.

    Lanes on one address take turns, unless the instruction counts them (``ATOMS.POPC.INC``).
    """
    memory = instruction.memory
    if memory is None or memory.access not in _ATOMICS:
        return 0.0
    turns = 1.0 if ".POPC." in instruction.opcode else pattern.collisions
    return SHARED_ATOMIC_CYCLES * max(turns, pattern.wavefronts)


def _l1_cycles(case: Case, instruction: Instruction, bytes_per_lane: int) -> float:
    """Return the cycles L1 needs for one access of a warp."""
    execution = case.workload.execution
    base, per_line = LINE_CYCLES
    moved = bytes_per_lane * execution.lanes[instruction.index]
    pattern = pattern_of(execution, instruction)
    moving = moved / l1_bytes(case.gpu)
    return max(base + per_line * pattern.lines, pattern.l1_passes, moving)


def _wide(bytes_per_lane: int) -> float:
    """Return the fewest passes of 128 bytes a full warp needs for accesses of that width.

    >>> _wide(4), _wide(16)
    (1.0, 4.0)
    """
    return max(1.0, bytes_per_lane * WARP_SIZE / 128)


def _pipe_roofs(case: Case) -> Iterator[Roof]:
    """Every pipe: the cycles its instructions keep it busy, summed."""
    for pipe, loads in _pipe_loads(case).items():
        yield Roof(PIPE_NAMES.get(pipe, pipe), pipe, _sm_seconds(case, sum(loads)), loads, 0.1)


@at_any_clock
def _pipe_loads(case: Case) -> dict[str, tuple[float, ...]]:
    """Return pipe to SM cycles by instruction."""
    execution = case.workload.execution
    program, capability = execution.program, case.gpu.capability
    cycles: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(execution.counts))
    for instruction in program.instructions:
        count = execution.counts[instruction.index]
        if count and instruction.unit is not Unit.LSU:
            for pipe, own in pipe_cycles(instruction, program.level, capability).items():
                cycles[pipe][instruction.index] = count * own
    return {pipe: tuple(loads) for pipe, loads in cycles.items()}


def _issue_roof(case: Case) -> Roof:
    """Issue slots: one warp instruction per scheduler and clock."""
    slots, schedulers = _issue_slots(case), case.gpu.capability.warp_schedulers
    return Roof("issue slots", "issue", _sm_seconds(case, sum(slots) / schedulers), slots, 0.15)


@at_any_clock
def _issue_slots(case: Case) -> tuple[float, ...]:
    execution = case.workload.execution
    program, target = execution.program, case.gpu.target
    pairs = zip(program.instructions, execution.counts, strict=True)
    return tuple(count * issue_slots(i, program.level, target) for i, count in pairs)


def _latency_roof(case: Case, busiest_sm_cycles: float) -> Roof:
    """Dependence latency: rounds of resident blocks, each as long as the longest chain of one warp.

    Barriers keep the warps of a block in step: between two of them all pass the busiest resource
    (``busiest_sm_cycles`` over the whole grid) one after the other, and the last still has its chain to go.
    """
    per_instruction = warp_latency_cycles(case)
    cycles = sum(per_instruction)
    if any(
        i.flow is Flow.BARRIER and case.workload.execution.counts[i.index]
        for i in case.workload.execution.program.instructions
    ):
        cycles += (case.launch.warps_per_block - 1) * busiest_sm_cycles / case.launch.warps
    seconds = math.ceil(case.workload.waves) * cycles / case.clocks.sm
    return Roof("latency", "latency", seconds, per_instruction, 0.25)


def _dispatch_roof(case: Case) -> Roof:
    """Block dispatch: the chip starts so many blocks per cycle, however little each of them does."""
    clock = case.clocks.sm
    seconds = dispatch_cycles(case.gpu, clock, case.launch.grid.count, case.launch.warps_per_block) / clock
    nobody = (0.0,) * len(case.workload.execution.counts)
    return Roof("block dispatch", "dispatch", seconds, nobody, dispatch_rate(case.gpu, clock)[1])


def _sm_seconds(case: Case, sm_cycles: float) -> float:
    """Return the time the fullest SM needs for its part of ``sm_cycles`` summed over all SMs."""
    return sm_cycles / case.gpu.sm_count * imbalance(case) / case.clocks.sm
