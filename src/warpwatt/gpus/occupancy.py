"""Resident blocks per SM: the rules of NVIDIA's occupancy calculator (``cuda_occupancy.h``), from 2.0 on.

Where the calculator leaves a choice open: shared memory beyond 48 KiB per block is taken to be opted in
to, as a launch that needs it must do, and without a preferred carve-out the driver is taken to choose the
smallest that does not lower occupancy (before 7.0: the largest, its documented default).
"""

from __future__ import annotations

from warpwatt.core.execution import Occupancy
from warpwatt.core.gpu import Capability, Gpu
from warpwatt.core.launch import Launch
from warpwatt.core.program import Resources

# Order in which equal limits are named: those of the machine before those of the kernel.
_ORDER = ("warps", "blocks", "registers", "shared memory", "barriers")


def occupancy(gpu: Gpu, resources: Resources, launch: Launch) -> Occupancy:
    """Return how many blocks and warps an SM holds and what limits them.

    ``limits`` has an entry only for resources the kernel uses. No block fits if a limit is 0; why is
    for :func:`~warpwatt.gpus.launchable.check_launch` to say.

    >>> from warpwatt.core.launch import Dim3, Launch
    >>> from warpwatt.core.program import Resources
    >>> from warpwatt.gpus import find
    >>> o = occupancy(find("h200"), Resources(registers=40), Launch(Dim3(9999), Dim3(256)))
    >>> o.blocks_per_sm, o.limiter, o.theoretical
    (6, 'registers', 0.75)
    """
    cap = gpu.capability
    warps = launch.warps_per_block
    shared = shared_per_block(cap, resources, launch)
    limits = {
        "warps": cap.max_warps_per_sm // warps if launch.block.count <= cap.max_threads_per_block else 0,
        "blocks": cap.max_blocks_per_sm,
    }
    if resources.registers:
        limits["registers"] = _register_limit(cap, resources.registers, warps)
    if cap.barriers_per_sm is not None and resources.barriers:
        limits["barriers"] = cap.barriers_per_sm // resources.barriers
    carveout = _carveout(cap, shared, launch.carveout, min(limits.values()))
    if shared:
        fits = shared <= cap.max_shared_per_block + cap.reserved_shared_per_block
        limits["shared memory"] = carveout // shared if fits else 0
    blocks = min(limits.values())
    limiter = next(name for name in _ORDER if limits.get(name) == blocks)
    limits["grid"] = -(-launch.grid.count // gpu.sm_count)
    return Occupancy(
        blocks_per_sm=blocks,
        warps_per_sm=blocks * warps,
        max_warps_per_sm=cap.max_warps_per_sm,
        limiter="grid" if limits["grid"] < blocks else limiter,
        limits=limits,
        shared_per_block=shared,
        registers_per_block=_registers_per_warp(cap, resources.registers) * warps,
        shared_carveout=carveout,
    )


def shared_per_block(cap: Capability, resources: Resources, launch: Launch) -> int:
    """Return the shared memory a block occupies in bytes, what the driver reserves included, rounded up."""
    used = resources.static_shared + launch.dynamic_shared + cap.reserved_shared_per_block
    return _round_up(used, cap.shared_allocation_granularity)


def _round_up(value: int, granularity: int) -> int:
    return -(-value // granularity) * granularity


def _registers_per_warp(cap: Capability, registers: int) -> int:
    return _round_up(registers * cap.warp_size, cap.register_allocation_granularity)


def _register_limit(cap: Capability, registers: int, warps: int) -> int:
    """Return the blocks whose registers fit; an SM gives each scheduler an equal part of the file."""
    per_warp = _registers_per_warp(cap, registers)
    # The launch check assumes warps on all partitions. 6.0 has two, but refuses what 6.1 (four)
    # could not run.
    partitions = 4 if cap.version == "6.0" else cap.warp_allocation_granularity
    if (
        registers > cap.max_registers_per_thread
        or per_warp * _round_up(warps, partitions) > cap.max_registers_per_block
    ):
        return 0
    if cap.registers_per_sm // partitions // per_warp * partitions < warps:
        return 0
    parts = cap.warp_allocation_granularity
    return cap.registers_per_sm // parts // per_warp * parts // warps


def _carveout(cap: Capability, shared: int, percent: int | None, blocks: int) -> int:
    """Return the shared memory per SM in bytes that the driver configures for blocks of ``shared`` bytes."""
    if percent is not None:
        preferred = _at_least(cap, cap.max_shared_per_sm * percent // 100)
        return preferred if preferred >= shared else _too_small(cap, shared)
    if int(cap.version.split(".")[0]) < 7:
        return cap.max_shared_per_sm
    return _at_least(cap, shared * blocks)


def _too_small(cap: Capability, shared: int) -> int:
    """Return what replaces a preferred carve-out that holds no block: the next that does, or the largest."""
    return cap.max_shared_per_sm if int(cap.version.split(".")[0]) < 7 else _at_least(cap, shared)


def _at_least(cap: Capability, size: int) -> int:
    """Return the smallest carve-out of at least ``size`` bytes, or the largest there is."""
    return min((c for c in cap.shared_carveouts if c >= size), default=max(cap.shared_carveouts))
