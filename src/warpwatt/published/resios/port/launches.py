"""The launches of a program: which kernel, with which times; a few of them stand for all."""

from __future__ import annotations

from collections.abc import Mapping as Table
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.core.arguments import Scalar
from warpwatt.published.resios.c_loops.bound import bound
from warpwatt.published.resios.c_loops.mapping import Mapping, grid_for
from warpwatt.published.resios.c_loops.nest import Name, expressions, walk, walk_expression
from warpwatt.published.resios.c_loops.printer import safe

if TYPE_CHECKING:
    from warpwatt.core.launch import Launch
    from warpwatt.published.resios.c_loops.bound import BoundFunction
    from warpwatt.published.resios.c_loops.cuda import Generated
    from warpwatt.published.resios.schedule.build import BuiltKernel
    from warpwatt.published.resios.schedule.transform import Program

SAMPLES = 3
"""Launches that stand for all of a kernel whose work changes with time."""

Times = Table[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class LaunchedKernel:
    """A kernel and all its launches; ``samples`` stand for equal shares of them."""

    kernel: BuiltKernel
    launches: tuple[Times, ...]
    samples: tuple[Times, ...]

    @property
    def middle(self) -> Times:
        """The launch in the middle."""
        return self.samples[len(self.samples) // 2]


def launched(program: Program) -> tuple[LaunchedKernel, ...]:
    """Return the kernels that are launched at these sizes, with their launches in order."""
    found: dict[int, tuple[BuiltKernel, list[Times]]] = {}
    for kernel, times in program.launches():
        found.setdefault(id(kernel), (kernel, []))[1].append(times)
    order = {id(kernel): number for number, kernel in enumerate(program.kernels())}
    ready = sorted(found.values(), key=lambda one: order[id(one[0])])
    return tuple(LaunchedKernel(k, tuple(times), _samples(k, times)) for k, times in ready)


def _samples(kernel: BuiltKernel, times: list[Times]) -> tuple[Times, ...]:
    """Return launches in the middle of equal shares; one where time changes nothing."""
    used = {part.name for s in walk(kernel.function.nests) for e in expressions(s)
            for part in walk_expression(e) if isinstance(part, Name)}  # fmt: skip
    if not used & set(kernel.times):
        return (times[len(times) // 2],)
    count = min(SAMPLES, len(times))
    return tuple(times[(2 * n + 1) * len(times) // (2 * count)] for n in range(count))


def mapping_of(program: Program, kernel: BuiltKernel, times: Times) -> tuple[BoundFunction, Mapping]:
    """Return a kernel's loops at given times, and the mapping of the outermost to threads."""
    values = {**program.bound.values, **program.hosted, **times}
    shapes = {a.name: program.bound.shapes[a.name] for a in kernel.function.arrays}
    found = bound(kernel.function, values, shapes, strict=False)
    (nest,) = found.nests
    loops, at = [], nest.loop
    for number in range(kernel.dimensions):
        loops.append(nest.of(at))
        if number + 1 < kernel.dimensions:
            at = at.body[0]  # type: ignore[assignment]
    return found, Mapping(nest, tuple(loops))


def launch_at(program: Program, kernel: BuiltKernel, text: Generated, times: Times) -> Launch:
    """Return the launch of a kernel at given times."""
    extents = kernel.extents({**program.integers, **times})
    arguments = dict(text.launch.arguments)
    arguments |= {safe(name): Scalar(value) for name, value in times.items() if safe(name) in arguments}
    grid = grid_for(tuple(max(1, extent) for extent in extents), text.tile, text.blocks)
    return replace(text.launch, grid=grid, arguments=arguments)
