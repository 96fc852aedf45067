"""One-run hybrid: a time model corrected by one measured launch of the same kernel.

Alavani (2023), section 7.2, asks for it: execute once, predict any other launch. What one run teaches is how
wrong a model is about this kernel. Errors of two launches are alike as far as the same resource binds both: a
wrong bandwidth stretches every launch that DRAM binds and none that waits for the FP32 pipe. With ρ the
correlation of log(measured / modelled) between the launches, both modelled with the same spread σ, the best
correction is the conditional mean

    log time = log model + ρ · log(measured / modelled of the measured launch)

and what remains open has the spread σ·√(1 − ρ²): nothing where the launch itself is asked for (ρ = 1), σ
where it has nothing in common with the measured one. :func:`likeness` gives ρ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from warpwatt.core.case import Case, Profile, TimeModel, Timing
from warpwatt.core.errors import ArgumentError, InputError
from warpwatt.core.estimate import Estimate, Source, factor_draws
from warpwatt.core.gpu import Clocks
from warpwatt.core.launch import Launch
from warpwatt.core.program import Level

SAME_RESOURCE = 0.92
"""ρ of two launches of a kernel that the same resource binds (docs/validation/hybrid.md)."""
OTHER_RESOURCE = 0.75
"""The part of it that is left where different resources bind launches of equal length."""
FADING = 1.5
"""... and falls to 1/e where one is modelled e^1.5 = 4.5 times as long as the other."""
SAME_LAUNCH = 0.97
"""ρ in place of :data:`SAME_RESOURCE` where only the clocks differ: every instruction is the same."""
SAME_TARGET = 0.95
"""Factor on ρ between two GPUs of one compute capability: errors on RTX 3060, 3060 Ti and 3070 Ti
correlate to 0.92-0.98."""
CLOCK_TOLERANCE = 0.005
"""Clocks that differ less count as the same."""
SAME_SIZE = 1.25
"""Launches whose threads differ by less may have the same arguments: other blocks, rounded up."""
EXPLAINED = 1e-6
"""A model that gives the measured time of this very launch to this relative accuracy has learnt it itself."""
SHARPNESS = 4
"""Exponent that turns how busy resources are into how much they bind."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A launch as a model sees it, at given clocks on a GPU; ``measured`` in seconds or None."""

    timing: Timing
    launch: Launch
    clocks: Clocks
    gpu: str
    measured: float | None = None
    spread: float = 0.02
    origin: str = ""
    source: Source = Source.MEASURED


@dataclass(slots=True, eq=False)
class Hybrid:
    """A time model that knows one measured launch; a :class:`~warpwatt.core.case.TimeModel` itself.

    ``free_clocks`` says that neither the run's clocks nor those of what is asked for were fixed: then both
    settle where the board holds its power limit, and count as the same.
    """

    base: TimeModel
    run: Run
    free_clocks: bool = False

    name: str = ""
    summary: str = ""
    levels: tuple[Level, ...] = ()

    def predict(self, case: Case) -> Timing:
        """Return the model's timing, corrected by the run."""
        asked = Run(self.base.predict(case), case.launch, case.clocks, case.gpu.name)
        if self.free_clocks:
            asked = replace(asked, clocks=self.run.clocks)
        return replace(corrected(asked, self.run), model=self.name)


def hybrid(base: TimeModel, measured: Case, profile: Profile, *, free_clocks: bool = False) -> Hybrid:
    """Return ``base`` corrected by a profile; ``measured`` is the profiled launch's case.

    Raises
    ------
    InputError
        If the profile has no time.
    """
    if profile.time is None or profile.time <= 0:
        raise InputError("the profile has no time", hint="give a measured duration above zero")
    run = Run(
        timing=base.predict(measured),
        launch=measured.launch,
        clocks=measured.clocks,
        gpu=measured.gpu.name,
        measured=profile.time,
        spread=profile.spread,
        origin=profile.origin,
        source=profile.source,
    )
    return Hybrid(
        base,
        run,
        free_clocks,
        name=f"{base.name}+profile",
        summary=f"{base.summary}; corrected by a measured launch",
        levels=base.levels,
    )


def profiled_launch(profile: Profile, asked: Launch) -> Launch:
    """Return the launch that was measured; arguments the profile does not know are those of ``asked``.

    Raises
    ------
    ArgumentError
        If the profile knows no argument and launched so many more or fewer threads that they must differ.
    """
    if profile.launch is None:
        return asked
    ratio = profile.launch.threads / asked.threads
    alike = 1 / SAME_SIZE <= ratio <= SAME_SIZE
    if asked.arguments and not profile.launch.arguments and not alike:
        raise ArgumentError(
            f"the measured launch {profile.origin} has {ratio:.3g} times the threads, but its arguments are "
            "not known",
            hint="add columns such as arg:n to the CSV file, or --profile-arg n=1024 for what differs",
        )
    return replace(profile.launch, arguments={**asked.arguments, **profile.launch.arguments})


