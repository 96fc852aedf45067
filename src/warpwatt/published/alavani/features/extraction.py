"""Program Feature Extraction Algorithm (PFEA): Algorithms 9 and 10 of Alavani's thesis, section 5.4."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from warpwatt.core.errors import InputError
from warpwatt.core.execution import Execution, Occupancy
from warpwatt.core.gpu import Gpu
from warpwatt.core.launch import Launch
from warpwatt.core.program import Access, Flow, Instruction, Program, Resources, Space
from warpwatt.program.inlining import expand_calls
from warpwatt.published.alavani.features import equations as eq
from warpwatt.published.alavani.features.constants import (
    Constants,
    published_constants,
    published_rules,
    thesis_constants,
)
from warpwatt.published.alavani.features.values import Convention, Features
from warpwatt.published.alavani.opclass import InstructionType, classify

_COMPUTE, _GLOBAL = InstructionType.COMPUTE, InstructionType.GLOBAL
_SHARED, _MISC = InstructionType.SHARED, InstructionType.MISC


def extract(
    program: Program,
    execution: Execution,
    resources: Resources,
    launch: Launch,
    gpu: Gpu,
    occupancy: Occupancy,
    convention: Convention = Convention.PUBLISHED,
    constants: Constants | None = None,
) -> Features:
    """Return the features of one launch.

    Parameters
    ----------
    program
        PTX, as in the thesis (SASS is counted too, but no published model was trained on it).
    execution
        Of this very program: its counts expand the loops.
    resources, launch, occupancy
        Registers, shared memory, geometry and theoretical occupancy.
    convention
        ``PUBLISHED`` for models trained on the released data, ``THESIS`` for the printed equations.
    constants
        Of the GPU; default: the convention's own.

    Raises
    ------
    UnsupportedGpuError
        If the convention has no constants for the GPU.
    InputError
        If the execution is of another program, such as the SASS of the same kernel.
    """
    other = execution.program
    if not other.is_same(program) and not other.is_same(expand_calls(program)):
        raise InputError(
            f"the execution is of {other.level} {other.name}, not of {program.level} {program.name}",
            hint="run the features' program, for example with --level ptx",
        )
    if constants is None:
        is_published = convention is Convention.PUBLISHED
        constants = published_constants(gpu.name) if is_published else thesis_constants(gpu)
    counts = count(execution, constants.latency)
    return combine(counts, resources, launch, occupancy, constants, convention)


def combine(
    counts: Counts,
    resources: Resources,
    launch: Launch,
    occupancy: Occupancy,
    constants: Constants,
    convention: Convention,
) -> Features:
    """Return the features from the counts of one warp: repeat them per wave, apply the equations."""
    published = convention is Convention.PUBLISHED
    blocks, size, threads = launch.grid.count, launch.block.count, launch.threads
    waves = eq.pfea_waves(blocks, size, constants.sm_count, constants.max_threads_per_sm)
    executed = {kind: waves * times for kind, times in counts.executed.items()}
    if published:
        executed[_MISC] = waves * published_misc(counts)
    loads, stores, glob = waves * counts.loads, waves * counts.stores, executed[_GLOBAL]
    cycles = {kind: waves * latency for kind, latency in counts.latency.items()}
    cycles[_GLOBAL] = constants.global_latency.total(threads, glob, loads, stores)
    cycles[_MISC] = executed[_MISC] * constants.latency("misc")
    averaged = executed if published else counts.static
    return Features(
        avg_comp_lat=eq.average(cycles[_COMPUTE], averaged[_COMPUTE]),
        avg_glob_lat=eq.average(cycles[_GLOBAL], averaged[_GLOBAL]),
        avg_misc_lat=eq.average(cycles[_MISC], averaged[_MISC]),
        avg_shar_lat=eq.average(cycles[_SHARED], averaged[_SHARED]),
        branch=waves * counts.branches,
        comp_inst_kernel=counts.static[_COMPUTE],
        comp_inst_sm=executed[_COMPUTE],
        comp_lat_sm=cycles[_COMPUTE],
        glob_inst_kernel=counts.static[_GLOBAL] + (counts.static_params if published else 0),
        glob_inst_sm=glob,
        glob_lat_sm=cycles[_GLOBAL],
        glob_load_sm=loads,
        glob_store_sm=stores,
        misc_inst_kernel=counts.static[_MISC],
        misc_inst_sm=executed[_MISC],
        misc_lat_sm=cycles[_MISC],
        shar_inst_kernel=counts.static[_SHARED],
        shar_inst_sm=executed[_SHARED],
        shar_lat_sm=cycles[_SHARED],
        sm_active=size if published else min(blocks, constants.sm_count),
        n_warps=blocks / eq.WARP_SIZE if published else occupancy.warps_per_sm,
        waves=eq.block_waves_published(blocks, constants.sm_count) if published else waves,
        total_threads=threads,
        inst_issue_cycles=_issue_cycles(constants, threads, sum(executed.values()), published=published),
        cache_penalty=_cache_penalty(constants, threads, glob, cycles[_GLOBAL], waves, published=published),
        glb_penalty=_global_penalty(constants, threads, glob, published=published),
        sh_penalty=_shared_penalty(constants, threads, executed[_SHARED], published=published),
        occupancy=occupancy.theoretical,
        reg_thread=resources.registers,
        shmem_block=resources.static_shared + launch.dynamic_shared,
        block_size=size,
        grid_size=blocks,
        assumptions=constants.borrowed,
    )


def _issue_cycles(constants: Constants, threads: int, instructions: float, *, published: bool) -> float:
    """(5.1)."""
    if published:
        return eq.issue_cycles_published(threads, instructions, constants.dispatch_units)
    return eq.issue_cycles(threads, instructions, constants.warp_schedulers, constants.dispatch_units)


def published_misc(counts: Counts) -> float:
    """Return the released miscellaneous instructions per wave, loops not expanded.

    The tables hold far more of them than the PTX has (63 per wave for the nn kernel, which has 2): three
    per compute instruction, four per branch and two per kernel in the program text. This rule, found in
    the data, is exact for small kernels and close for most others.
    """
    rules = published_rules()
    text = rules.misc_per_compute * counts.static[_COMPUTE] + rules.misc_per_branch * counts.static_branches
    return text + rules.misc_per_kernel


def _cache_penalty(
    constants: Constants, threads: int, glob: float, glob_lat: float, waves: int, *, published: bool
) -> float:
    """(5.2); the latency of one access is the average over those executed."""
    latency = eq.average(glob_lat, glob)
    if not published:
        return eq.cache_penalty(threads, glob, waves, constants.l2_size, eq.GLOBAL_ACCESS_BYTES, latency)
    rules = published_rules()
    waves = eq.wave_estimate_published(threads, rules.wave_slope_per_thread, rules.wave_intercept)
    latency = glob_lat if constants.cache_latency_is_total else latency
    return eq.cache_penalty(threads, glob, waves, constants.l2_size, rules.cache_access_bytes, latency)


def _global_penalty(constants: Constants, threads: int, glob: float, *, published: bool) -> float | None:
    """(5.3), zero without global memory instructions, None without a throughput fit."""
    fit = constants.global_throughput
    if fit is None or not glob:
        return None if fit is None else 0.0
    if published:
        clock = constants.memory_clock_ghz
        return eq.memory_penalty_published(threads, glob, fit(glob), clock, constants.batch)
    units = constants.load_store_units
    return eq.global_penalty(threads, glob, fit(glob), units, eq.GLOBAL_ACCESS_BYTES)


def _shared_penalty(constants: Constants, threads: int, shar: float, *, published: bool) -> float | None:
    """(5.4), zero without shared memory instructions, None without a throughput fit."""
    fit = constants.shared_throughput
    if fit is None or not shar:
        return None if fit is None else 0.0
    if published:
        batch = constants.batch if constants.shared_whole_batches else None
        plain = eq.memory_penalty_published(threads, shar, fit(shar), constants.memory_clock_ghz, batch)
        conflict = constants.shared_conflict
        return plain * (conflict.factor if threads > conflict.above_threads else 1)
    return eq.shared_penalty(threads, shar, fit(shar), constants.load_store_units, constants.sm_count)


@dataclass(frozen=True, slots=True)
class Counts:
    """Instructions of one warp in one wave.

    ``static`` counts the program text by type without parameter loads, ``executed`` what runs, ``latency``
    its cycles (global memory excepted, whose latency depends on the launch). ``branches``, ``loads`` and
    ``stores`` (global memory) are executed; ``static_branches`` and ``static_params`` (``ld.param``) are in
    the text.
    """

    static: Mapping[InstructionType, int]
    executed: Mapping[InstructionType, float]
    latency: Mapping[InstructionType, float]
    branches: float
    loads: float
    stores: float
    static_branches: int
    static_params: int


def count(execution: Execution, latency: Callable[[str], float]) -> Counts:
    """Count the instructions of an execution's program; ``latency`` gives the cycles of an operation.

    Parameter loads run from constant memory: they are counted apart, in the text only.
    """
    instructions = execution.program.instructions
    static = dict.fromkeys(InstructionType, 0)
    executed = dict.fromkeys(InstructionType, 0.0)
    cycles = dict.fromkeys(InstructionType, 0.0)
    branches = loads = stores = 0.0
    for instruction, times in zip(instructions, repetitions(execution), strict=True):
        kind = classify(instruction)
        if is_param(instruction):
            continue
        static[kind.type] += 1
        executed[kind.type] += times
        if kind.type is InstructionType.GLOBAL:
            loads += 0.0 if is_store(instruction) else times
            stores += times if is_store(instruction) else 0.0
        else:
            cycles[kind.type] += times * latency(kind.operation)
        branches += times if is_branch(instruction) else 0.0
    return Counts(
        static,
        executed,
        cycles,
        branches=branches,
        loads=loads,
        stores=stores,
        static_branches=sum(map(is_branch, instructions)),
        static_params=sum(map(is_param, instructions)),
    )


def repetitions(execution: Execution) -> tuple[float, ...]:
    """Return how often a warp executes each instruction, at least once.

    The thesis counts a block once, however few threads reach it, and times its trip count in a loop.
    """
    warps = execution.launch.warps
    return tuple(max(1.0, times / warps) for times in execution.counts)


def is_branch(instruction: Instruction) -> bool:
    """Whether it jumps; returns and barriers do not count (one branch in the thesis' nn kernel)."""
    return instruction.flow is Flow.JUMP


def is_param(instruction: Instruction) -> bool:
    """Whether it loads a parameter (``ld.param``)."""
    memory = instruction.memory
    return memory is not None and memory.space is Space.PARAM and memory.access is Access.LOAD


def is_store(instruction: Instruction) -> bool:
    """Whether it writes memory without reading it back."""
    return instruction.memory is not None and instruction.memory.access in (Access.STORE, Access.REDUCTION)
