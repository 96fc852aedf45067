"""What the models say of one point of a sweep: quantities with their draws, and their words for a row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.compose import POWER_TOLERANCE
from warpwatt.core.errors import InputError
from warpwatt.core.estimate import Estimate
from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.core.prediction import ApplicationPrediction
from warpwatt.sweep.rows import Range

if TYPE_CHECKING:
    from warpwatt.compose import Settled
    from warpwatt.run.result import GpuRun
    from warpwatt.sweep.rows import Row


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Seconds, watts and joules of a launch or an application; the rest is as in :class:`~.rows.Row`.

    ``clocks`` is None for an application whose steps run at clocks of their own.
    """

    time: Estimate
    power: Estimate
    energy: Estimate
    clocks: Clocks | None
    limited_by: str
    at_power_limit: bool
    occupancy: float | None
    warnings: tuple[str, ...]
    toolkit: str


def of_kernel(settled: Settled) -> Outcome:
    """Return what a launch comes to."""
    case, timing = settled.case, settled.timing
    return Outcome(
        time=timing.time,
        power=settled.board,
        energy=settled.energy,
        clocks=case.clocks,
        limited_by=timing.bottleneck,
        at_power_limit=settled.limited_by_power or over_limit(settled),
        occupancy=case.workload.occupancy.theoretical,
        warnings=settled.warnings,
        toolkit=case.kernel.toolkit,
    )


def of_application(whole: ApplicationPrediction, gpu: Gpu) -> Outcome:
    """Return what an application comes to: its limit is the step that takes longest and what binds that."""
    longest = max(whole.steps, key=lambda step: step.time.value)
    found = longest.prediction
    kernels = [step.prediction for step in whole.steps if step.prediction is not None]
    limit = f"{longest.name}: {found.timing.bottleneck}" if found is not None else longest.name
    warnings = (*whole.warnings, *(warning for kernel in kernels for warning in kernel.warnings))
    needed = [kernel.power_result.power.value for kernel in kernels]
    return Outcome(
        time=whole.time,
        power=whole.energy.combine(whole.time, lambda joules, seconds: joules / seconds, "W"),
        energy=whole.energy,
        clocks=None,
        limited_by=limit,
        at_power_limit=any(kernel.limited_by_power for kernel in kernels)
        or _beyond(max(needed, default=0), gpu),
        occupancy=None,
        warnings=tuple(dict.fromkeys(warnings)),
        toolkit=", ".join(dict.fromkeys(kernel.case.kernel.toolkit for kernel in kernels)),
    )


def of_run(run: GpuRun) -> Outcome:
    """Return what a program comes to from the GPU's first work to its last.

    Its limit is the kernel that takes longest and what binds that, or the host where the GPU mostly waits.

    Raises
    ------
    InputError
        If it gave the GPU nothing to do.
    """
    if not run.spans:
        raise InputError("the program gave the GPU nothing to do")
    longest = max(run.kernels, key=lambda row: row.time.value, default=None)
    limit = "copies"
    if run.idle > run.busy:
        limit = "the host, whose time is that of the machine that ran it"
    elif longest is not None:
        limit = f"{longest.name.partition('(')[0]}: {longest.limiter}"
    warnings = dict.fromkeys(warning for found in run.predictions for warning in found.warnings)
    clocks = {found.case.clocks for found in run.predictions}
    time, energy = run.work_time, run.work_energy
    return Outcome(
        time=time,
        power=energy.combine(time, lambda joules, seconds: joules / seconds, "W"),
        energy=energy,
        clocks=next(iter(clocks)) if len(clocks) == 1 else None,
        limited_by=limit,
        at_power_limit=any(
            found.limited_by_power or _beyond(float(found.power_result.power.value), found.case.gpu)
            for found in run.predictions
        ),
        occupancy=None,
        warnings=tuple(warnings),
        toolkit=", ".join(dict.fromkeys(found.case.kernel.toolkit for found in run.predictions)),
    )


def over_limit(settled: Settled) -> bool:
    """Whether the board would need more than its power limit at these clocks: it will not keep them."""
    return _beyond(float(settled.power.power.value), settled.case.gpu)


def _beyond(watts: float, gpu: Gpu) -> bool:
    return gpu.power_limit is not None and watts > gpu.power_limit * (1 + POWER_TOLERANCE)


def with_outcome(row: Row, found: Outcome) -> Row:
    """Return a row with what the models say."""
    clocks = found.clocks
    return replace(
        row,
        sm_clock=clocks.sm if clocks is not None else row.sm_clock,
        memory_clock=clocks.memory if clocks is not None else row.memory_clock,
        time=Range.of(found.time),
        power=Range.of(found.power),
        energy=Range.of(found.energy),
        limited_by=found.limited_by,
        at_power_limit=found.at_power_limit,
        occupancy=found.occupancy,
        warnings=found.warnings,
        toolkit=found.toolkit,
    )
