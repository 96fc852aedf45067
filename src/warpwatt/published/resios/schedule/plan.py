"""A schedule as a tree: host loops around kernels, kernels made of units with their loops reordered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.affine_form import Affine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warpwatt.published.resios.c_loops.bound import BoundLoop
    from warpwatt.published.resios.schedule.units import Unit

THREADS_AT_ONCE = 132 * 2048
"""Of a large GPU; only ranks schedules before the time model sees the best of them."""
LAUNCH_SECONDS, ITERATION_SECONDS = 4e-6, 5e-8
LONG_LOOP = 1000
"""Schedules are ranked as if the longest loop had so many iterations at least: those of a small test are the
same as those of the program that it tests."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A unit in its place: every loop around it is solved, a dimension of threads, or runs in the thread.

    ``solved`` gives counters by times and other counters; ``threads`` and ``sequential`` are counters.
    """

    unit: Unit
    solved: tuple[tuple[str, Affine], ...]
    threads: tuple[str, ...]
    sequential: tuple[str, ...]

    def loop(self, counter: str) -> BoundLoop:
        """Return the loop of a counter."""
        return next(loop for loop in self.unit.loops if loop.counter == counter)

    def coordinate(self, counter: str) -> Affine:
        """Return what a thread's position stands for: the loop's variable, or its counter if it skips."""
        return coordinate(self.loop(counter))

    def iterations(self, scale: float = 1.0) -> float:
        """Return mean iterations of one thread; ``scale`` multiplies the trips of every loop."""
        total = self.unit.internal * scale if self.unit.internal > 1 else 1.0
        for counter in self.sequential:
            total *= _trips(self.loop(counter), scale)
        return total

    def width(self, scale: float = 1.0) -> float:
        """Return the mean number of threads with work."""
        total = 1.0
        for counter in self.threads:
            total *= _trips(self.loop(counter), scale)
        return total


def _trips(loop: BoundLoop, scale: float) -> float:
    return 1.0 if loop.most == 1 else max(1.0, loop.mean * scale)


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """Parts that one launch executes one after another in each thread; their threads are the same ones."""

    parts: tuple[Part, ...]

    @property
    def dimensions(self) -> int:
        """Dimensions of its threads."""
        return len(self.parts[0].threads)


@dataclass(frozen=True, slots=True, eq=False)
class HostLoop:
    """A loop of the host over a time; ``times`` says when each unit inside runs."""

    name: str
    times: tuple[tuple[Unit, Affine], ...]
    body: tuple[Node, ...]

    @property
    def steps(self) -> int:
        """Iterations at most."""
        ends = [form.range(_box(unit)) for unit, form in self.times]
        return max(high for _, high in ends) - min(low for low, _ in ends) + 1


Node = Kernel | HostLoop


def coordinate(loop: BoundLoop) -> Affine:
    """Return a loop's variable as a form of counters, or its counter where it does not count in ones."""
    if abs(loop.loop.step) != 1:
        return Affine(0, {loop.counter: 1})
    return loop.start + Affine(0, {loop.counter: loop.loop.step})


def _box(unit: Unit) -> dict[str, tuple[int, int]]:
    return {loop.counter: (0, loop.most - 1) for loop in unit.loops}


def scale_of(loops: Iterable[BoundLoop]) -> float:
    """Return by how much to multiply trips so that the longest loop is long enough to rank schedules."""
    return max(1.0, LONG_LOOP / max((loop.most for loop in loops), default=1))


def cost(nodes: tuple[Node, ...], scale: float = 1.0) -> float:
    """Return rough seconds, to rank schedules: launches, the longest chains, the sum of all work."""
    total = 0.0
    for node in nodes:
        if isinstance(node, HostLoop):
            total += node.steps * scale * cost(node.body, scale)
            continue
        total += LAUNCH_SECONDS
        for part in node.parts:
            rounds = max(1.0, part.width(scale) / THREADS_AT_ONCE)
            total += part.iterations(scale) * rounds * ITERATION_SECONDS
    return total


def kernels(nodes: tuple[Node, ...]) -> tuple[Kernel, ...]:
    """Return all kernels in order."""
    found: list[Kernel] = []
    for node in nodes:
        found += kernels(node.body) if isinstance(node, HostLoop) else [node]
    return tuple(found)
