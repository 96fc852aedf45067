"""Run a sweep in this process: every stage of a prediction once for all points that share it.

Neighbours in a sweep share most: a kernel is compiled once per configuration and target, executed once per
launch, put on each GPU once, and then taken through the clocks. A row is what
:func:`warpwatt.compose.predict` says, because it is made of the same stages; only with ``Sweep.curve`` the
time is read off a :class:`~warpwatt.advise.clock_curve.ClockCurve`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.advise.rows import Range
from warpwatt.compose import POWER_TOLERANCE, analyse, settle
from warpwatt.core.case import Case
from warpwatt.core.errors import WarpWattError
from warpwatt.core.gpu import Clocks
from warpwatt.emulate.workload import workload
from warpwatt.frontend.load import load_kernel
from warpwatt.gpus import check_launch, default_clocks
from warpwatt.models.registry import power_model

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from warpwatt.advise.rows import Row
    from warpwatt.advise.sweep import Group, Sweep
    from warpwatt.compose import Settled
    from warpwatt.core.gpu import Gpu
    from warpwatt.core.program import Kernel
    from warpwatt.frontend.compiled import Source
    from warpwatt.frontend.launches import Request
    from warpwatt.frontend.options import CompileOptions


def run(sweep: Sweep, done: Collection[int] = ()) -> Iterator[Row]:
    """Yield the rows of a sweep, one after the other in this process, without those numbered in ``done``."""
    for group in sweep.groups():
        yield from run_group(sweep, group, done)


def run_group(sweep: Sweep, group: Group, done: Collection[int] = ()) -> Iterator[Row]:
    """Yield the rows of a group. Where something fails, the rows it concerns say why."""
    for row, settled in evaluated(sweep, group, [row for row in sweep.rows(group) if row.number not in done]):
        yield row if settled is None else with_result(row, settled)


def evaluated(sweep: Sweep, group: Group, rows: Sequence[Row]) -> Iterator[tuple[Row, Settled | None]]:
    """Yield each of some rows of a group with what the models say, or with None and the reason in the row."""
    if not rows:
        return
    try:
        request, kernel = _built(sweep, group)
    except Exception as error:  # noqa: BLE001 - one configuration must not end the sweep of a thousand
        yield from ((replace(row, error=reason(error)), None) for row in rows)
        return
    for gpu in sweep.gpus:
        own = [_described(row, request, kernel) for row in rows if row.gpu == gpu.name]
        if own:
            yield from _on_gpu(sweep, request, kernel, gpu, own)


def _on_gpu(
    sweep: Sweep, request: Request, kernel: Kernel, gpu: Gpu, rows: Sequence[Row]
) -> Iterator[tuple[Row, Settled | None]]:
    """Yield the rows of one GPU, through all its clocks."""
    launch, choice = request.launch, replace(sweep.choice, loop_counts=request.loop_counts)
    try:
        check_launch(gpu, kernel.resources, launch)
        work = workload(analyse(kernel, launch, choice), gpu, kernel.resources, choice.unknown)
        case = Case(kernel, work, launch, gpu, default_clocks(gpu))
        models = sweep.time_model(gpu), power_model(choice.power)
    except Exception as error:  # noqa: BLE001 - as above
        yield from ((replace(row, error=reason(error)), None) for row in rows)
        return
    for row in rows:
        own = case
        if row.sm_clock is not None:
            own = replace(case, clocks=Clocks(row.sm_clock, row.memory_clock or case.clocks.memory))
        try:
            yield row, settle(own, *models, fixed=row.clocks_fixed)
        except Exception as error:  # noqa: BLE001 - as above
            yield replace(row, error=reason(error)), None


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
        at_power_limit=settled.limited_by_power or over_limit(settled),
        occupancy=case.workload.occupancy.theoretical,
        registers=case.kernel.resources.registers,
        spills=case.kernel.resources.spill_stores,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def over_limit(settled: Settled) -> bool:
    """Whether the board would need more than its power limit at these clocks: it will not keep them."""
    limit = settled.case.gpu.power_limit
    return limit is not None and bool(settled.power.power.value > limit * (1 + POWER_TOLERANCE))


def reason(error: Exception) -> str:
    """Return why a point has no result and what to do about it, in one line."""
    if isinstance(error, WarpWattError):
        first = next(iter(error.details.splitlines()), "")
        parts = [str(error), first, f"fix: {error.hint}" if error.hint else ""]
        return " ".join("; ".join(part for part in parts if part).split())
    return f"internal error: {error!r}"
