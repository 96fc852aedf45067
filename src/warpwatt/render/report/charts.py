"""The bar charts of a prediction: units, warp states, components of time and energy, occupancy."""

from __future__ import annotations

from warpwatt.core.prediction import Prediction
from warpwatt.core.units import si
from warpwatt.core.warps import Stall
from warpwatt.models.component.parameters import STATIC
from warpwatt.render.figures import percent, plural
from warpwatt.render.rates import busy_units
from warpwatt.render.report.lines import SMALL
from warpwatt.render.report.values import Bar, bar, parts
from warpwatt.render.words import STALL_REASONS, unit_name


def bar_charts(prediction: Prediction) -> dict[str, tuple[Bar, ...]]:
    """Return the bar charts by name."""
    timing = prediction.timing
    components = prediction.energy_components
    return {
        "speed-of-light": tuple(bar(unit_name(k), share, note) for k, share, note in busy_units(prediction)),
        "time": () if _same_names(prediction) else parts(timing.breakdown, prediction.time.value, "s"),
        "energy": parts(components, sum(components.values()), "J"),
        "stalls": _stalls(prediction),
    }


def _stalls(prediction: Prediction) -> tuple[Bar, ...]:
    """Return the warp states, longest first, with cycles per issued instruction as in Nsight Compute."""
    timing = prediction.timing
    cycles = timing.warps.per_issue() if timing.warps else {}
    ordered = sorted(timing.stalls.items(), key=lambda pair: -pair[1])
    seconds = timing.breakdown if _same_names(prediction) else {}
    return tuple(_stall(s, share, cycles.get(s), seconds.get(str(s))) for s, share in ordered if share)


def _stall(stall: Stall, share: float, cycles: float | None, seconds: float | None) -> Bar:
    notes = (f"{cycles:.2f} cycles" if cycles is not None else "", si(seconds, "s") if seconds else "")
    hint = STALL_REASONS.get(stall, "") if share >= SMALL else ""
    return bar(str(stall), share, ", ".join(note for note in notes if note), cycles, hint)


def _same_names(prediction: Prediction) -> bool:
    """Return whether the time model divides the time by warp states, so that one chart shows both."""
    timing = prediction.timing
    return bool(timing.stalls) and set(timing.breakdown) <= {str(stall) for stall in timing.stalls}


def static_energy(prediction: Prediction) -> str:
    """Return what part of the energy is drawn however little the kernel does; empty where not known."""
    components = prediction.energy_components
    whole, fixed = sum(components.values()), sum(components.get(name, 0.0) for name in STATIC)
    if not (whole > 0 and fixed > 0):
        return ""
    return f"{percent(fixed / whole)} is drawn however little the kernel does."


def occupancy_bar(prediction: Prediction) -> Bar:
    """Return the resident warps over the most an SM holds."""
    held = prediction.case.workload.occupancy
    note = (
        f"{held.resident_warps} of {held.max_warps_per_sm} warps in {plural(held.resident_blocks, 'block')}"
    )
    return bar("Resident", held.resident, note)
