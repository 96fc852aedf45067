"""``predict``: the one composition of all floors below it, and its stages for who varies only some inputs.

::

    kernel = load_kernel("examples/saxpy.cu", "sm_90")
    print(predict(kernel, Launch(Dim3(65536), Dim3(256)), find("h200")).time)
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from warpwatt.core.advice import Advice, WhatIf
from warpwatt.core.case import Case, FittedModel, Power, PowerModel, Profile, TimeModel, Timing
from warpwatt.core.estimate import Estimate
from warpwatt.core.execution import Assumption, Execution
from warpwatt.core.garbage import collecting_later
from warpwatt.core.gpu import Clocks, Gpu, clock_parameter
from warpwatt.core.launch import Launch
from warpwatt.core.prediction import Prediction
from warpwatt.core.program import Kernel, Level, Unknown
from warpwatt.core.progress import step
from warpwatt.core.units import si
from warpwatt.emulate.analysis import analyse_launch
from warpwatt.emulate.narrowing import narrowing
from warpwatt.emulate.workload import barely_touched, check_known, workload
from warpwatt.frontend.pointer_types import mismatches
from warpwatt.gpus import check_launch, default_clocks, find
from warpwatt.gpus.boost import usual_clock
from warpwatt.gpus.loans import foreign_loans, unmeasured
from warpwatt.models.attribution import line_costs
from warpwatt.models.bounds import bounded
from warpwatt.models.conservation import violations, widened
from warpwatt.models.hybrid import alike, hybrid, profiled_launch
from warpwatt.models.measured_power import MeasuredPower, PoweredLaunch
from warpwatt.models.overhead import launch_overhead, launch_transfer
from warpwatt.models.registry import DEFAULT_POWER, DEFAULT_TIME, power_model, time_model

if TYPE_CHECKING:
    from warpwatt.emulate.emulation import Load

CLOCK_TOLERANCE = 0.002
"""The sustained clock is found to this relative accuracy."""
POWER_TOLERANCE = 0.002
"""The same for the power at that clock."""
CLOCK_MARGIN = 0.1
"""Guesses stay this share of the interval away from its ends, so that it shrinks at every step."""
MOST_POWERED = 12
"""Measured launches at other clocks that correct the power beside the profile."""
LOWEST_CLOCK_SHARE = 0.2
"""No board throttles below this share of its boost clock to hold its power limit."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which models and level to use, and what the user says about loops that depend on data (line, trips)."""

    time: str = DEFAULT_TIME
    power: str = DEFAULT_POWER
    loop_counts: tuple[tuple[int, float], ...] = ()
    unknown: Unknown = Unknown.ESTIMATE
    level: Level | None = None
    """Level that is analysed; None: the first that the time model reads and the kernel has."""


@collecting_later()
def predict(
    kernel: Kernel,
    launch: Launch,
    gpu: Gpu,
    *,
    clocks: Clocks | None = None,
    choice: Choice | None = None,
    profile: Profile | None = None,
    measured: tuple[Profile, ...] = (),
    execution: Execution | None = None,
) -> Prediction:
    """Return time, power and energy of one launch of ``kernel`` on ``gpu``.

    Without ``clocks``, the GPU's default clocks are used. Where the power limit does not sustain them, asked
    for or not, the SM clock is lowered as the board would lower it. A ``profile`` of any launch of this
    kernel corrects the time (:mod:`warpwatt.models.hybrid`) and the power
    (:mod:`warpwatt.models.measured_power`); models that are fitted to several take all that were
    ``measured``. ``execution`` is what the launch does, where that is known already.

    Raises
    ------
    LaunchError
        If the GPU would refuse the launch.
    InputError
        If an opcode is unknown and ``choice.unknown`` says so.
    ArgumentError
        If a loop or branch depends on an argument that was not given.
    UnsupportedGpuError
        If a chosen model does not cover the GPU.
    """
    choice = choice or Choice()
    case = _case(kernel, launch, gpu, clocks, choice, execution)
    case = replace(case, profile=profile, measured=measured)
    models = LaunchModels((time_model(choice.time), power_model(choice.power)), case, choice)
    return finish(models.settle(case.clocks, fixed=clocks is not None))


