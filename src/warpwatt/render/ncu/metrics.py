"""A prediction as metrics of Nsight Compute: their names, their units (``--print-units base``), their values.

Names and meanings are those of NVIDIA's Nsight Compute documentation (Kernel Profiling Guide, "Metrics
Reference", and the section files that ship with the tool). What no model knows is left out, never zero.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from warpwatt.core.execution import Workload
from warpwatt.core.launch import WARP_SIZE
from warpwatt.core.prediction import Prediction
from warpwatt.core.program import Access, Instruction, Space, Unit
from warpwatt.core.warps import Stall
from warpwatt.emulate.workload import OFF_CHIP
from warpwatt.models.bounds import dram_peak
from warpwatt.render.rates import rates
from warpwatt.render.words import COMPUTE_UNITS, MEMORY_UNITS

Value = float | int | str
SECTOR_BYTES = 32
NANO = 1e9
PERCENT = 100.0
COUNTED = ("byte", "cycle", "inst", "ns", "request", "sector")
"""Units of which there are only whole ones."""
FLOATING = {Unit.FP16: "h", Unit.FP32: "f", Unit.FP64: "d"}
PIPES = {
    "fp32": "fma",
    "fp64": "fp64",
    "fp16": "fp16",
    "int": "alu",
    "sfu": "xu",
    "lsu": "lsu",
    "tensor": "tensor",
}
"""Keys of ``Timing.utilisation`` to Nsight's pipelines."""
STALLS = {
    Stall.BARRIER: "barrier",
    Stall.BRANCH_RESOLVING: "branch_resolving",
    Stall.DISPATCH: "dispatch_stall",
    Stall.DRAIN: "drain",
    Stall.IMC_MISS: "imc_miss",
    Stall.LG_THROTTLE: "lg_throttle",
    Stall.LONG_SCOREBOARD: "long_scoreboard",
    Stall.MATH_PIPE_THROTTLE: "math_pipe_throttle",
    Stall.MEMBAR: "membar",
    Stall.MIO_THROTTLE: "mio_throttle",
    Stall.NO_INSTRUCTION: "no_instruction",
    Stall.NOT_SELECTED: "not_selected",
    Stall.SELECTED: "selected",
    Stall.SHORT_SCOREBOARD: "short_scoreboard",
    Stall.SLEEPING: "sleeping",
    Stall.TEX_THROTTLE: "tex_throttle",
    Stall.WAIT: "wait",
}


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its name, its unit as ncu prints it in base units, its value."""

    name: str
    unit: str
    value: Value


def metrics(prediction: Prediction) -> tuple[Metric, ...]:
    """Return every metric that the prediction knows, by name; finite numbers only."""
    parts = (_time, _throughput, _traffic, _accesses, _instructions, _operations, _warps, _launch, _device)
    found = [_whole(metric) for part in parts for metric in part(prediction) if _finite(metric.value)]
    return tuple(sorted(found, key=lambda metric: metric.name))


def _whole(metric: Metric) -> Metric:
    """Return a sum of things that are counted as a whole number."""
    if (
        metric.unit in COUNTED
        and metric.name.endswith((".sum", ".max"))
        and not isinstance(metric.value, str)
    ):
        return replace(metric, value=round(metric.value))
    return metric


def _finite(value: Value) -> bool:
    return isinstance(value, str) or math.isfinite(value)


def _time(p: Prediction) -> Iterator[Metric]:
    seconds, clocks = p.time.value, p.case.clocks
    yield Metric("gpu__time_duration.sum", "ns", seconds * NANO)
    for unit in ("sm", "smsp", "gpc"):
        yield Metric(f"{unit}__cycles_elapsed.avg", "cycle", seconds * clocks.sm)
        yield Metric(f"{unit}__cycles_elapsed.max", "cycle", seconds * clocks.sm)
        yield Metric(f"{unit}__cycles_elapsed.avg.per_second", "hz", clocks.sm)
    yield Metric("dram__cycles_elapsed.avg.per_second", "hz", clocks.memory)
    yield Metric("warpwatt__power.avg", "W", p.power.value)
    yield Metric("warpwatt__energy.sum", "J", p.energy.value)


def _throughput(p: Prediction) -> Iterator[Metric]:
    """Yield DRAM's share of its data-sheet peak, as Nsight has it, and the busy shares of the other units."""
    busy = p.timing.busy
    suffix = "throughput.avg.pct_of_peak_sustained_elapsed"
    dram = rates(p)["dram"].rate / dram_peak(p.case)
    memory = [share for key, share in busy.items() if key in MEMORY_UNITS and key != "dram"]
    compute = [share for key, share in busy.items() if key in COMPUTE_UNITS or key == "issue"]
    yield Metric(f"gpu__dram_{suffix}", "%", PERCENT * dram)
    yield Metric(f"dram__{suffix}", "%", PERCENT * dram)
    yield Metric(f"gpu__compute_memory_{suffix}", "%", PERCENT * max((*memory, dram)))
    yield Metric(f"sm__{suffix}", "%", PERCENT * max(compute, default=0.0))
    for key, unit in (("l2", "lts__"), ("l1", "l1tex__")):
        if key in busy:
            yield Metric(f"{unit}{suffix}", "%", PERCENT * busy[key])
    for key, pipe in PIPES.items():
        if key in busy:
            name = f"sm__inst_executed_pipe_{pipe}.avg.pct_of_peak_sustained_active"
            yield Metric(name, "%", PERCENT * busy[key])


