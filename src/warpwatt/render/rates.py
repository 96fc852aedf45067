"""How fast each level of memory moves the bytes of a launch: one definition for every page.

L2 and DRAM have two shares, each with its base: of the time, in which they are busy, which is their rate over
the rate that they reach with these accesses; and of their peak, that of the data sheet or one measured. Bytes
of L1 are those of whole sectors, its peak is of what lanes get: it has the first alone, without a rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.units import si
from warpwatt.render.figures import percent
from warpwatt.render.roofline import memory_roofs, roof_origin
from warpwatt.render.verdict import LIMITS, verdict
from warpwatt.render.words import unit_name

if TYPE_CHECKING:
    from warpwatt.core.execution import Traffic
    from warpwatt.core.prediction import Prediction


SMALL = 0.005
"""Shares that are shown as below one percent."""


@dataclass(frozen=True, slots=True)
class Rate:
    """One level: its bytes, B/s over the whole time, busy share of the time, peak in B/s; 0 is not known."""

    traffic: Traffic
    rate: float
    busy: float
    peak: float
    origin: str

    @property
    def busy_text(self) -> str:
        """What the busy share is of: ``"of 3.29 TB/s"``; empty where it is not known, or too small to say."""
        known = self.busy >= SMALL and self.rate > 0 and self.peak > 0
        return f"of {si(self.rate / self.busy, 'B/s')}" if known else ""

    @property
    def peak_text(self) -> str:
        """The share of the peak: ``"67 % of 4.89 TB/s, data sheet"``."""
        return f"{of_peak(self.rate, self.peak, 'B/s')}, {self.origin}" if self.peak > 0 else ""


def of_peak(rate: float, peak: float, unit: str) -> str:
    """Return a rate's share of a peak.

    >>> of_peak(3.26e12, 4.89e12, "B/s")
    '67 % of 4.89 TB/s'
    """
    return f"{percent(rate / peak)} of {si(peak, unit)}"


def rates(prediction: Prediction) -> dict[str, Rate]:
    """Return the levels by the key of their unit, L1 first."""
    case, seconds, busy = prediction.case, prediction.time.value, prediction.timing.busy
    found = {}
    for roof in reversed(memory_roofs(case)):
        key = roof.name.lower()
        traffic: Traffic = getattr(case.workload, key)
        rate = traffic.total / seconds if seconds > 0 else 0.0
        peak = 0.0 if key == "l1" else roof.peak
        found[key] = Rate(traffic, rate, busy.get(key, 0.0), peak, roof_origin(case, roof.name))
    return found


def busy_units(prediction: Prediction) -> list[tuple[str, float, str]]:
    """Return key, busy share and what the share is of for every unit, busiest first; one of them limits."""
    limit, known = verdict(prediction.timing).unit, rates(prediction)
    found = []
    for key, share in prediction.timing.busy.items():
        said = (known[key].busy_text if key in known else "", LIMITS if key == limit else "")
        found.append((key, share, ", ".join(filter(None, said))))
    return sorted(found, key=lambda unit: (-unit[1], unit_name(unit[0])))