def _case(
    kernel: Kernel,
    launch: Launch,
    gpu: Gpu,
    clocks: Clocks | None,
    choice: Choice,
    execution: Execution | None = None,
) -> Case:
    """Analyse one launch on a GPU, unless what it does is known."""
    check_launch(gpu, kernel.resources, launch)
    execution = execution or analyse(kernel, launch, choice)
    work = workload(execution, gpu, kernel.resources, choice.unknown)
    return Case(kernel, work, launch, gpu, clocks or default_clocks(gpu))


class LaunchModels:
    """The models of one launch on one GPU, corrected by the case's profile: once for all clocks."""

    def __init__(self, models: tuple[TimeModel, PowerModel], case: Case, choice: Choice) -> None:
        self._models, self._case, self._choice = (bounded(models[0]), models[1]), case, choice
        self._corrected: dict[bool, tuple[TimeModel, PowerModel]] = {}
        self._held: dict[float, Settled] = {}

    def settle(self, clocks: Clocks, *, fixed: bool) -> Settled:
        """Return what the models say at what the board sustains of these clocks.

        ``fixed`` says that they were asked for. Raises as :func:`predict`.
        """
        time, power = self._of(fixed=fixed)
        # a model fitted to launches has the clocks in it that the board chose for them
        held = isinstance(self._models[0], FittedModel) or self._ran_at(clocks)
        case = replace(self._case, clocks=clocks)
        if not fixed:
            return settle(case, time, power, fixed=held)
        known = self._held.get(clocks.memory)  # all clocks above what is sustained end there
        if known is not None and known.case.clocks.sm <= clocks.sm:
            return replace(known, asked=clocks)
        settled = replace(settle(case, time, power, fixed=held), asked=clocks)
        if settled.limited_by_power:
            self._held[clocks.memory] = settled
        return settled

    def unheld(self, clocks: Clocks) -> Settled:
        """Return what the models say at these clocks, whether or not the board sustains them."""
        time, power = self._of(fixed=True)
        return settle(replace(self._case, clocks=clocks), time, power, fixed=True)

    def _of(self, *, fixed: bool) -> tuple[TimeModel, PowerModel]:
        if fixed not in self._corrected:
            self._corrected[fixed] = self._correct(fixed=fixed)
        return self._corrected[fixed]

    def _ran_at(self, clocks: Clocks) -> bool:
        """Whether the launch was measured at clocks at least as high: the board holds these too."""
        profile, case = self._case.profile, self._case
        if profile is None or profile.clocks.sustained or profile.gpu != case.gpu.name:
            return False
        own = profile.clocks
        above = own.sm >= clocks.sm * (1 - CLOCK_TOLERANCE) and own.memory >= clocks.memory
        return above and alike(profiled_launch(profile, case.launch), case.launch)

    def _correct(self, *, fixed: bool) -> tuple[TimeModel, PowerModel]:
        """Return the models corrected by the profile, as they are without one."""
        (time, power), case = self._models, self._case
        if case.profile is None or isinstance(time, FittedModel):
            return time, power
        return _calibrated(self._models, case, case.profile, self._choice, fixed=fixed)


def _calibrated(
    models: tuple[TimeModel, PowerModel], case: Case, profile: Profile, choice: Choice, *, fixed: bool
) -> tuple[TimeModel, PowerModel]:
    """Return the models corrected by a profile, as they are where the profile's GPU runs other code."""
    device = case.gpu if profile.gpu == case.gpu.name else find(profile.gpu)
    if device.target != case.gpu.target:
        return models
    launch = profiled_launch(profile, case.launch)
    known = case.workload.execution if alike(launch, case.launch) else None
    measured = _case(case.kernel, launch, device, profile.clocks, choice, known)
    measured = replace(measured, measured=case.measured)
    if profile.clocks.sustained:  # the board chose: where it holds its power limit
        measured = settle(measured, *models, fixed=False).case
    seen = replace(measured, profile=replace(profile, clocks=measured.clocks))  # some models read counters
    time = hybrid(models[0], seen, profile, free_clocks=profile.clocks.sustained and not fixed)
    return time, _powered(models[1], time, seen, profile)


