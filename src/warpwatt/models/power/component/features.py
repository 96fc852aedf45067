"""The physical features of a case, for models that learn on top of the component model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.launch import WARP_SIZE
from warpwatt.models.power.component.activity import activity
from warpwatt.models.power.component.counters import with_counters
from warpwatt.models.power.component.loads import loads
from warpwatt.models.power.component.parameters import COMPONENTS, parameters
from warpwatt.models.power.component.toggle import toggle_factor

if TYPE_CHECKING:
    from warpwatt.core.case import Case, Timing
    from warpwatt.models.power.component.activity import Activity

UNITS = ("dram", "l2", "l1", "shared", "issue", "fp32", "fp64", "fp16", "int", "imad", "sfu", "tensor")
"""Units whose busy share is a feature."""


def physical_features(case: Case, timing: Timing) -> dict[str, float]:
    """Return name to value, always the same names in the same order.

    ``utilisation.*`` busy shares 0 to 1; ``rate.*`` bytes per second by level and instructions per second;
    ``issue.per_sm_clock`` warp instructions per SM and clock; ``lanes`` active lanes per warp instruction 0
    to 1; ``occupancy.*``; ``clock.*`` in hertz and relative; ``gpu.*`` from the data sheet; ``component.*``
    watts of the component model, ``component.total`` their sum: the prior.
    """
    known = parameters(case.gpu)
    profile = case.profile
    seconds = profile.time if profile is not None and profile.time else timing.time.value
    work = with_counters(activity(case), case, seconds)
    toggle = toggle_factor(case, known.toggles)
    found = loads(case.gpu, case.clocks, work, seconds, known, toggle=toggle)
    watts = {name: known.coefficients[name].value * found.get(name, 0.0) for name in COMPONENTS}
    return {
        **{f"utilisation.{unit}": timing.utilisation.get(unit, 0.0) for unit in UNITS},
        **_rates(case, work, seconds),
        **_residency(case, work),
        **_machine(case),
        "voltage": known.voltage.at(case.clocks.sm / case.gpu.boost_clock),
        "toggle": toggle,
        **{f"component.{name.replace(' ', '_')}": value for name, value in watts.items()},
        "component.total": sum(watts.values()),
    }


def _rates(case: Case, work: Activity, seconds: float) -> dict[str, float]:
    amounts = work.amounts
    issued = amounts.get("issue", 0.0)
    cycles = case.gpu.sm_count * case.clocks.sm * seconds
    return {
        **{f"rate.{level}": amounts.get(level, 0.0) / seconds for level in ("shared", "l1", "l2", "dram")},
        "rate.issue": issued / seconds,
        "issue.per_sm_clock": issued / cycles,
        "lanes": amounts.get("registers", 0.0) / (WARP_SIZE * issued) if issued else 0.0,
    }


def _residency(case: Case, work: Activity) -> dict[str, float]:
    return {
        "occupancy.theoretical": case.workload.occupancy.theoretical,
        "occupancy.waves": case.workload.waves,
        "occupancy.active_sms": work.active_sms / case.gpu.sm_count,
    }


def _machine(case: Case) -> dict[str, float]:
    gpu, clocks = case.gpu, case.clocks
    return {
        "clock.sm": clocks.sm,
        "clock.memory": clocks.memory,
        "clock.sm_share": clocks.sm / gpu.boost_clock,
        "clock.memory_share": clocks.memory / gpu.memory_clock,
        "gpu.power_limit": gpu.power_limit or 0.0,
        "gpu.sm_count": float(gpu.sm_count),
        "gpu.memory_bandwidth": gpu.memory_bandwidth,
    }
