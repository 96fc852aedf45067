"""Residency: more resident warps and what would have to give way; blocks that fill the SMs evenly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from warpwatt.core.advice import Change
from warpwatt.core.case import Case
from warpwatt.core.execution import Occupancy
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Resources
from warpwatt.core.units import binary_bytes
from warpwatt.emulate.workload import workload
from warpwatt.gpus.occupancy import occupancy as occupancy_of

LEAST_REGISTERS = 16


def occupancy(case: Case) -> Iterator[Change]:
    """Yield the case with twice the resident blocks, or as many as warps allow, if registers or memory limit.

    Caches are shared by more blocks then. That fewer registers may spill is not counted.
    """
    held, resources = case.workload.occupancy, case.kernel.resources
    wanted = min(2 * held.blocks_per_sm, held.limits["warps"], held.limits["grid"])
    if wanted <= held.blocks_per_sm:
        return
    fewer, launch, needs = _reduced(case, wanted)
    execution = replace(case.workload.execution, launch=launch)
    if needs:
        work = workload(execution, case.gpu, fewer)
        changed = replace(case, kernel=replace(case.kernel, resources=fewer), launch=launch, workload=work)
    elif held.limiter == "blocks":
        changed, needs = _with_resident_blocks(case, wanted), ["larger blocks"]
    else:
        return
    if changed.workload.occupancy.blocks_per_sm <= held.blocks_per_sm:
        return
    blocks = changed.workload.occupancy.blocks_per_sm
    warps = blocks * case.launch.warps_per_block
    text = f"keeping {warps} instead of {held.warps_per_sm} warps resident per SM"
    assert resources.registers >= fewer.registers
    yield Change("occupancy", text, changed, None, " and ".join(needs))


def _reduced(case: Case, wanted: int) -> tuple[Resources, Launch, list[str]]:
    """Return resources and launch that fit ``wanted`` blocks, and how they differ."""
    resources, launch, needs = case.kernel.resources, case.launch, []
    limits = case.workload.occupancy.limits
    if limits.get("registers", wanted) < wanted:
        registers = _registers(case, wanted)
        if registers is None:
            return resources, launch, []
        needs.append(f"{registers} instead of {resources.registers} registers per thread")
        needs[-1] += " (-maxrregcount, __launch_bounds__) without spills"
        resources = replace(resources, registers=registers)
    if limits.get("shared memory", wanted) < wanted:
        shared = resources.static_shared + launch.dynamic_shared
        size = _shared(case, resources, wanted)
        needs.append(f"{binary_bytes(size)} instead of {binary_bytes(shared)} of shared memory per block")
        static = min(resources.static_shared, size)
        resources = replace(resources, static_shared=static)
        launch = replace(launch, dynamic_shared=size - static)
    return resources, launch, needs


def _registers(case: Case, wanted: int) -> int | None:
    """Return the most registers per thread with which so many blocks fit."""
    resources = case.kernel.resources
    for registers in range(resources.registers - 1, LEAST_REGISTERS - 1, -1):
        held = occupancy_of(case.gpu, replace(resources, registers=registers), case.launch)
        if held.limits["registers"] >= wanted:
            return registers
    return None


def _shared(case: Case, resources: Resources, wanted: int) -> int:
    """Return the most shared memory per block, in bytes, with which so many blocks fit."""
    low, high = 0, resources.static_shared + case.launch.dynamic_shared
    plain, launch = replace(resources, static_shared=0), case.launch
    while low < high:
        middle = (low + high + 1) // 2
        held = occupancy_of(case.gpu, plain, replace(launch, dynamic_shared=middle))
        fits = held.limits.get("shared memory", wanted) >= wanted
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def _with_resident_blocks(case: Case, blocks: int) -> Case:
    held: Occupancy = case.workload.occupancy
    fuller = replace(held, blocks_per_sm=blocks, warps_per_sm=blocks * case.launch.warps_per_block)
    return replace(case, workload=replace(case.workload, occupancy=fuller))


NOTABLE = 1.02
"""Work of the fullest SM over the average one from which on it is looked at."""


def tail(case: Case) -> Iterator[Change]:
    """Yield the case whose work is done by whole waves of blocks; each block does a little more.

    A wave is what all SMs hold at once. A grid of less than a wave is cut to whole rounds of one block per
    SM.
    """
    blocks, sms = case.launch.grid.count, case.gpu.sm_count
    wave = max(1, case.workload.occupancy.blocks_per_sm) * sms
    unit = wave if blocks >= wave else sms
    even = blocks // unit * unit
    if not even or blocks < NOTABLE * even:
        return
    work = replace(case.workload, waves=even / wave)
    changed = replace(case, launch=replace(case.launch, grid=Dim3(even)), workload=work)
    text = f"spreading the work evenly: {even} instead of {blocks} blocks"
    fix = f"a grid-stride loop with a multiple of {unit} blocks, or smaller blocks"
    yield Change("tail", text, changed, None, fix)
