"""The voltage of a GPU against its clock: read from boards of the chip, or a fitted curve.

``voltage.toml`` holds what ``nvidia-smi``, reviews and power sweeps say of each chip; a chip that nobody read
takes the table of its architecture, and is less sure.
"""

from __future__ import annotations

import math
import tomllib
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.core.gpu import Gpu

REFERENCE_VOLTS = 0.95
"""Energies of ``component.toml`` are those at this voltage."""
_MEGA = 1e6


@dataclass(frozen=True, slots=True)
class VoltageCurve:
    """Voltage relative to that at the boost clock, against the clock relative to the boost clock.

    Guerreiro et al. (HPCA 2018) and Mei et al. (2017) measured such curves: flat at low clocks, then rising.
    Beyond ``end`` a board holds its voltage: what is clocked higher is an offset.
    """

    floor: float
    knee: float
    exponent: float
    end: float = math.inf

    def at(self, share: float) -> float:
        """Return V / V(boost) at that share of the boost clock; above 1 the curve continues up to its end.

        >>> curve = VoltageCurve(floor=0.7, knee=0.5, exponent=1.0)
        >>> [round(curve.at(share), 6) for share in (0.3, 0.5, 0.75, 1.0)]
        [0.7, 0.7, 0.85, 1.0]
        """
        rise = max(0.0, (min(share, self.end) - self.knee) / (1.0 - self.knee))
        return self.floor + (1.0 - self.floor) * math.pow(rise, self.exponent)


@dataclass(frozen=True, slots=True)
class VoltageTable:
    """The same from readings: shares of the boost clock in rising order, with V / V(boost) at each.

    Straight between readings; flat below the first and beyond the last, where boards hold their voltage.
    """

    shares: tuple[float, ...]
    ratios: tuple[float, ...]

    @property
    def floor(self) -> float:
        """Lowest V / V(boost)."""
        return self.ratios[0]

    @property
    def end(self) -> float:
        """Share of the boost clock beyond which the voltage is held."""
        return self.shares[-1]

    def at(self, share: float) -> float:
        """Return V / V(boost) at that share of the boost clock.

        >>> table = VoltageTable((0.5, 1.0, 1.2), (0.8, 1.0, 1.1))
        >>> [round(table.at(share), 6) for share in (0.3, 0.75, 1.0, 1.5)]
        [0.8, 0.9, 1.0, 1.1]
        """
        return _interpolated(self.shares, self.ratios, share)


Voltage = VoltageCurve | VoltageTable


@dataclass(frozen=True, slots=True)
class ChipVoltage:
    """What is known of the voltage of a GPU's chip.

    ``at_boost`` is in volts. ``read`` says whether it comes from readings of this chip: where it does not,
    voltages of its architecture stand in.
    """

    at_boost: float
    table: VoltageTable
    read: bool


@lru_cache(maxsize=256)
def chip_voltage(gpu: Gpu) -> ChipVoltage:
    """Return the voltage of a GPU's chip: of the chip, else of its capability or architecture."""
    tables = _tables()
    key = next((k for k in (gpu.die, gpu.capability.version, gpu.arch) if k in tables), "default")
    entry = tables[key]
    clocks = tuple(mhz * _MEGA for mhz, _ in entry["points"])
    volts = tuple(v for _, v in entry["points"])
    boost = _interpolated(clocks, volts, gpu.boost_clock)
    table = VoltageTable(tuple(c / gpu.boost_clock for c in clocks), tuple(v / boost for v in volts))
    return ChipVoltage(boost, table, read=key == gpu.die and entry["kind"] != "assumed")


def _interpolated(xs: tuple[float, ...], ys: tuple[float, ...], x: float) -> float:
    """Return y at x on the straight lines through the points, flat outside of them."""
    if x <= xs[0] or x >= xs[-1]:
        return ys[0] if x <= xs[0] else ys[-1]
    i = bisect_right(xs, x)
    part = (x - xs[i - 1]) / (xs[i] - xs[i - 1])
    return ys[i - 1] + part * (ys[i] - ys[i - 1])


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Any]:
    text = files("warpwatt.models.component").joinpath("voltage.toml").read_text(encoding="utf-8")
    tables: Mapping[str, Any] = tomllib.loads(text)["chip"]
    return tables
