"""``Sweep``: one kernel in many configurations, launches, GPUs and clocks, every stage done once.

A sweep goes through its points in an order in which neighbours share most: compiled once per configuration
and target, executed once per launch, put on each GPU once, and then taken through the clocks. Each row is what
:func:`warpwatt.predict.predict` says, because it is made of the same stages; only with ``curve`` the time is
read off a :class:`~warpwatt.advise.clock_curve.ClockCurve`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from warpwatt.advise.clock_curve import ClockCurve
from warpwatt.advise.configurations import Configuration
from warpwatt.advise.rows import Range, Row
from warpwatt.core.case import Case
from warpwatt.core.errors import WarpWattError
from warpwatt.core.gpu import Clocks
from warpwatt.emulate.workload import workload
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import check_launch, default_clocks
from warpwatt.models.registry import power_model, time_model
from warpwatt.predict import Choice, analyse, settle

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from warpwatt.advise.clocks import Asked
    from warpwatt.core.case import TimeModel
    from warpwatt.core.gpu import Gpu
    from warpwatt.core.program import Kernel
    from warpwatt.frontend.compiled import Source
    from warpwatt.frontend.launches import LaunchText, Request
    from warpwatt.predict import Settled


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


def run(sweep: Sweep, done: Collection[int] = ()) -> Iterator[Row]:
    """Yield the rows of a sweep, one after the other in this process, without those numbered in ``done``."""
    for group in sweep.groups():
        yield from run_group(sweep, group, done)


def run_group(sweep: Sweep, group: Group, done: Collection[int] = ()) -> Iterator[Row]:
    """Yield the rows of a group. Where something fails, the rows it concerns say why."""
    rows = [row for row in sweep.rows(group) if row.number not in done]
    if not rows:
        return
    try:
        request, kernel = _built(sweep, group)
    except Exception as error:  # noqa: BLE001 - one configuration must not end the sweep of a thousand
        yield from (replace(row, error=reason(error)) for row in rows)
        return
    for gpu in sweep.gpus:
        own = [_described(row, request, kernel) for row in rows if row.gpu == gpu.name]
        yield from _on_gpu(sweep, request, kernel, gpu, own)


def _on_gpu(sweep: Sweep, request: Request, kernel: Kernel, gpu: Gpu, rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the rows of one GPU, of any number of clocks."""
    if not rows:
        return
    launch, choice = request.launch, replace(sweep.choice, loop_counts=request.loop_counts)
    try:
        check_launch(gpu, kernel.resources, launch)
        work = workload(analyse(kernel, launch, choice), gpu, kernel.resources, choice.unknown)
        case = Case(kernel, work, launch, gpu, default_clocks(gpu))
        models = sweep.time_model(gpu), power_model(choice.power)
    except Exception as error:  # noqa: BLE001 - as above
        yield from (replace(row, error=reason(error)) for row in rows)
        return
    for row in rows:
        try:
            own = (
                case
                if row.sm_clock is None
                else replace(case, clocks=_clocks(row.sm_clock, row.memory_clock, gpu))
            )
            yield with_result(row, settle(own, *models, fixed=row.clocks_fixed))
        except Exception as error:  # noqa: BLE001 - as above
            yield replace(row, error=reason(error))


def _clocks(sm: float, memory: float | None, gpu: Gpu) -> Clocks:
    return Clocks(sm, memory or gpu.memory_clock)


def _built(sweep: Sweep, group: Group) -> tuple[Request, Kernel]:
    """Return the launch and the compiled kernel of a group."""
    configuration = sweep.configurations[group.configuration]
    request = configuration.request(sweep.launches[group.launch])
    options = sweep.options
    defines = tuple(f"{name}={value}" for name, value in configuration.defines)
    limit = configuration.max_registers or options.max_registers
    options = replace(options, defines=(*options.defines, *defines), max_registers=limit)
    return request, _compiled(sweep.source, group.target, options, request.kernel or "")


@lru_cache(maxsize=4)
def _compiled(source: Source, target: str, options: CompileOptions, name: str) -> Kernel:
    """Compile a kernel; launches of one configuration follow each other."""
    return load_kernel(source, target, options, name)


def _described(row: Row, request: Request, kernel: Kernel) -> Row:
    launch = request.launch
    return replace(
        row,
        kernel=kernel.demangled,
        grid=str(launch.grid),
        block=str(launch.block),
        shared=launch.dynamic_shared,
    )


def with_result(row: Row, settled: Settled) -> Row:
    """Return a row with what the models say."""
    case, timing = settled.case, settled.timing
    warnings = (*case.kernel.warnings, *timing.warnings, *settled.power.warnings)
    return replace(
        row,
        sm_clock=case.clocks.sm,
        memory_clock=case.clocks.memory,
        time=Range.of(timing.time),
        power=Range.of(settled.board),
        energy=Range.of(settled.energy),
        limited_by=timing.bottleneck,
        at_power_limit=settled.limited_by_power,
        occupancy=case.workload.occupancy.theoretical,
        registers=case.kernel.resources.registers,
        spills=case.kernel.resources.spill_stores,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def reason(error: Exception) -> str:
    """Return why a point has no result, in one line."""
    if isinstance(error, WarpWattError):
        first = next(iter(error.details.splitlines()), "")
        return " ".join(f"{error}{': ' if first else ''}{first}".split())
    return f"internal error: {error!r}"
