"""Run a sweep in this process: every stage of a prediction once for all points that share it.

Neighbours in a sweep share most: a kernel is compiled once per configuration and target, executed once per
launch, put on each GPU once, and then taken through the clocks. A row is what
:func:`warpwatt.compose.predict` says, because it is made of the same stages. A row of an application is what
:func:`~warpwatt.jobs.application.predict_application` says, one of a saved run what
:func:`~warpwatt.run.session.rerun` says.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.compose import LaunchModels, analyse
from warpwatt.core.case import Case
from warpwatt.core.errors import reason
from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.core.program import Kernel
from warpwatt.emulate.workload import workload
from warpwatt.frontend.configurations import compiler_of
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions, Compiler
from warpwatt.frontend.structures import with_fields
from warpwatt.gpus import check_launch, default_clocks
from warpwatt.models.registry import power_model, time_model
from warpwatt.request.launches import check_pointers
from warpwatt.sweep.outcome import of_application, of_kernel, with_outcome
from warpwatt.sweep.tasks import present
from warpwatt.sweep.whole import Whole

if TYPE_CHECKING:
    from warpwatt.frontend.compiled import Source
    from warpwatt.request.launch_text import Request
    from warpwatt.sweep.outcome import Outcome
    from warpwatt.sweep.rows import Row
    from warpwatt.sweep.sweep import Group, Sweep
    from warpwatt.sweep.tasks import Task

    Results = Iterator[tuple[Row, Outcome | None]]


def run(sweep: Sweep, done: Container[int] = ()) -> Iterator[Row]:
    """Yield the rows of a sweep, one after the other in this process, without those numbered in ``done``."""
    for group in sweep.groups():
        yield from run_group(sweep, group, {number for number, *_ in sweep.at(group) if number not in done})


def run_group(sweep: Sweep, group: Group, numbers: Collection[int]) -> Iterator[Row]:
    """Yield the rows of a group that are numbered. Where something fails, the rows it concerns say why."""
    for row, outcome in evaluated(sweep, group, sweep.rows(group, numbers)):
        yield row if outcome is None else with_outcome(row, outcome)


def evaluated(sweep: Sweep, group: Group, rows: Sequence[Row]) -> Results:
    """Yield each of some rows of a group with what the models say, or with None and the reason in the row."""
    if not rows:
        return
    task = sweep.tasks[group.launch]
    if task.is_whole:
        yield from _saved_run(sweep, task, rows) if task.is_run else _application(sweep, group, rows)
        return
    try:
        request, kernel = _built(sweep, group)
        check_pointers(kernel, request.launch)
    except Exception as error:  # noqa: BLE001 - one configuration must not end the sweep of a thousand
        yield from failed(rows, error)
        return
    for gpu in sweep.gpus:
        own = [_described(row, request, kernel) for row in rows if row.gpu == gpu.name]
        if own:
            yield from _on_gpu(sweep, request, kernel, gpu, own)


def _on_gpu(sweep: Sweep, request: Request, kernel: Kernel, gpu: Gpu, rows: Sequence[Row]) -> Results:
    """Yield the rows of one GPU, through all its clocks."""
    launch, choice = request.launch, replace(sweep.choice, loop_counts=request.loop_counts)
    try:
        check_launch(gpu, kernel.resources, launch)
        work = workload(analyse(kernel, launch, choice), gpu, kernel.resources, choice.unknown)
        profile, measured = sweep.measured.of(kernel, request, gpu)
        case = Case(kernel, work, launch, gpu, default_clocks(gpu), profile, measured)
        models = LaunchModels((time_model(choice.time), power_model(choice.power)), case, choice)
    except Exception as error:  # noqa: BLE001 - as above
        yield from failed(rows, error)
        return
    for row in rows:
        try:
            outcome = of_kernel(models.settle(clocks_of(row, case.clocks), fixed=row.clocks_fixed))
        except Exception as error:  # noqa: BLE001 - as above
            yield from failed([row], error)
        else:
            yield row, outcome


def _application(sweep: Sweep, group: Group, rows: Sequence[Row]) -> Results:
    """Yield the rows of an application, one GPU after the other."""
    task, options = sweep.tasks[group.launch], _options(sweep, group)
    for gpu in sweep.gpus:
        own = [row for row in rows if row.gpu == gpu.name]
        whole = Whole(task, gpu, sweep, options, _compiled)
        for row in own:
            clocks = clocks_of(row, default_clocks(gpu)) if row.clocks_fixed else None
            try:
                outcome = of_application(whole.predict(clocks), gpu)
            except Exception as error:  # noqa: BLE001 - as above
                yield from failed([row], error)
            else:
                yield row, outcome


def _saved_run(sweep: Sweep, task: Task, rows: Sequence[Row]) -> Results:
    """Yield the rows of a saved run, which goes by once for all of them."""
    from warpwatt.sweep.saved_run import predict_run

    try:
        yield from predict_run(sweep, task, rows)
    except Exception as error:  # noqa: BLE001 - as above
        yield from failed(rows, error)


def clocks_of(row: Row, default: Clocks) -> Clocks:
    """Return the clocks that a row asks for, the default where it asks for none."""
    return default if row.sm_clock is None else Clocks(row.sm_clock, row.memory_clock or default.memory)


def failed(rows: Sequence[Row], error: Exception) -> Results:
    """Yield rows that have no result because of an error."""
    why = reason(error)
    yield from ((replace(row, error=why), None) for row in rows)


def _built(sweep: Sweep, group: Group) -> tuple[Request, Kernel]:
    """Return the launch and the compiled kernel of a group."""
    task = sweep.tasks[group.launch]
    request = sweep.configurations[group.configuration].request(task.launch)
    options = _options(sweep, group)
    given = frozenset(request.launch.arguments)
    return request, _compiled(task.source, group.target, options, request.kernel or "", given)


def _options(sweep: Sweep, group: Group) -> CompileOptions:
    """Return the options to compile a configuration with."""
    configuration, options = sweep.configurations[group.configuration], sweep.options
    defines = tuple(f"{name}={value}" for name, value in configuration.defines)
    limit = configuration.max_registers or options.max_registers
    varied = options.compiler is Compiler.AUTO and bool(defines)
    compiler = compiler_of(len(sweep.configurations)) if varied else options.compiler
    return replace(options, defines=(*options.defines, *defines), max_registers=limit, compiler=compiler)


@lru_cache(maxsize=16)
def _compiled(
    source: Source, target: str, options: CompileOptions, name: str, given: frozenset[str]
) -> Kernel:
    """Compile a kernel; launches of one configuration follow each other."""
    source, options = present(source, options)
    return with_fields(load_kernel(source, target, options, name), source, options, given)


def _described(row: Row, request: Request, kernel: Kernel) -> Row:
    launch = request.launch
    return replace(
        row,
        kernel=kernel.demangled,
        grid=str(launch.grid),
        block=str(launch.block),
        shared=launch.dynamic_shared,
        registers=kernel.resources.registers,
        spills=kernel.resources.spill_stores,
        toolkit=kernel.toolkit,
    )
