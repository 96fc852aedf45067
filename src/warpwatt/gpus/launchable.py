"""What the driver would refuse to launch, with the limit, the GPU and the fix in the message."""

from __future__ import annotations

from collections.abc import Iterator

from warpwatt.core.errors import LaunchError
from warpwatt.core.gpu import Gpu
from warpwatt.core.launch import Launch
from warpwatt.core.program import Resources
from warpwatt.gpus.occupancy import occupancy

# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
_MAX_GRID_X = 2**31 - 1
_MAX_GRID = 65535  # y and z; x too before 3.0
_MAX_BLOCK_Z = 64
_PORTABLE_CLUSTER = 8
_MAX_CLUSTER = 16  # with the non-portable size allowed; none before 9.0


def check_launch(gpu: Gpu, resources: Resources, launch: Launch) -> None:
    """Raise ``LaunchError`` if ``gpu`` would refuse the launch, for the first reason found.

    >>> from warpwatt.core.launch import Dim3, Launch
    >>> from warpwatt.core.program import Resources
    >>> from warpwatt.gpus import find
    >>> check_launch(find("h200"), Resources(registers=32), Launch(Dim3(1), Dim3(2048)))
    Traceback (most recent call last):
    ...
    warpwatt.core.errors.LaunchError: a block of 2048 threads, but NVIDIA H200 allows 1024
    """
    for problems in (_dimensions, _cluster, _registers, _shared, _residency):
        for message, hint in problems(gpu, resources, launch):
            raise LaunchError(message, hint=hint)


def _dimensions(gpu: Gpu, resources: Resources, launch: Launch) -> Iterator[tuple[str, str]]:
    """Yield extents of grid and block beyond their limits."""
    cap, grid, block = gpu.capability, launch.grid, launch.block
    if block.count > cap.max_threads_per_block:
        yield (
            f"a block of {block.count} threads, but {gpu.name} allows {cap.max_threads_per_block}",
            f"--block {cap.max_threads_per_block} or smaller",
        )
    if block.z > _MAX_BLOCK_Z:
        yield (
            f"block z is {block.z}, but {gpu.name} allows {_MAX_BLOCK_Z}",
            "put the large extent of --block in x",
        )
    if resources.max_threads is not None and block.count > resources.max_threads:
        yield (
            f"a block of {block.count} threads, but the kernel was compiled for {resources.max_threads}",
            f"--block {resources.max_threads} or smaller, or a larger __launch_bounds__",
        )
    widest = _MAX_GRID if cap.version.startswith("2.") else _MAX_GRID_X
    for axis, extent, limit in (("x", grid.x, widest), ("y", grid.y, _MAX_GRID), ("z", grid.z, _MAX_GRID)):
        if extent > limit:
            fix = "put the large extent of --grid in x" if axis != "x" else "give each thread more to do"
            yield f"grid {axis} is {extent}, but {gpu.name} allows {limit}", fix


def _cluster(gpu: Gpu, _: Resources, launch: Launch) -> Iterator[tuple[str, str]]:
    """Yield clusters the GPU does not have, that are too large, or that do not divide the grid."""
    cluster, grid = launch.cluster, launch.grid
    if cluster.count == 1:
        return
    if int(gpu.capability.version.split(".")[0]) < 9:
        yield (
            f"a cluster of {cluster}, but {gpu.name} has no clusters",
            f"leave out --cluster: it needs compute capability 9.0, this is {gpu.capability.version}",
        )
    elif cluster.count > _MAX_CLUSTER:
        yield (
            f"a cluster of {cluster.count} blocks, but {gpu.name} allows {_MAX_CLUSTER}",
            f"--cluster {_PORTABLE_CLUSTER} or smaller is portable",
        )
    pairs = ("x", grid.x, cluster.x), ("y", grid.y, cluster.y), ("z", grid.z, cluster.z)
    for axis, blocks, together in pairs:
        if blocks % together:
            yield (
                f"grid {axis} is {blocks}, no multiple of the cluster's {together}",
                "change --grid or --cluster",
            )


def _registers(gpu: Gpu, resources: Resources, launch: Launch) -> Iterator[tuple[str, str]]:
    """Yield more registers than a thread or a block may have."""
    cap, used = gpu.capability, resources.registers
    if used > cap.max_registers_per_thread:
        yield (
            f"{used} registers per thread, but {gpu.name} has {cap.max_registers_per_thread}",
            f"compile with -maxrregcount={cap.max_registers_per_thread}",
        )
    elif occupancy(gpu, resources, launch).limits.get("registers") == 0:
        most = f"a block of {gpu.name} has {cap.max_registers_per_block} registers"
        yield (
            f"{used} registers × {launch.block.count} threads, but {most}",
            f"a smaller --block, or __launch_bounds__({launch.block.count}) in the kernel",
        )


def _shared(gpu: Gpu, resources: Resources, launch: Launch) -> Iterator[tuple[str, str]]:
    """Yield more shared memory than a block may have: static, opted in to, or at all."""
    cap, static = gpu.capability, resources.static_shared
    total = static + launch.dynamic_shared
    if static > cap.static_shared_limit:
        yield (
            f"{static} bytes of static shared memory, but every GPU allows {cap.static_shared_limit}",
            "make it dynamic (extern __shared__) and give its size with --shared",
        )
    if total > cap.max_shared_per_block:
        opt_in = cap.max_shared_per_block > cap.static_shared_limit
        without = f" with opt-in ({cap.static_shared_limit} without)" if opt_in else ""
        parts = (
            f"{static} static + {launch.dynamic_shared} dynamic = {total} bytes of shared memory per block"
        )
        yield (
            f"{parts}, but {gpu.name} allows {cap.max_shared_per_block}{without}",
            f"--shared {max(0, cap.max_shared_per_block - static)} or less, or a GPU with more shared memory",
        )
    if launch.carveout is not None and not 0 <= launch.carveout <= 100:
        yield f"a carve-out of {launch.carveout} %", "the carve-out is 0 to 100 percent"


def _residency(gpu: Gpu, resources: Resources, launch: Launch) -> Iterator[tuple[str, str]]:
    """Yield a cooperative grid of more blocks than the GPU holds at once."""
    resident = occupancy(gpu, resources, launch).blocks_per_sm * gpu.sm_count
    if launch.cooperative and launch.grid.count > resident:
        yield (
            f"a cooperative grid of {launch.grid.count} blocks, but {gpu.name} holds {resident} at once",
            f"--grid {resident} or smaller",
        )
