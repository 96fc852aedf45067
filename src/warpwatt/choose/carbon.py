"""Carbon intensity of electricity: ``0.35kg/kWh`` as typed, or ``FILE.toml:ZONE``.

::

    [zone.DE]
    kg_per_kwh = 0.35
    source = "where the number comes from"
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from warpwatt.choose.prices import KILOWATT_HOUR, Place, number, text_of
from warpwatt.core.errors import InputError
from warpwatt.core.toml import read_toml

MOST = 5.0
"""Kilograms per kWh; no grid emits more."""
_TYPED = re.compile(r"\s*(?P<value>[0-9.eE+-]+)\s*(?P<unit>k?g)\s*/\s*kWh\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Intensity:
    """Kilograms of CO2e per joule, and where that comes from."""

    per_joule: float
    source: str

    @property
    def per_kwh(self) -> float:
        """Kilograms of CO2e per kWh."""
        return self.per_joule * KILOWATT_HOUR


def read_carbon(text: str) -> Intensity:
    """Read an intensity as typed, or from a table of zones.

    Raises
    ------
    InputError
        If it cannot be read or is impossible; names file and zone.

    >>> round(read_carbon("350 g/kWh").per_kwh, 6)
    0.35
    """
    typed = _TYPED.fullmatch(text)
    if typed is not None:
        return Intensity(_checked(typed["value"], typed["unit"], text) / KILOWATT_HOUR, "as typed")
    name, colon, zone = text.rpartition(":")
    if not colon or not zone or "/" in zone:
        hint = "write --carbon 0.35kg/kWh, 350g/kWh or FILE.toml:ZONE"
        raise InputError(f"not a carbon intensity: {text!r}", hint=hint)
    return _of_zone(Path(name), zone.strip())


def _checked(digits: str, unit: str, text: str) -> float:
    try:
        value = float(digits) * (1e-3 if unit.lower() == "g" else 1.0)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= MOST:
        raise InputError(f"impossible carbon intensity: {text!r}", hint=f"0 to {MOST:g} kg/kWh")
    return value


def _of_zone(file: Path, zone: str) -> Intensity:
    zones = read_toml(file).get("zone")
    if not isinstance(zones, dict) or not all(isinstance(one, dict) for one in zones.values()):
        hint = "write [zone.NAME] tables with kg_per_kwh and source"
        raise InputError("no zones", file=file, hint=hint)
    if zone not in zones:
        raise InputError(f"no zone {zone!r}", file=file, hint="zones: " + " ".join(sorted(zones)))
    place = Place(file, None, f"zone.{zone}")
    value = number(zones[zone], "kg_per_kwh", place, most=MOST)
    return Intensity(
        value / KILOWATT_HOUR, text_of(zones[zone], "source", place, "where the number comes from")
    )
