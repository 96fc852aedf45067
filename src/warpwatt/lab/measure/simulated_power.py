"""The power side of the simulated device: a true power trace, and sensors that see it badly.

The sensors follow what was published of real boards (Yang et al. 2024, *Accurate and Convenient Energy
Measurements for GPUs*): the instant reading averages 25 of every 100 ms, may lag behind, and has a gain;
the energy counter is stepped.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from enum import StrEnum


class SensorFault(StrEnum):
    """How a sensor can be broken."""

    NONE = "none"
    NAN = "nan"
    STUCK = "stuck"
    NEGATIVE = "negative"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class SensorBehaviour:
    """How the simulated sensors err.

    Attributes
    ----------
    period, window
        The instant reading averages the first ``window`` of every ``period`` seconds.
    lag
        Time constant in s of a first-order rise; 0: none.
    gain
        Factor of the instant reading; the counter has none.
    counter_step
        Seconds between updates of the energy counter.
    counter_start_mj, counter_bits
        Where the counter starts and where it wraps.
    power_fault, counter_fault
        How the two are broken.
    """

    period: float = 0.1
    window: float = 0.025
    lag: float = 0.0
    gain: float = 1.0
    counter_step: float = 0.02
    counter_start_mj: int = 0
    counter_bits: int = 64
    power_fault: SensorFault = SensorFault.NONE
    counter_fault: SensorFault = SensorFault.NONE


@dataclass(slots=True)
class PowerTrace:
    """True power over time: ``idle`` watts, and busy segments in order."""

    idle: float
    starts: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    extra: list[float] = field(default_factory=list)
    before: list[float] = field(default_factory=list)
    """Energy above idle, in J, before each segment."""

    def add(self, start: float, end: float, watts: float) -> None:
        """Append a segment; it begins at or after the end of the last."""
        extra = watts - self.idle
        if self.starts and extra == self.extra[-1] and start - self.ends[-1] < 1e-9:
            self.ends[-1] = end
            return
        total = self._total()
        self.starts.append(start)
        self.ends.append(end)
        self.extra.append(extra)
        self.before.append(total)

    def _total(self) -> float:
        if not self.starts:
            return 0.0
        return self.before[-1] + self.extra[-1] * (self.ends[-1] - self.starts[-1])

    def energy(self, time: float) -> float:
        """Return the energy in J from time 0 on.

        >>> trace = PowerTrace(10.0)
        >>> trace.add(1.0, 2.0, 110.0)
        >>> trace.energy(1.5), trace.energy(4.0)
        (65.0, 140.0)
        """
        index = bisect_right(self.starts, time) - 1
        if index < 0:
            return self.idle * time
        inside = min(time, self.ends[index]) - self.starts[index]
        return self.idle * time + self.before[index] + self.extra[index] * inside

    def mean(self, start: float, end: float) -> float:
        """Return the mean power in W between two times."""
        return (self.energy(end) - self.energy(start)) / (end - start)


class PowerSensors:
    """Readings of a trace."""

    def __init__(self, trace: PowerTrace, behaviour: SensorBehaviour) -> None:
        self.trace = trace
        self.behaviour = behaviour
        self._period = 0
        self._level = trace.idle

    def restart(self, time: float) -> None:
        """Forget the past: from here on the sensor starts at idle."""
        self._period = int(time / self.behaviour.period)
        self._level = self.trace.idle

    def instant(self, time: float) -> float | None:
        """Return the instant reading in W."""
        how = self.behaviour
        match how.power_fault:
            case SensorFault.NAN:
                return math.nan
            case SensorFault.STUCK:
                return self.trace.idle
            case SensorFault.NEGATIVE:
                return -self.trace.idle
            case SensorFault.MISSING:
                return None
        last = math.floor((time - how.window) / how.period + 1e-9)
        share = 1.0 if how.lag == 0 else 1 - math.exp(-how.period / how.lag)
        while self._period <= last:
            start = self._period * how.period
            self._level += (self.trace.mean(start, start + how.window) - self._level) * share
            self._period += 1
        return self._level * how.gain

    def counter_mj(self, time: float) -> int | None:
        """Return the energy counter in mJ."""
        how = self.behaviour
        if how.counter_fault is SensorFault.MISSING:
            return None
        if how.counter_fault is not SensorFault.NONE:
            return how.counter_start_mj
        stepped = math.floor(time / how.counter_step + 1e-6) * how.counter_step
        counted = how.counter_start_mj + round(self.trace.energy(stepped) * 1e3)
        return counted % (1 << how.counter_bits)
