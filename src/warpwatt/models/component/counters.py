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

from warpwatt.core.case import Case, Timing
from warpwatt.models.component.activity import activity

if TYPE_CHECKING:
    from warpwatt.models.component.activity import Activity

_TABLE = tomllib.loads(files(__package__).joinpath("counters.toml").read_text(encoding="utf-8"))
RATES: Mapping[str, tuple[str, float]] = {
    pipe: (name, each) for pipe, (name, each) in _TABLE["rates"].items()
}
"""Pipe to the throughput class that gives its peak, and what one result counts for."""


def with_counters(work: Activity, case: Case, seconds: float) -> Activity:
    """Return the activity with amounts that the case's profile measured in place of predicted ones."""
    profile = case.profile
    if profile is None or not profile.counters:
        return work
    found = {**_busy(case, seconds), **_counted(profile.counters)}
    active = profile.counters.get("sm_active", profile.counters.get("SMACT"))
    return replace(
        work,
        amounts={**work.amounts, **found},
        active_sms=work.active_sms if active is None else active * case.gpu.sm_count,
        measured=frozenset(found),
    )


def measured_work(case: Case, timing: Timing) -> tuple[Activity, float]:
    """Return what a case does and in how many seconds, measured by its profile or else predicted."""
    profile = case.profile
    seconds = profile.time if profile is not None and profile.time else timing.time.value
    return with_counters(activity(case), case, seconds), seconds


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


def _busy(case: Case, seconds: float) -> dict[str, float]:
    """Return the amounts that DCGM's busy shares stand for."""
    assert case.profile is not None
    gpu, counters = case.gpu, case.profile.counters
    cycles = gpu.sm_count * case.clocks.sm * seconds
    found = {}
    for name, pipe in _TABLE["busy"].items():
        if name in counters:
            throughput, each = RATES[pipe]
            found[pipe] = counters[name] * (each * cycles * gpu.capability.throughput.get(throughput, 0.0))
    if "DRAMA" in counters:
        bandwidth = gpu.memory_bandwidth * case.clocks.memory / gpu.memory_clock
        found["dram"] = counters["DRAMA"] * (bandwidth * seconds)
    return found
