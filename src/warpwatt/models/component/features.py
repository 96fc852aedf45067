"""Physical features of a launch, or of a run of several, for models that learn on top of the component model.

All of them follow from what is done in how many seconds at which clocks, so measured and predicted seconds,
one launch and a loop of several give features of the same meaning.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from warpwatt.core.case import Case, Timing
from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.core.launch import WARP_SIZE
from warpwatt.models.component.activity import toggle_factor
from warpwatt.models.component.counters import RATES, measured_work
from warpwatt.models.component.parameters import COMPONENTS, loads, parameters

if TYPE_CHECKING:
    from warpwatt.models.component.activity import Activity

LEVELS = ("shared", "l1", "l2", "dram")


def physical_features(case: Case, timing: Timing) -> dict[str, float]:
    """Return name to value of a case: :func:`features`, with the component model's watts."""
    known = parameters(case.gpu)
    work, seconds = measured_work(case, timing)
    toggle = toggle_factor(case, known.toggles)
    found = loads(case.gpu, case.clocks, work, seconds, known, toggle=toggle)
    watts = {name: known.coefficients[name].value * found.get(name, 0.0) for name in COMPONENTS}
    return features(case.gpu, case.clocks, work, seconds, watts, toggle=toggle)


def features(
    gpu: Gpu, clocks: Clocks, work: Activity, seconds: float, watts: Mapping[str, float], *, toggle: float
) -> dict[str, float]:
    """Return name to value, always the same names in the same order.

    ``utilisation.*`` work over what the unit could do in that time; ``rate.*`` bytes per second by level and
    instructions per second; ``issue.per_sm_clock`` warp instructions per SM and clock; ``lanes`` active lanes
    per warp instruction, 0 to 1; ``occupancy``, NaN where not known; ``active_sms`` a share; ``clock.*`` in
    hertz and relative; ``gpu.*`` from the data sheet; ``toggle``; ``component.*`` watts of the component
    model, ``share.*`` the same over their sum ``component.total``: the prior; ``limit_share`` that over the
    power limit.
    """
    total = math.fsum(watts.values())
    return {
        **_utilisation(gpu, clocks, work, seconds),
        **_rates(gpu, clocks, work, seconds),
        "occupancy": work.occupancy,
        "active_sms": work.active_sms / gpu.sm_count,
        **_machine(gpu, clocks),
        "toggle": toggle,
        **{f"component.{_plain(name)}": watts.get(name, 0.0) for name in COMPONENTS},
        **{f"share.{_plain(name)}": watts.get(name, 0.0) / total for name in COMPONENTS},
        "component.total": total,
        "limit_share": total / gpu.rated_power if gpu.rated_power else math.nan,
    }


def _plain(component: str) -> str:
    return component.replace(" ", "_")


def _utilisation(gpu: Gpu, clocks: Clocks, work: Activity, seconds: float) -> dict[str, float]:
    """Return the busy share of every pipe, and of device memory's theoretical bandwidth."""
    cycles = gpu.sm_count * clocks.sm * seconds
    bandwidth = gpu.memory_bandwidth * clocks.memory / gpu.memory_clock
    found = {"utilisation.dram": work.amounts.get("dram", 0.0) / (bandwidth * seconds)}
    for pipe, (name, each) in RATES.items():
        peak = each * gpu.capability.throughput.get(name, 0.0) * cycles
        found[f"utilisation.{pipe}"] = work.amounts.get(pipe, 0.0) / peak if peak else 0.0
    return found


def _rates(gpu: Gpu, clocks: Clocks, work: Activity, seconds: float) -> dict[str, float]:
    amounts = work.amounts
    issued = amounts.get("issue", 0.0)
    cycles = gpu.sm_count * clocks.sm * seconds
    return {
        **{f"rate.{level}": amounts.get(level, 0.0) / seconds for level in LEVELS},
        **{f"{level}.per_sm_clock": amounts.get(level, 0.0) / cycles for level in LEVELS[:-1]},
        "rate.issue": issued / seconds,
        "issue.per_sm_clock": issued / cycles,
        "lanes": amounts.get("registers", 0.0) / (WARP_SIZE * issued) if issued else 0.0,
    }


def _machine(gpu: Gpu, clocks: Clocks) -> dict[str, float]:
    return {
        "clock.sm": clocks.sm,
        "clock.memory": clocks.memory,
        "clock.sm_share": clocks.sm / gpu.boost_clock,
        "clock.memory_share": clocks.memory / gpu.memory_clock,
        "gpu.power_limit": gpu.rated_power or math.nan,
        "gpu.sm_count": float(gpu.sm_count),
        "gpu.memory_bandwidth": gpu.memory_bandwidth,
    }