def _powered(power: PowerModel, time: TimeModel, seen: Case, profile: Profile) -> PowerModel:
    """Return the power model corrected by the power of the profile and of the same launch at other clocks."""
    if isinstance(power, FittedModel):
        return power
    others = [p for p in seen.measured if p.gpu == profile.gpu and p.launch == profile.launch]
    launches = []
    for one in (profile, *[p for p in others[:MOST_POWERED] if p is not profile]):
        if one.power and one.time:
            clocks = seen.clocks if one is profile else one.clocks
            case = replace(seen, clocks=clocks, profile=replace(one, clocks=clocks))
            timing = time.predict(case)
            lasted = replace(timing, time=timing.time.scaled(one.time / timing.time.value))
            said = power.predict(case, lasted).power
            launches.append(PoweredLaunch(said, one.power, one.origin, one.gpu, case.launch, clocks))
    return MeasuredPower(power, launches) if launches else power


@collecting_later()
def analyse(kernel: Kernel, launch: Launch, choice: Choice, load: Load | None = None) -> Execution:
    """Return what a launch does on every GPU of the kernel's target; raise as :func:`predict`.

    ``load`` puts the launch on a device that holds its data (:mod:`warpwatt.emulate.context`).
    """
    levels = time_model(choice.time).levels if choice.level is None else (choice.level,)
    execution = analyse_launch(kernel, launch, levels, choice.loop_counts, load)
    check_known(execution.program, choice.unknown)
    wrong = (*mismatches(kernel, launch), *barely_touched(execution))
    return replace(execution, remarks=(*wrong, *execution.remarks)) if wrong else execution


@dataclass(frozen=True, eq=False)
class Settled:
    """A case at the clocks it runs at, and what the models say of it there.

    ``asked`` are the clocks that somebody asked for; None where the board chooses.
    """

    case: Case
    timing: Timing
    power: Power
    limited_by_power: bool = False
    asked: Clocks | None = None

    @cached_property
    def board(self) -> Estimate:
        """Mean power of the board in watts: what the model says, with draws beyond the limit cut off."""
        return capped(self.power.power, self.case.gpu.power_limit)

    @cached_property
    def energy(self) -> Estimate:
        """Joules per launch: time by power, draw by draw."""
        return self.timing.time.combine(self.board, operator.mul, "J")

    @property
    def components(self) -> dict[str, float]:
        """Watts by component; their sum is the power of the board."""
        cut = self.board.value / self.power.power.value
        return {name: watts * cut for name, watts in self.power.components.items()}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the kernel, both models and the power limit have to say, each once."""
        seen = (*self.case.kernel.warnings, *self.case.workload.execution.remarks)
        said = (*seen, *self.timing.warnings, *self.power.warnings, *self._held())
        return tuple(dict.fromkeys(said))

    def _held(self) -> tuple[str, ...]:
        limit, drawn, sm = self.case.gpu.power_limit, self.power.power.value, self.case.clocks.sm
        if limit is None:
            return ()
        if self.limited_by_power and self.asked is not None:
            text = f"{si(self.asked.sm, 'Hz')} were asked for, the power limit of {si(limit, 'W')} holds "
            return (f"{text}the board at {si(sm, 'Hz')}",)
        if drawn > limit * (1 + POWER_TOLERANCE):
            return (f"the model says {si(drawn, 'W')}: cut off at the power limit, the clock would be lower",)
        return ()


@step("simulating")
def settle(case: Case, time: TimeModel, power: PowerModel, *, fixed: bool) -> Settled:
    """Lower the SM clock until the board holds its power limit: the only loop between the models.

    Power grows by about the square of the clock, so the next guess is where such a curve through the last
    one meets the limit, kept inside what is known to be too low and too high. ``fixed``: the clocks stay,
    though no board would keep them.
    """
    timing = time.predict(case)
    drawn = power.predict(case, timing)
    limit = case.gpu.power_limit
    if fixed or limit is None or drawn.power.value <= limit:
        return Settled(case, timing, drawn)
    low, high = case.clocks.sm * LOWEST_CLOCK_SHARE, case.clocks.sm
    clock = high
    while high - low > CLOCK_TOLERANCE * high:
        guess = clock * math.sqrt(limit / drawn.power.value)
        margin = (high - low) * CLOCK_MARGIN
        clock = min(max(guess, low + margin), high - margin)
        case = replace(case, clocks=replace(case.clocks, sm=clock, sustained=True))
        timing = time.predict(case)
        drawn = power.predict(case, timing)
        if abs(drawn.power.value - limit) < POWER_TOLERANCE * limit:
            break
        low, high = (low, clock) if drawn.power.value > limit else (clock, high)
    return Settled(case, timing, drawn, limited_by_power=True)


def finish(settled: Settled) -> Prediction:
    """Return the whole result: energy, costs by source line, assumptions, warnings."""
    case, timing, power, board = settled.case, settled.timing, settled.power, settled.board
    broken = violations(case, timing, board)
    timing = replace(timing, time=widened(timing.time, broken)) if broken else timing
    assumptions = (*case.workload.assumptions, *clock_assumptions(case), *gpu_assumptions(case.gpu))
    wide = narrowing(timing.time.low, timing.time.high, assumptions)
    return Prediction(
        case=case,
        timing=timing,
        power_result=replace(power, components=settled.components),
        time=timing.time,
        power=board,
        energy=widened(settled.energy, broken),
        launch_overhead=launch_overhead(case.gpu, graph=case.launch.graph),
        transfer=launch_transfer(case.gpu, case.launch),
        lines=line_costs(case, timing, power),
        assumptions=assumptions,
        warnings=tuple(dict.fromkeys((*settled.warnings, *wide, *(v.text for v in broken)))),
        limited_by_power=settled.limited_by_power,
        energy_components={name: own * timing.time.value for name, own in settled.components.items()},
    )


def clock_assumptions(case: Case) -> tuple[Assumption, ...]:
    """Return that the SM clock is assumed, where nobody set it and boards of that name differ."""
    clocks, gpu = case.clocks, case.gpu
    if not clocks.spread:
        return ()
    held = "what the power limit sustains" if clocks.sustained else "what nothing holds back"
    seen = ", usual for its generation" if clocks.sm == usual_clock(gpu) else ""
    message = f"SM clock {si(clocks.sm, 'Hz')}{seen}, {held}; boards of this name differ"
    return (Assumption(message, clock_parameter(gpu), clocks.spread, fix="--clock"),)


def gpu_assumptions(gpu: Gpu) -> tuple[Assumption, ...]:
    """Return whose numbers stand in for those of ``gpu``, where they are of another generation or board."""
    found = [Assumption(str(loan), f"data of {loan.lender}", 0.0) for loan in foreign_loans(gpu)]
    if names := unmeasured(gpu):  # models widen the rates themselves
        message = f"{names}: nobody measured them in this generation; typical shares of the peak are taken"
        found.append(Assumption(message, "unmeasured bandwidths", 0.0))
    return tuple(found)


def capped(power: Estimate, limit: float | None) -> Estimate:
    """Return the power with draws beyond the board's limit cut off: no board sustains more."""
    if limit is None or power.high <= limit:
        return power
    if not power.draws:
        return Estimate.exact(limit, power.unit, power.source)
    draws = [min(draw, limit) for draw in power.draws]
    return Estimate.from_draws(min(power.value, limit), draws, "W", power.source, power.warnings)


