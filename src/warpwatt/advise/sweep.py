"""``Sweep``: which points there are, one kernel in many configurations, launches, GPUs and clocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from warpwatt.advise.clock_curve import ClockCurve
from warpwatt.advise.configurations import Configuration
from warpwatt.advise.rows import Row
from warpwatt.compose import Choice
from warpwatt.frontend.options import CompileOptions
from warpwatt.models.registry import time_model

if TYPE_CHECKING:
    from warpwatt.advise.clocks import Asked
    from warpwatt.core.case import TimeModel
    from warpwatt.core.gpu import Gpu
    from warpwatt.frontend.compiled import Source
    from warpwatt.frontend.launches import LaunchText


@dataclass(frozen=True, slots=True)
class Sweep:
    """What is swept; every combination of the four tuples is a point.

    Attributes
    ----------
    launches
        In words; sizes may be expressions (:mod:`~warpwatt.advise.configurations`).
    clocks
        None lets the board choose.
    choice
        Models and level; loop counts come from the launches.
    curve
        Whether times between clocks are read off a curve: faster and smoother than asking the model at each.
    """

    source: Source
    launches: tuple[LaunchText, ...]
    gpus: tuple[Gpu, ...]
    configurations: tuple[Configuration, ...] = (Configuration(),)
    clocks: tuple[Asked | None, ...] = (None,)
    options: CompileOptions = field(default_factory=CompileOptions)
    choice: Choice = field(default_factory=Choice)
    curve: bool = False

    def __len__(self) -> int:
        points = sum(len(self._clocks(gpu)) for gpu in self.gpus)
        return len(self.configurations) * len(self.launches) * points

    def groups(self) -> tuple[Group, ...]:
        """Return the pieces that share nothing but the compiler's cache, and can be done anywhere."""
        targets = dict.fromkeys(gpu.target for gpu in self.gpus)
        return tuple(
            Group(configuration, launch, target)
            for configuration in range(len(self.configurations))
            for launch in range(len(self.launches))
            for target in targets
        )

    def row(self, group: Group, gpu: int, clocks: int) -> Row:
        """Return the row of a point before anything is known about it."""
        configuration = self.configurations[group.configuration]
        number = (group.configuration * len(self.launches) + group.launch) * len(self.gpus) + gpu
        text = self.launches[group.launch]
        asked = self.clocks[clocks]
        return Row(
            number=number * len(self.clocks) + clocks,
            launch=group.launch,
            gpu=self.gpus[gpu].name,
            kernel=text.kernel or "",
            defines=configuration.defines,
            max_registers=configuration.max_registers,
            grid=configuration.grid or text.grid or "",
            block=configuration.block or text.block or "",
            sm_clock=asked.sm if asked is not None else None,
            memory_clock=asked.memory if asked is not None else None,
            clocks_fixed=asked is not None,
        )

    def rows(self, group: Group) -> tuple[Row, ...]:
        """Return all rows of a group before anything is known about them."""
        at = [number for number, gpu in enumerate(self.gpus) if gpu.target == group.target]
        return tuple(self.row(group, gpu, clocks) for gpu in at for clocks in self._clocks(self.gpus[gpu]))

    def _clocks(self, gpu: Gpu) -> list[int]:
        """Return which clocks are asked of a GPU."""
        return [at for at, asked in enumerate(self.clocks) if asked is None or asked.fits(gpu)]

    def time_model(self, gpu: Gpu) -> TimeModel:
        """Return the model that says how long a case on ``gpu`` takes."""
        model = time_model(self.choice.time)
        if not self.curve:
            return model
        asked = [clocks.sm for clocks in self.clocks if clocks is not None and clocks.fits(gpu)]
        return ClockCurve(model, min(asked, default=gpu.boost_clock), max([*asked, gpu.boost_clock]))


class Group(NamedTuple):
    """Points of a sweep that share a kernel and an execution: all GPUs of a target, at all clocks."""

    configuration: int
    launch: int
    target: str
