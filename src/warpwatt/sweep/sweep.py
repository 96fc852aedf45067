"""``Sweep``: which points there are, tasks in many configurations, on many GPUs, at many clocks."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from warpwatt.compose import Choice
from warpwatt.core.gpu import Gpu
from warpwatt.frontend.options import CompileOptions
from warpwatt.request.measured import MeasuredLaunches
from warpwatt.sweep.configurations import Configuration
from warpwatt.sweep.rows import Row

if TYPE_CHECKING:
    from warpwatt.sweep.clocks import Asked
    from warpwatt.sweep.tasks import Task


@dataclass(frozen=True, slots=True)
class Sweep:
    """What is swept; every combination of the four tuples is a point.

    Attributes
    ----------
    tasks
        Launches in words, whose sizes may be expressions (:mod:`~warpwatt.sweep.configurations`), and
        applications.
    clocks
        None lets the board choose.
    choice
        Models and level; loop counts come from the launches.
    measured
        Measured launches: they correct the times, and some models are fitted to them.
    """

    tasks: tuple[Task, ...]
    gpus: tuple[Gpu, ...]
    configurations: tuple[Configuration, ...] = (Configuration(),)
    clocks: tuple[Asked | None, ...] = (None,)
    options: CompileOptions = field(default_factory=CompileOptions)
    choice: Choice = field(default_factory=Choice)
    measured: MeasuredLaunches = field(default_factory=MeasuredLaunches)

    def __len__(self) -> int:
        points = sum(len(self.clocks_of(gpu)) for gpu in self.gpus)
        return len(self.configurations) * len(self.tasks) * points

    @property
    def numbers(self) -> int:
        """How many numbers rows may have: one more than the highest. Not all of them need be taken."""
        return len(self.configurations) * len(self.tasks) * len(self.gpus) * len(self.clocks)

    def groups(self) -> Iterator[Group]:
        """Yield the pieces that share nothing but compiled kernels, and can be done anywhere.

        Those that share a kernel follow each other: all launches of a source for a target.
        """
        targets = tuple(dict.fromkeys(gpu.target for gpu in self.gpus))
        for configuration in range(len(self.configurations)):
            for _, tasks in itertools.groupby(range(len(self.tasks)), lambda at: self.tasks[at].source):
                launches = tuple(tasks)
                for target in targets:
                    yield from (Group(configuration, launch, target) for launch in launches)

    def at(self, group: Group) -> Iterator[tuple[int, int, int]]:
        """Yield (number of the row, GPU, clocks) of every point of a group."""
        first = (group.configuration * len(self.tasks) + group.launch) * len(self.gpus)
        for gpu, device in enumerate(self.gpus):
            if device.target == group.target:
                for clocks in self.clocks_of(device):
                    yield (first + gpu) * len(self.clocks) + clocks, gpu, clocks

    def rows(self, group: Group, numbers: Container[int] | None = None) -> list[Row]:
        """Return the rows of a group before anything is known about them: all, or those numbered."""
        configuration, task = self.configurations[group.configuration], self.tasks[group.launch]
        common: dict[str, Any] = {
            "launch": group.launch,
            "kernel": task.name,
            "defines": configuration.defines,
            "max_registers": configuration.max_registers,
            "grid": "" if task.is_whole else configuration.grid or task.launch.grid or "",
            "block": "" if task.is_whole else configuration.block or task.launch.block or "",
            "input": task.source.name,
            "arguments": task.scalars,
        }
        return [
            Row(number=number, gpu=self.gpus[gpu].name, **_asked(self.clocks[clocks]), **common)
            for number, gpu, clocks in self.at(group)
            if numbers is None or number in numbers
        ]

    def clocks_of(self, gpu: Gpu) -> list[int]:
        """Return which clocks are asked of a GPU."""
        return [at for at, asked in enumerate(self.clocks) if asked is None or asked.fits(gpu)]


def _asked(clocks: Asked | None) -> dict[str, Any]:
    if clocks is None:
        return {}
    return {"sm_clock": clocks.sm, "memory_clock": clocks.memory, "clocks_fixed": True}


class Group(NamedTuple):
    """Points of a sweep that share a kernel and an execution: all GPUs of a target, at all clocks."""

    configuration: int
    launch: int
    """Which of the tasks."""
    target: str
