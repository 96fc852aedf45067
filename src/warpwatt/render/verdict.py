"""What limits a launch: said once, for header, bars, explanation and editor alike."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from warpwatt.core.case import Timing
from warpwatt.render.words import COMPUTE_UNITS, MEMORY_UNITS, SCHEDULER_UNITS, UNITS, names_unit

LATENCY = "latency"
LIMITS = "the limit"
"""What stands beside the bar of the unit that limits."""


class Kind(StrEnum):
    """What sort of thing limits."""

    MEMORY = "memory"
    COMPUTE = "compute"
    LATENCY = LATENCY
    """No unit: warps wait for each other or for results."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The limit by its ``name``, the key of its ``unit`` (empty: none), its busy share of the time."""

    name: str
    kind: Kind
    unit: str = ""
    share: float = 0.0


def verdict(timing: Timing) -> Verdict:
    """Return what the time model says limits the launch."""
    name = timing.bottleneck
    if name.startswith(LATENCY):
        return Verdict(name, Kind.LATENCY)
    unit = next((key for key in (*timing.utilisation, *UNITS) if names_unit(name, key)), "")
    kind = Kind.MEMORY if unit in MEMORY_UNITS else Kind.OTHER
    if unit in COMPUTE_UNITS or unit in SCHEDULER_UNITS:
        kind = Kind.COMPUTE
    return Verdict(name, kind, unit, timing.busy.get(unit, 0.0))
