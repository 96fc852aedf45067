"""Measured counters in place of predicted work: nvprof's, Nsight Compute's and DCGM's (``counters.toml``).

Per launch: instructions and transactions are counts, DCGM's are busy shares between 0 and 1 which the peak
rate of their unit turns into work.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

from warpwatt.core.case import Case, Profile, Timing
from warpwatt.models.component.activity import activity

if TYPE_CHECKING:
    from warpwatt.core.launch import Launch
    from warpwatt.models.component.activity import Activity

_TABLE = tomllib.loads(files(__package__).joinpath("counters.toml").read_text(encoding="utf-8"))
RATES: Mapping[str, tuple[str, float]] = {
    pipe: (name, each) for pipe, (name, each) in _TABLE["rates"].items()
}
"""Pipe to the throughput class that gives its peak, and what one result counts for."""


def with_counters(work: Activity, case: Case, seconds: float) -> Activity:
    """Return the activity with amounts that the case's profile counted in place of predicted ones.

    Counters of another launch say nothing of this one. ``seconds`` is how long the profiled launch took
    where the profile does not say.
    """
    profile = case.profile
    if profile is None or not profile.counters or not _counts_for(profile, case.launch):
        return work
    found = {**_busy(case, profile, profile.time or seconds), **_counted(profile.counters)}
    active = profile.counters.get("sm_active", profile.counters.get("SMACT"))
    return replace(
        work,
        amounts={**work.amounts, **found},
        active_sms=work.active_sms if active is None else active * case.gpu.sm_count,
        measured=frozenset(found),
    )


def _counts_for(profile: Profile, launch: Launch) -> bool:
    own = profile.launch
    return own is None or (own.grid, own.block, own.dynamic_shared) == (
        launch.grid,
        launch.block,
        launch.dynamic_shared,
    )


def measured_work(case: Case, timing: Timing) -> tuple[Activity, float]:
    """Return what a case does, counted by its profile or else predicted, and in how many seconds."""
    return with_counters(activity(case), case, timing.time.value), timing.time.value


def _counted(counters: Mapping[str, float]) -> dict[str, float]:
    """Return the amounts of components all of whose counters are there."""
    found = {}
    for component, parts in _TABLE["counts"].items():
        values = [
            next((counters[name] * part["amount"] for name in part["names"] if name in counters), None)
            for part in parts
        ]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            found[component] = sum(known)
    return found


def _busy(case: Case, profile: Profile, seconds: float) -> dict[str, float]:
    """Return the amounts that DCGM's busy shares stand for."""
    gpu, counters, clocks = case.gpu, profile.counters, profile.clocks
    cycles = gpu.sm_count * clocks.sm * seconds
    found = {}
    for name, pipe in _TABLE["busy"].items():
        if name in counters:
            throughput, each = RATES[pipe]
            found[pipe] = counters[name] * (each * cycles * gpu.capability.throughput.get(throughput, 0.0))
    if "DRAMA" in counters:
        bandwidth = gpu.memory_bandwidth * clocks.memory / gpu.memory_clock
        found["dram"] = counters["DRAMA"] * (bandwidth * seconds)
    return found
