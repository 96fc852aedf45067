"""Which dimension of a kernel lies along a warp: the one whose neighbours touch the fewest sectors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.core.launch import WARP_SIZE
from warpwatt.published.resios.accesses import flat
from warpwatt.published.resios.schedule.plan import Kernel

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import Access, BoundFunction
    from warpwatt.published.resios.schedule.plan import Part

SECTOR = 32
"""Bytes that one request of L1 to L2 moves at least."""


def lanes_last(kernel: Kernel, bound: BoundFunction) -> Kernel:
    """Return a kernel with its dimensions in order of the strides they make, the lanes' own last."""
    order = sorted(range(kernel.dimensions), key=lambda n: (-sectors(kernel, n, bound), n))
    return Kernel(tuple(replace(p, threads=tuple(p.threads[n] for n in order)) for p in kernel.parts))


def sectors(kernel: Kernel, dimension: int, bound: BoundFunction) -> float:
    """Return sectors that the requests of a warp along a dimension touch, all executions of a thread."""
    return sum(_of_part(part, part.threads[dimension], bound) for part in kernel.parts)


def _of_part(part: Part, counter: str, bound: BoundFunction) -> float:
    total = 0.0
    for _, access in part.unit.accesses:
        times = 1.0
        for loop in access.loops:
            if loop.counter in part.sequential or loop not in part.unit.loops:
                times *= max(1.0, loop.mean)
        total += times * _touched(stride(access, part, counter, bound))
    return total


def stride(access: Access, part: Part, counter: str, bound: BoundFunction) -> int | None:
    """Return the bytes between the addresses of threads that are neighbours along a counter."""
    form = flat(access, bound)
    if form is None:
        return None
    step = form.terms.get(counter, 0)
    for solved, value in part.solved:
        step += form.terms.get(solved, 0) * value.terms.get(counter, 0)
    return step * access.element.type.size


def _touched(step: int | None) -> float:
    if step is None:
        return WARP_SIZE
    return min(WARP_SIZE, max(1.0, WARP_SIZE * abs(step) / SECTOR))