def _traffic(p: Prediction) -> Iterator[Metric]:
    work, seconds = p.case.workload, p.time.value
    for name, value in (
        ("dram__bytes.sum", work.dram.total),
        ("dram__bytes_read.sum", work.dram.read),
        ("dram__bytes_write.sum", work.dram.written),
        ("lts__t_bytes.sum", work.l2.total),
        ("l1tex__t_bytes.sum", work.l1.total),
    ):
        yield Metric(name, "byte", value)
        if seconds > 0:
            yield Metric(f"{name}.per_second", "byte/s", value / seconds)
    for name, value in (
        ("dram__sectors_read.sum", work.dram.read),
        ("dram__sectors_write.sum", work.dram.written),
        ("lts__t_sectors.sum", work.l2.total),
        ("lts__t_sectors_op_read.sum", work.l2.read),
        ("lts__t_sectors_op_write.sum", work.l2.written),
    ):
        yield Metric(name, "sector", value / SECTOR_BYTES)
    yield Metric("dram__bytes.sum.peak_sustained", "byte/cycle", dram_peak(p.case) / p.case.clocks.memory)
    yield from _hits(work)


def _hits(work: Workload) -> Iterator[Metric]:
    """Yield hit rates over all accesses, weighed by their sectors."""
    sectors = sum(hit.sectors for hit in work.hits.values())
    first = sum(hit.sectors * hit.l1_hits for hit in work.hits.values())
    second = sum(hit.sectors * (1 - hit.l1_hits) * hit.l2_hits for hit in work.hits.values())
    if sectors > 0:
        yield Metric("l1tex__t_sector_hit_rate.pct", "%", PERCENT * first / sectors)
    if sectors > first:
        yield Metric("lts__t_sector_hit_rate.pct", "%", PERCENT * second / (sectors - first))


def _accesses(p: Prediction) -> Iterator[Metric]:
    """Yield requests and sectors of global and local memory, and wavefronts of shared memory."""
    work = p.case.workload
    sums: dict[str, float] = defaultdict(float)
    for index, hit in work.hits.items():
        place = _place(work.execution.program.instructions[index])
        if place:
            sums[f"requests_pipe_lsu_mem_{place}"] += hit.requests
            sums[f"sectors_pipe_lsu_mem_{place}"] += hit.sectors
    for name, value in sums.items():
        unit = "request" if name.startswith("requests") else "sector"
        yield Metric(f"l1tex__t_{name}.sum", unit, value)
        requests = sums.get(name.replace("sectors", "requests"), 0.0)
        if unit == "sector" and requests > 0:
            yield Metric(f"l1tex__average_t_sectors_per_request_{name.removeprefix('sectors_')}.ratio",
                "sector/request", value / requests)  # fmt: skip
    yield from _shared(work)


