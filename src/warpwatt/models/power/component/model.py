"""The power model ``component``: watts by component, attributed to instructions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from warpwatt.core.case import Power
from warpwatt.core.estimate import DRAWS, Estimate, Source, factor_draws
from warpwatt.models.power.component.activity import activity
from warpwatt.models.power.component.counters import with_counters
from warpwatt.models.power.component.loads import loads
from warpwatt.models.power.component.parameters import STATIC, parameters
from warpwatt.models.power.component.toggle import fill_assumed, toggle_factor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.core.case import Case, Timing
    from warpwatt.models.power.component.activity import Activity
    from warpwatt.models.power.component.parameters import Parameters


class Component:
    """Board power as the sum of its components."""

    name = "component"
    summary = "constant, clock, leakage and switching power by component from predicted work; every GPU"

    def predict(self, case: Case, timing: Timing) -> Power:
        """Return the mean power while the kernel runs.

        A profile's time and counters replace predicted ones. Not clipped at the power limit: the clock fixed
        point of :func:`warpwatt.predict.predict` lowers the clock instead.

        Raises
        ------
        UnsupportedGpuError
            If the GPU's board power is not known.
        """
        known = parameters(case.gpu)
        profile = case.profile
        seconds = profile.time if profile is not None and profile.time else timing.time.value
        work = with_counters(activity(case), case, seconds)
        found = loads(
            case.gpu,
            case.clocks,
            work,
            seconds,
            known,
            toggle=toggle_factor(case, known.toggles),
            temperature_c=profile.counters.get("temperature_c") if profile is not None else None,
        )
        watts = {name: known.coefficients[name].value * load for name, load in found.items()}
        watts = {name: value for name, value in watts.items() if value > 0}
        power = Estimate.from_draws(
            math.fsum(watts.values()),
            _draws(case, timing, known, watts),
            "W",
            Source.MODELLED if known.calibrated else Source.ASSUMED,
        )
        return Power(self.name, power, watts, _shares(case, timing, work, watts))


def _draws(case: Case, timing: Timing, known: Parameters, watts: Mapping[str, float]) -> list[float]:
    """Return draws of the power; switching energy is spent whether the kernel is quick or slow."""
    measured = case.profile is not None and case.profile.time
    times = timing.time.draws if timing.time.draws and not measured else (timing.time.value,) * DRAWS
    totals = [0.0] * DRAWS
    toggles = factor_draws({"toggle": known.toggle_spread if fill_assumed(case) else 0.0})
    for name, own in watts.items():
        spread = known.coefficients[name].spread
        factors = factor_draws({f"power:{name}:{known.scope}": spread})
        if name in STATIC:
            totals = [total + own * f for total, f in zip(totals, factors, strict=True)]
        else:
            paces = [timing.time.value / time for time in times]
            totals = [
                total + own * f * pace * toggle
                for total, f, pace, toggle in zip(totals, factors, paces, toggles, strict=True)
            ]
    rest = factor_draws({"model:component": known.residual})
    return [total * f for total, f in zip(totals, rest, strict=True)]


def _shares(case: Case, timing: Timing, work: Activity, watts: Mapping[str, float]) -> tuple[float, ...]:
    """Return each instruction's share of the energy: its own operations and bytes, static power by time."""
    size = len(case.workload.execution.counts)
    own = [0.0] * size
    left = 0.0
    for name, power in watts.items():
        parts = work.by_instruction.get(name, {})
        whole = math.fsum(parts.values())
        if name in STATIC or not whole:
            left += power
            continue
        for index, amount in parts.items():
            own[index] += power * amount / whole
    spent = math.fsum(own)
    if not spent + left:
        return ()
    times = timing.shares or tuple(part / spent if spent else 1.0 / size for part in own)
    return tuple((part + left * time) / (spent + left) for part, time in zip(own, times, strict=True))
