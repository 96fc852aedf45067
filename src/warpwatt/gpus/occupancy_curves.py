"""Occupancy if a launch had other registers, block sizes or shared memory, by NVIDIA's calculator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from warpwatt.core.case import Case
from warpwatt.core.execution import Occupancy
from warpwatt.core.launch import Dim3
from warpwatt.core.units import KIB
from warpwatt.gpus.occupancy import occupancy

WARP = 32
SHARED_STEP = KIB
FEWEST_REGISTERS = 16
"""As few as compilers can be told to use."""


@dataclass(frozen=True, slots=True)
class OccupancyPoint:
    """What an SM holds if the quantity had this value; ``limiter`` leaves the size of the grid aside."""

    value: int
    warps: int
    blocks: int
    limiter: str


@dataclass(frozen=True, slots=True)
class OccupancyCurve:
    """Warps per SM against one quantity of the launch, everything else as it is.

    ``points`` are the first and last values of every step, and the launch's own; ``own`` is that. ``most`` is
    the number of warps that an SM can hold.
    """

    name: str
    unit: str
    points: tuple[OccupancyPoint, ...]
    own: OccupancyPoint
    most: int

    @property
    def better(self) -> OccupancyPoint | None:
        """The nearest point with more warps than the launch has, None where there is none."""
        more = [point for point in self.points if point.warps > self.own.warps]
        return min(more, key=lambda point: abs(point.value - self.own.value), default=None)


def occupancy_curves(case: Case) -> tuple[OccupancyCurve, ...]:
    """Return the curves over registers per thread, threads per block and shared memory per block (bytes)."""
    capability, resources = case.gpu.capability, case.kernel.resources
    registers = range(
        min(FEWEST_REGISTERS, resources.registers or 1), capability.max_registers_per_thread + 1
    )
    sizes = range(WARP, capability.max_threads_per_block + 1, WARP)
    shared = range(0, capability.max_shared_per_block + 1, SHARED_STEP)
    used = resources.static_shared + case.launch.dynamic_shared
    return (
        _curve("Registers", "per thread", registers, resources.registers, _with_registers(case), case),
        _curve("Block size", "threads", sizes, case.launch.block.count, _with_block(case), case),
        _curve("Shared memory", "B per block", shared, used, _with_shared(case), case),
    )


def _with_registers(case: Case) -> Callable[[int], Occupancy]:
    resources = case.kernel.resources
    return lambda n: occupancy(case.gpu, replace(resources, registers=n), case.launch)


def _with_block(case: Case) -> Callable[[int], Occupancy]:
    launch, resources = case.launch, case.kernel.resources
    return lambda n: occupancy(case.gpu, resources, replace(launch, block=Dim3(n)))


def _with_shared(case: Case) -> Callable[[int], Occupancy]:
    """Return the occupancy with so much shared memory, static and dynamic together."""
    resources = replace(case.kernel.resources, static_shared=0)
    return lambda n: occupancy(case.gpu, resources, replace(case.launch, dynamic_shared=n))


def _curve(
    name: str, unit: str, values: Iterable[int], own: int, held: Callable[[int], Occupancy], case: Case
) -> OccupancyCurve:
    points = [_point(value, held(value)) for value in sorted({*values, own})]
    mine = next(point for point in points if point.value == own)
    edges = tuple(p for p in _edges(points) if p is not mine)
    ordered = tuple(sorted([*edges, mine], key=lambda point: point.value))
    return OccupancyCurve(name, unit, ordered, mine, case.gpu.capability.max_warps_per_sm)


def _edges(points: Sequence[OccupancyPoint]) -> Iterator[OccupancyPoint]:
    """Yield the points whose neighbours hold something else."""
    for number, point in enumerate(points):
        around = points[max(0, number - 1) : number + 2]
        if len(around) < 3 or any(replace(p, value=point.value) != point for p in around):
            yield point


def _point(value: int, held: Occupancy) -> OccupancyPoint:
    allowed = {name: blocks for name, blocks in held.limits.items() if name != "grid"}
    limiter = min(allowed, key=allowed.__getitem__) if allowed else held.limiter
    return OccupancyPoint(value, held.warps_per_sm, held.blocks_per_sm, limiter)