def _place(instruction: Instruction) -> str:
    """Return Nsight's name of an off-chip access, ``global_op_ld``; empty where there is none."""
    memory = instruction.memory
    operations = {Access.LOAD: "ld", Access.STORE: "st", Access.ATOMIC: "atom", Access.REDUCTION: "red"}
    if memory is None or memory.space not in OFF_CHIP or memory.access not in operations:
        return ""
    return f"{'local' if memory.space is Space.LOCAL else 'global'}_op_{operations[memory.access]}"


def _shared(work: Workload) -> Iterator[Metric]:
    execution = work.execution
    seen: dict[str, float] = defaultdict(float)
    least: dict[str, float] = defaultdict(float)
    for index, pattern in execution.accesses.items():
        memory = execution.program.instructions[index].memory
        if memory is None or memory.space is not Space.SHARED:
            continue
        operation = {Access.LOAD: "_op_ld", Access.STORE: "_op_st"}.get(memory.access)
        executed = execution.counts[index] * pattern.requests
        for name in ("", operation) if operation else ("",):
            seen[name] += executed * pattern.wavefronts
            least[name] += executed * pattern.ideal
    for name, wavefronts in seen.items():
        yield Metric(f"l1tex__data_pipe_lsu_wavefronts_mem_shared{name}.sum", "", wavefronts)
        conflicts = max(0.0, wavefronts - least[name])
        yield Metric(f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared{name}.sum", "", conflicts)


def _instructions(p: Prediction) -> Iterator[Metric]:
    execution, gpu = p.case.workload.execution, p.case.gpu
    warps = execution.warp_instructions
    threads = sum(n * lanes for n, lanes in zip(execution.counts, execution.lanes, strict=True))
    cycles = p.time.value * p.case.clocks.sm
    for unit, parts in (("sm", gpu.sm_count), ("smsp", gpu.sm_count * gpu.capability.warp_schedulers)):
        yield Metric(f"{unit}__inst_executed.sum", "inst", warps)
        yield Metric(f"{unit}__inst_executed.avg", "inst", warps / parts)
        yield Metric(f"{unit}__thread_inst_executed.sum", "inst", threads)
        if cycles > 0:
            yield Metric(f"{unit}__inst_executed.avg.per_cycle_elapsed", "inst/cycle", warps / parts / cycles)
    if warps > 0:
        yield Metric("smsp__thread_inst_executed_per_inst_executed.ratio", "", threads / warps)
    tensor = sum(n for i, n in zip(execution.program.instructions, execution.counts, strict=True)
        if i.unit is Unit.TENSOR)  # fmt: skip
    yield Metric("sm__inst_executed_pipe_tensor.sum", "inst", tensor)


def _operations(p: Prediction) -> Iterator[Metric]:
    """Yield floating-point instructions of threads, such that Nsight's formula gives the operations.

    That is one per add and multiply and two per fused multiply-add; a packed instruction counts twice.
    """
    execution = p.case.workload.execution
    sums = {f"{letter}{kind}": 0.0 for letter in FLOATING.values() for kind in ("add", "mul", "fma")}
    for one, n, lanes in zip(execution.program.instructions, execution.counts, execution.lanes, strict=True):
        letter, kind = FLOATING.get(one.unit, ""), _kind(one.opcode)
        if letter and one.flops > 0 and kind:
            sums[letter + kind] += n * lanes * one.flops / (2 if kind == "fma" else 1)
    cycles = p.time.value * p.case.clocks.sm
    for name, value in sums.items():
        for unit in ("sm", "smsp"):
            whole = f"{unit}__sass_thread_inst_executed_op_{name}_pred_on.sum"
            yield Metric(whole, "inst", value)
            if cycles > 0:
                yield Metric(f"{whole}.per_cycle_elapsed", "inst/cycle", value / cycles)
        if cycles > 0 and name.endswith("fma"):
            twice = f"derived__smsp__sass_thread_inst_executed_op_{name}_pred_on_x2"
            yield Metric(twice, "inst/cycle", 2 * value / cycles)


def _kind(opcode: str) -> str:
    """Return add, mul or fma; empty for what Nsight counts nowhere.

    >>> _kind("FFMA.FTZ"), _kind("add.rn.f64"), _kind("HMUL2"), _kind("MUFU.RCP")
    ('fma', 'add', 'mul', '')
    """
    text = opcode.lower()
    if "fma" in text or text.startswith("mad"):
        return "fma"
    return next((kind for word, kind in (("add", "add"), ("sub", "add"), ("mul", "mul")) if word in text), "")


def _warps(p: Prediction) -> Iterator[Metric]:
    held = p.case.workload.occupancy
    yield Metric("sm__maximum_warps_per_active_cycle_pct", "%", PERCENT * held.theoretical)
    yield Metric("sm__maximum_warps_avg_per_active_cycle", "warp", held.warps_per_sm)
    warps = p.timing.warps
    if warps is None or not warps.duration or not warps.issued:
        return
    achieved = warps.active * warps.schedulers
    yield Metric("sm__warps_active.avg.per_cycle_active", "warp", achieved)
    yield Metric("sm__warps_active.avg.pct_of_peak_sustained_active", "%",
        PERCENT * achieved / held.max_warps_per_sm)  # fmt: skip
    yield Metric("smsp__warps_active.avg.per_cycle_active", "warp", warps.active)
    yield Metric("smsp__warps_eligible.avg.per_cycle_active", "warp", warps.eligible)
    issued = warps.issued / warps.duration / warps.schedulers
    yield Metric("smsp__issue_active.avg.per_cycle_active", "", issued)
    yield Metric("smsp__issue_active.avg.pct_of_peak_sustained_active", "%", PERCENT * issued)
    yield Metric("smsp__average_warp_latency_per_inst_issued.ratio", "cycle", warps.total / warps.issued)
    yield from _stalls(warps.per_issue())


def _stalls(cycles: Mapping[Stall, float]) -> Iterator[Metric]:
    for stall, name in STALLS.items():
        whole = f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio"
        yield Metric(whole, "inst", cycles.get(stall, 0.0))


def _launch(p: Prediction) -> Iterator[Metric]:
    launch, held, resources = p.case.launch, p.case.workload.occupancy, p.case.kernel.resources
    yield Metric("launch__grid_size", "", launch.grid.count)
    yield Metric("launch__block_size", "", launch.block.count)
    yield Metric("launch__thread_count", "thread", launch.grid.count * launch.block.count)
    yield Metric("launch__registers_per_thread", "register/thread", resources.registers)
    yield Metric("launch__shared_mem_per_block_static", "byte/block", resources.static_shared)
    yield Metric("launch__shared_mem_per_block_dynamic", "byte/block", launch.dynamic_shared)
    yield Metric("launch__shared_mem_per_block", "byte/block", held.shared_per_block)
    yield Metric("launch__shared_mem_config_size", "byte", held.shared_carveout)
    yield Metric("launch__waves_per_multiprocessor", "", p.case.workload.waves)
    limits = {"blocks": "blocks", "registers": "registers", "shared memory": "shared_mem", "warps": "warps"}
    for limit, name in limits.items():
        if limit in held.limits:
            yield Metric(f"launch__occupancy_limit_{name}", "block", held.limits[limit])


def _device(p: Prediction) -> Iterator[Metric]:
    gpu = p.case.gpu
    major, _, minor = gpu.capability.version.partition(".")
    yield Metric("device__attribute_display_name", "", gpu.name)
    yield Metric("device__attribute_multiprocessor_count", "", gpu.sm_count)
    yield Metric("device__attribute_compute_capability_major", "", int(major))
    yield Metric("device__attribute_compute_capability_minor", "", int(minor))
    yield Metric("device__attribute_max_warps_per_multiprocessor", "", gpu.capability.max_warps_per_sm)
    yield Metric("device__attribute_warp_size", "", WARP_SIZE)
    yield Metric("device__attribute_l2_cache_size", "", gpu.l2_size)