@step("looking for what would help")
def advised(prediction: Prediction, choice: Choice | None = None) -> Prediction:
    """Return the prediction with :class:`~warpwatt.core.advice.Advice`: changes to the kernel, predicted too.

    ``choice`` names the models that predicted. Clocks stay as they are.
    """
    from warpwatt.what_if import unless_it_fails, what_ifs

    choice, remarks = choice or Choice(), list[str]()
    time, power = bounded(time_model(choice.time)), power_model(choice.power)
    found = what_ifs(prediction.case, time, prediction.timing, remarks.append)
    told = [
        unless_it_fails(one.change.text, partial(_advice, prediction, one, power), remarks.append)
        for one in found
    ]
    advice = tuple(one for one in told if one is not None)
    return replace(prediction, advice=advice, warnings=(*prediction.warnings, *remarks))


def _advice(prediction: Prediction, what_if: WhatIf, power: PowerModel) -> Advice:
    change, time = what_if.change, what_if.timing.time
    board = capped(power.predict(change.case, what_if.timing).power, prediction.case.gpu.power_limit)
    energy = time.combine(board, lambda seconds, watts: seconds * watts, "J")
    return Advice(
        change.kind,
        change.text,
        change.line,
        change.fix,
        time,
        saved=prediction.time.combine(time, lambda now, then: now - then, "s"),
        energy_saved=prediction.energy.combine(energy, lambda now, then: now - then, "J"),
        energy_share=1 - energy.value / prediction.energy.value,
    )
