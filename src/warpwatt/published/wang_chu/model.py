"""``wang-chu`` as a time model: from a case, with or without a measured profile, to its timing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from warpwatt.core.case import Case, Profile, Timing
from warpwatt.core.errors import LaunchError
from warpwatt.core.estimate import Estimate, Source
from warpwatt.core.execution import with_assumed
from warpwatt.core.program import Level
from warpwatt.models.memo import at_any_clock
from warpwatt.models.roofs import roofs
from warpwatt.published.wang_chu.baseline import FittedCounts, fit_counts
from warpwatt.published.wang_chu.breakdown import breakdown, breakdown_of_counters
from warpwatt.published.wang_chu.counts import from_counters, from_workload
from warpwatt.published.wang_chu.parameters import parameters
from warpwatt.published.wang_chu.remarks import remarks
from warpwatt.published.wang_chu.rounds import answer

if TYPE_CHECKING:
    from warpwatt.published.wang_chu.counts import Counts
    from warpwatt.published.wang_chu.memory import MemoryParameters
    from warpwatt.published.wang_chu.rounds import Answer

MODEL_SPREAD = 0.45
"""Standard deviation of log(measured / predicted) without a profile: docs/validation/wang_chu.md."""
PROFILED_SPREAD = 0.06
"""The same at other clocks than those of a profile of the very launch."""


class WangChu:
    """Rounds of active warps on a serial compute server and a first-come-first-served memory server."""

    name = "wang-chu"
    document = "Wang and Chu 2018, section V"
    summary = "memory as a queue, computation as a server, at any pair of clocks (Wang & Chu 2018); every GPU"
    levels = (Level.SASS, Level.PTX)

    def predict(self, case: Case) -> Timing:
        """Return the timing; a profile of the same launch supplies counters and a time to start from.

        Raises
        ------
        LaunchError
            If the kernel does nothing the model knows of.
        """
        memory = parameters(case.gpu)
        profile = case.profile if _is_of_this_launch(case) else None
        start, notes = _start(case, memory, profile)
        found = answer(start.counts, memory, case.clocks)
        seconds = start.factor * found.seconds
        if seconds <= 0:
            raise LaunchError("model wang-chu finds no work", hint="use --model time=roofline")
        return Timing(
            model=self.name,
            time=_estimate(case, seconds, profiled=profile is not None and profile.time is not None),
            bottleneck=found.regime,
            breakdown=_parts(found, start.factor),
            utilisation={
                "sm": min(1.0, found.computing / found.seconds),
                "dram": min(1.0, found.queueing / found.seconds),
            },
            shares=_shares(case, found),
            warnings=notes,
            instructions_per_cycle=_rates(case, profile, seconds),
            remarks=remarks(start.counts, memory, case.clocks, found.regime),
        )


def _is_of_this_launch(case: Case) -> bool:
    profile = case.profile
    if profile is None or profile.gpu != case.gpu.name:
        return False
    run = profile.launch
    alike = run is None or (run.grid == case.launch.grid and run.block == case.launch.block)
    return alike and (run is None or not run.arguments or run.arguments == case.launch.arguments)


def _start(
    case: Case, memory: MemoryParameters, profile: Profile | None
) -> tuple[FittedCounts, tuple[str, ...]]:
    """Return the counts to start from and what to say about them."""
    counts = _modelled(case)
    if profile is None:
        return FittedCounts(counts), ()
    if profile.counters:
        counts = from_counters(profile.counters, case.gpu, counts)
    notes: tuple[str, ...] = ()
    if counts.missing:
        notes = (f"the profile lacks {', '.join(counts.missing)}: modelled without a run",)
    if profile.time is None:
        return FittedCounts(counts), notes
    return fit_counts(counts, memory, profile.clocks, profile.time), notes


@at_any_clock
def _modelled(case: Case) -> Counts:
    return from_workload(case)


def _estimate(case: Case, seconds: float, *, profiled: bool) -> Estimate:
    own = {"model:wang-chu": PROFILED_SPREAD if profiled else MODEL_SPREAD}
    spreads = with_assumed(own, () if profiled else case.workload.assumptions)
    return Estimate.spread(seconds, spreads, "s", Source.MODELLED)


def _parts(found: Answer, factor: float) -> dict[str, float]:
    """Return the seconds of both servers, and what neither hides."""
    exposed = max(0.0, found.seconds - max(found.computing, found.queueing))
    parts = {"computation": found.computing, "memory queue": found.queueing, "latency not hidden": exposed}
    return {name: seconds * factor for name, seconds in parts.items()}


def _shares(case: Case, found: Answer) -> tuple[float, ...]:
    """Spread the time over instructions: by issue or by bytes, as either server binds."""
    loads = {roof.key: roof.loads for roof in roofs(case)}
    busy = ((found.computing, loads.get("issue", ())), (found.queueing, loads.get("dram", ())))
    shares = [0.0] * len(case.workload.execution.counts)
    for weight, own in busy:
        whole = math.fsum(own)
        if whole > 0:
            shares = [share + weight * load / whole for share, load in zip(shares, own, strict=True)]
    whole = math.fsum(shares)
    return tuple(share / whole for share in shares) if whole > 0 else tuple(shares)


def _rates(case: Case, profile: Profile | None, seconds: float) -> dict[str, float]:
    """Return the warp instructions per cycle and SM by the types of Figure 12."""
    found = breakdown_of_counters(profile.counters) if profile is not None else {}
    found = found or breakdown(case.workload)
    each = case.workload.execution.warp_instructions / (seconds * case.clocks.sm * case.gpu.sm_count)
    return {kind: share * each for kind, share in found.items() if share}
