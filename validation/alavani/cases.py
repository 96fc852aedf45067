"""Cases under the thesis' own protocol: every branch is taken, loop counts are given, accesses coalesce."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from warpwatt.core.case import Case
from warpwatt.core.execution import Execution, Traffic, Workload
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Access, Level, Space
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import default_clocks, find, occupancy
from warpwatt.program.cfg import control_flow
from warpwatt.program.loops import natural_loops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.core.gpu import Gpu
    from warpwatt.core.program import Kernel, Program

KERNELS = ROOT / "examples" / "published"
TARGET = "sm_75"
"""The oldest target the pinned compilers have; the GPUs of the thesis are older."""


@dataclass(frozen=True, slots=True)
class Published:
    """One of our kernels that matches a published row, with the launch we take it to have had."""

    row: tuple[str, str]
    kernel: Kernel
    launch: Launch
    trips: tuple[float, ...]
    reason: str


def published_kernels() -> tuple[Published, ...]:
    """Compile the kernels of ``launches.toml`` (seconds, cached afterwards)."""
    with (Path(__file__).parent / "data" / "alavani_thesis" / "launches.toml").open("rb") as file:
        entries = tomllib.load(file)["kernel"]
    options = CompileOptions(levels=frozenset({Level.PTX}))
    return tuple(
        Published(
            tuple(e["row"]),
            load_kernel(KERNELS / e["file"], TARGET, options, e["name"]),
            Launch(Dim3(*e["grid"]), Dim3(*e["block"]), dynamic_shared=e.get("shared", 0)),
            tuple(e.get("trips", ())),
            e["reason"],
        )
        for e in entries
    )


def thesis_case(published: Published, gpu: str) -> Case:
    """Return the case on a GPU at its default clocks, registers capped at what it allows."""
    device = find(gpu)
    most = device.capability.max_registers_per_thread
    resources = replace(published.kernel.resources, registers=min(most, published.kernel.resources.registers))
    kernel = replace(published.kernel, resources=resources)
    program = kernel.program()
    launch = published.launch
    counts = tuple(launch.warps * n for n in executions(program, published.trips))
    lanes = (launch.threads / launch.warps,) * len(counts)
    execution = Execution(program, launch, counts, lanes)
    return Case(kernel, _workload(kernel, execution, device), launch, device, default_clocks(device))


def executions(program: Program, trips: Sequence[float]) -> tuple[float, ...]:
    """Return how often a warp runs each instruction: the product of the trips of the loops around it.

    Raises
    ------
    ValueError
        If the program has another number of loops than trips are given.
    """
    flow = control_flow(program)
    loops = natural_loops(flow).loops
    if len(loops) != len(trips):
        raise ValueError(f"{program.name} has {len(loops)} loops, {len(trips)} trip counts are given")
    times = [1.0] * len(flow.blocks)
    for loop, count in zip(loops, trips, strict=True):
        for block in loop.blocks:
            times[block] *= count
    return tuple(times[b] for b in flow.block_of)


def _workload(kernel: Kernel, execution: Execution, device: Gpu) -> Workload:
    """Return a workload without caches: DRAM sees every byte that is asked for."""
    resident = occupancy(device, kernel.resources, execution.launch)
    blocks = execution.launch.grid.count
    traffic = Traffic(_bytes(execution, stores=False), _bytes(execution, stores=True))
    return Workload(
        execution,
        resident,
        active_sms=min(blocks, device.sm_count),
        waves=blocks / (resident.blocks_per_sm * device.sm_count),
        shared_wavefronts=sum(
            n
            for i, n in zip(execution.program.instructions, execution.counts, strict=True)
            if i.memory is not None and i.memory.space is Space.SHARED
        ),
        l1=traffic,
        l2=traffic,
        dram=traffic,
    )


def _bytes(execution: Execution, *, stores: bool) -> float:
    columns = zip(execution.program.instructions, execution.counts, execution.lanes, strict=True)
    return sum(
        i.memory.bytes * count * lanes
        for i, count, lanes in columns
        if i.memory is not None
        and i.memory.space is Space.GLOBAL
        and (i.memory.access is Access.STORE) == stores
    )