def corrected(asked: Run, run: Run) -> Timing:
    """Return the timing of ``asked``, corrected by what was measured of ``run``.

    ``breakdown`` is stretched with the time; utilisation, stalls and shares stay the model's. A model that
    starts from the profile of this very launch (Wang and Chu's) is left as it is, interval and all.
    """
    assert run.measured is not None
    if same(asked, run):
        return _measured(asked.timing, run)
    modelled = run.timing.time.value
    if _same_work(asked, run) and math.isclose(run.measured, modelled, rel_tol=EXPLAINED):
        return asked.timing
    rho = likeness(asked, run)
    ratio = run.measured / run.timing.time.value
    shift = rho * math.log(ratio)
    origin = run.origin or "the profile"
    note = (
        f"time corrected by a factor of {math.exp(shift):.3g}: the launch of {origin} took {ratio:.3g} times "
        f"what the model says of it, and both launches are alike to {rho:.2f}"
    )
    spreads = {"profile:repeats": rho * run.spread}
    time = _narrowed(asked.timing.time, math.exp(shift), math.sqrt(1.0 - rho * rho), spreads)
    return _stretched(asked.timing, time, note)


def likeness(asked: Run, run: Run) -> float:
    """Return ρ, the correlation of the model's errors about two launches of a kernel, 0 to 1.

    Resources that bind both count whole. The rest, where what binds has changed, fades with the distance of
    the launches: a little more of the same work is not bound by something altogether different.
    """
    common = SAME_LAUNCH if alike(asked.launch, run.launch) else SAME_RESOURCE
    if asked.gpu != run.gpu:
        common *= SAME_TARGET
    bound = overlap(binding(asked.timing), binding(run.timing))
    times = asked.timing.time.value, run.timing.time.value
    apart = abs(math.log(times[0] / times[1])) if min(times) > 0 else math.inf
    return common * (bound + (1.0 - bound) * OTHER_RESOURCE * math.exp(-apart / FADING))


def binding(timing: Timing) -> dict[str, float]:
    """Return how much each resource binds a launch, latency among them; sums to 1.

    >>> from types import SimpleNamespace as Fake
    >>> parts = binding(Fake(utilisation={"dram": 0.9, "issue": 0.3}))
    >>> {name: round(share, 3) for name, share in parts.items()}
    {'dram': 0.988, 'issue': 0.012, 'latency': 0.0}
    """
    busy = {name: min(1.0, max(0.0, share)) for name, share in timing.utilisation.items()}
    busy["latency"] = 1.0 - max(busy.values(), default=0.0)
    weights = {name: share**SHARPNESS for name, share in busy.items()}
    whole = sum(weights.values())
    return {name: weight / whole for name, weight in weights.items()}


def overlap(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return what two distributions have in common, 0 to 1.

    >>> overlap({"dram": 1.0}, {"dram": 0.75, "issue": 0.25})
    0.75
    """
    return sum(min(share, other.get(name, 0.0)) for name, share in one.items())


def same(asked: Run, run: Run) -> bool:
    """Return whether the launch that was measured is the one asked for, at the same clocks."""
    near = (
        math.isclose(asked.clocks.sm, run.clocks.sm, rel_tol=CLOCK_TOLERANCE),
        math.isclose(asked.clocks.memory, run.clocks.memory, rel_tol=CLOCK_TOLERANCE),
    )
    return _same_work(asked, run) and all(near)


def _same_work(asked: Run, run: Run) -> bool:
    return asked.gpu == run.gpu and alike(asked.launch, run.launch)


def alike(one: Launch, other: Launch) -> bool:
    """Whether two launches execute the same."""
    kept = ("grid", "block", "cluster", "dynamic_shared", "carveout", "cooperative", "l2", "arguments")
    return all(getattr(one, name) == getattr(other, name) for name in kept)


def _measured(timing: Timing, run: Run) -> Timing:
    """Return the timing of the measured launch itself: the model explains, the run says how long."""
    assert run.measured is not None
    time = Estimate.spread(run.measured, {"profile:repeats": run.spread}, "s", run.source)
    modelled = timing.time.value
    note = f"measured ({run.origin or 'profile'})"
    if not math.isclose(modelled, run.measured, rel_tol=EXPLAINED):
        note += f"; the model alone says {modelled / run.measured:.3g} times that"
    return _stretched(timing, time, note)


def _narrowed(time: Estimate, factor: float, width: float, spreads: Mapping[str, float]) -> Estimate:
    """Return an estimate shifted by ``factor``, its logarithm's spread times ``width``, and a little more."""
    value = time.value * factor
    draws = time.draws or (time.value,)
    noise = factor_draws(spreads)
    narrow = [value * (draw / time.value) ** width * noise[i % len(noise)] for i, draw in enumerate(draws)]
    return Estimate.from_draws(value, narrow, time.unit, time.source, time.warnings)


def _stretched(timing: Timing, time: Estimate, note: str) -> Timing:
    factor = time.value / timing.time.value
    return replace(
        timing,
        time=time,
        breakdown={name: seconds * factor for name, seconds in timing.breakdown.items()},
        instructions_per_cycle={name: rate / factor for name, rate in timing.instructions_per_cycle.items()},
        warnings=(*timing.warnings, note),
    )
