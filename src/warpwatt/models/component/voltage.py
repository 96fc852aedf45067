"""Voltage against clock: a floor up to the knee, then rising to the voltage of the boost clock."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VoltageCurve:
    """Voltage relative to that at the boost clock, against the clock relative to the boost clock.

    Guerreiro et al. (HPCA 2018) and Mei et al. (2017) measured such curves: flat at low clocks, then rising.
    """

    floor: float
    knee: float
    exponent: float

    def at(self, share: float) -> float:
        """Return V / V(boost) at that share of the boost clock; beyond 1 the curve goes on.

        >>> curve = VoltageCurve(floor=0.7, knee=0.5, exponent=1.0)
        >>> [round(curve.at(share), 6) for share in (0.3, 0.5, 0.75, 1.0)]
        [0.7, 0.7, 0.85, 1.0]
        """
        rise = max(0.0, (share - self.knee) / (1.0 - self.knee))
        return self.floor + (1.0 - self.floor) * math.pow(rise, self.exponent)
