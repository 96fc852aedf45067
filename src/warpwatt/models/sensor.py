"""What a board's power sensor shows of a load that changes faster than it averages.

A reading of ``nvidia-smi`` or NVML is a mean over a window; some boards look only at part of the time between
two readings. A launch that is shorter than the window shows as its share of it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.core.gpu import Gpu

Step = tuple[float, float, float]
"""Start and end in seconds, and the watts between them."""


@dataclass(frozen=True, slots=True)
class Sensor:
    """A mean over ``window`` seconds, taken every ``period`` seconds."""

    window: float
    period: float


_WHOLE = Sensor(0.1, 0.1)
_SECOND = Sensor(1.0, 0.1)
SENSORS = {
    "8.0": Sensor(0.025, 0.1),
    "Volta": Sensor(0.01, 0.02),
    "Turing": _WHOLE,
    "Ampere": _SECOND,
    "Ada": _SECOND,
    "Hopper": _SECOND,
    "Blackwell": _SECOND,
}
"""Capability or architecture to its sensor. Up to GA100: Yang, Adamek and Armour, Part-time Power
Measurements, 2024. From GA10x on NVML documents a mean over one second (nvmlDeviceGetPowerUsage), and behind
a kernel an RTX 4000 Ada falls to its rest within 1.0 s, in steps of 0.1 (nlesc-recruit/powersensor3-results,
PMT). What is called instant there (``power.draw.instant``) averages over less."""


def sensor(gpu: Gpu) -> Sensor:
    """Return the sensor of a GPU; those nobody looked at are taken to average over 100 ms.

    >>> from warpwatt.gpus import find
    >>> [sensor(find(name)).window for name in ("a100-pcie-40gb", "rtx 4090", "p100")]
    [0.025, 1.0, 0.1]
    """
    return SENSORS.get(gpu.capability.version, SENSORS.get(gpu.arch, _WHOLE))


def shown(watts: float, seconds: float, waiting: float, window: float) -> float:
    """Return the most that a sensor shows of one launch on a board that draws ``waiting`` watts without it.

    >>> shown(200.0, 0.01, 50.0, 0.1), shown(200.0, 1.0, 50.0, 0.1)
    (65.0, 200.0)
    """
    share = min(1.0, seconds / window)
    return share * watts + (1.0 - share) * waiting


def launches_to_fill(seconds: float, interval: float, window: float) -> int:
    """Return how many launches in a row, at most one every ``interval`` seconds, fill a window twice over.

    >>> launches_to_fill(1e-3, 2e-6, 0.1)
    200
    """
    return math.ceil(2 * window / max(seconds, interval) - 1e-9)


def largest_reading(steps: Sequence[Step], window: float) -> float:
    """Return the largest mean over a window of a power that changes in steps, which follow each other.

    The mean over a sliding window is largest where the window begins or ends with a step.

    >>> round(largest_reading([(0.0, 0.1, 50.0), (0.1, 0.15, 250.0), (0.15, 1.0, 50.0)], 0.1))
    150
    """
    if not steps:
        return 0.0
    first, last = steps[0][0], steps[-1][1]
    if last - first <= window:
        return sum((end - start) * watts for start, end, watts in steps) / (last - first)
    edges = [start for start, _, _ in steps] + [last]
    joules = [0.0]
    for start, end, watts in steps:
        joules.append(joules[-1] + (end - start) * watts)
    begins = sorted(
        min(max(begin, first), last - window) for edge in edges for begin in (edge, edge - window)
    )
    return max(_spent(edges, joules, b + window) - _spent(edges, joules, b) for b in begins) / window


def _spent(edges: Sequence[float], joules: Sequence[float], until: float) -> float:
    """Return the joules up to a time, on the straight lines between the edges."""
    i = min(max(bisect_right(edges, until), 1), len(edges) - 1)
    part = (until - edges[i - 1]) / (edges[i] - edges[i - 1]) if edges[i] > edges[i - 1] else 0.0
    return joules[i - 1] + part * (joules[i] - joules[i - 1])
