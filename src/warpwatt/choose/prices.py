"""Prices of GPUs and of energy, from TOML.

::

    currency = "EUR"

    [energy]                       # what bought boards pay; rented ones pay it within their hour
    per_kwh = 0.25
    pue = 1.3                      # energy of the building over that of the computers; left out: 1
    source = "our contract"

    [[offer]]
    gpu = "h200"
    per_hour = 3.50                # of one GPU
    name = "cloud A"
    source = "price list of 2025-06-01"

    [[offer]]
    gpu = "rtx4090"
    purchase = 1800                # with its share of the computer around it
    lifetime_years = 4
    utilisation = 0.6              # share of its lifetime that it works
    source = "offer 4711"
    embodied_kg = 150              # CO2e of making it; optional, with its source
    embodied_source = "the maker's sheet"
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpwatt.core.errors import InputError, WarpWattError
from warpwatt.core.toml import read_toml
from warpwatt.gpus import find

HOUR = 3600.0
YEAR = 365.25 * 24 * HOUR
KILOWATT_HOUR = 3.6e6
"""Joules."""
_RENT, _BUY = ("per_hour",), ("purchase", "lifetime_years", "utilisation")
_OFFER = ("gpu", "name", "source", "embodied_kg", "embodied_source", *_RENT, *_BUY)
_ENERGY = ("per_kwh", "pue", "source")


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to get a GPU: ``per_second`` of work in money, ``joules`` whether energy is paid besides.

    ``embodied`` is kilograms of CO2e of making it per second of its work, 0 where nothing is said.
    """

    gpu: str
    name: str
    source: str
    per_second: float
    joules: bool
    embodied: float = 0.0


@dataclass(frozen=True, slots=True)
class Energy:
    """Money per joule at the socket, and joules of the building per joule of the computers."""

    per_joule: float
    pue: float | None
    source: str


@dataclass(frozen=True, slots=True)
class Prices:
    """A file of prices."""

    file: str
    currency: str
    offers: tuple[Offer, ...]
    energy: Energy | None

    def of(self, gpu: str) -> tuple[Offer, ...]:
        """Return the offers for a GPU."""
        return tuple(offer for offer in self.offers if offer.gpu == gpu)


def read_prices(path: Path) -> Prices:
    """Read a file of prices.

    Raises
    ------
    InputError
        If it cannot be read, or a key is missing, unknown or impossible; names file, line and key.
    UnknownGpuError
        If an offer is for a GPU that is not known.
    """
    data = read_toml(path)
    text = path.read_text(encoding="utf-8")
    _only(data, ("currency", "energy", "offer"), Place(path, None, "this file"))
    currency = data.get("currency")
    if not isinstance(currency, str) or not currency.strip():
        hint = 'write currency = "EUR", or whatever the numbers are in'
        raise InputError("no currency", file=path, line=1, hint=hint)
    energy = (
        _energy(data["energy"], Place(path, _line(text, "[energy]", 0), "energy"))
        if "energy" in data
        else None
    )
    offers = data.get("offer", [])
    if not isinstance(offers, list) or not offers or not all(isinstance(one, dict) for one in offers):
        raise InputError("no offer", file=path, hint="write one [[offer]] table per GPU and price")
    read = tuple(
        _offer(one, Place(path, _line(text, "[[offer]]", at), f"offer {at + 1}"), energy)
        for at, one in enumerate(offers)
    )
    return Prices(str(path), currency.strip(), read, energy)


@dataclass(frozen=True, slots=True)
class Place:
    """A table of a file, for messages."""

    file: Path
    line: int | None
    name: str

    def wrong(self, what: str, hint: str = "") -> InputError:
        """Return the error that something is wrong there."""
        return InputError(f"{self.name}: {what}", file=self.file, line=self.line, hint=hint)


def number(
    table: Mapping[str, Any], key: str, place: Place, *, least: float = 0.0, most: float = math.inf
) -> float:
    """Return a number of a table, above or at ``least`` and up to ``most``; raise InputError."""
    value = table.get(key)
    if value is None:
        raise place.wrong(f"{key} is missing", f"write {key} = NUMBER")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise place.wrong(f"{key} is no number: {value!r}", f"write {key} = NUMBER, without a unit")
    if not least <= value <= most:
        limits = f"at least {least:g}" if most == math.inf else f"{least:g} to {most:g}"
        raise place.wrong(f"{key} is {value:g}", f"{key} must be {limits}")
    return float(value)


def text_of(table: Mapping[str, Any], key: str, place: Place, why: str) -> str:
    """Return a text of a table that may not be empty; raise InputError, ``why`` in its hint."""
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise place.wrong(f"{key} is missing", f'write {key} = "{why}"')
    return value.strip()


def _energy(table: Any, place: Place) -> Energy:
    if not isinstance(table, dict):
        raise place.wrong("not a table", "write [energy] and the lines per_kwh, source")
    _only(table, _ENERGY, place)
    pue = number(table, "pue", place, least=1.0, most=10.0) if "pue" in table else None
    source = text_of(table, "source", place, "where the price comes from")
    return Energy(number(table, "per_kwh", place) / KILOWATT_HOUR, pue, source)


def _offer(table: Mapping[str, Any], place: Place, energy: Energy | None) -> Offer:
    _only(table, _OFFER, place)
    named = text_of(table, "gpu", place, "h200")
    try:
        gpu = find(named).name
    except WarpWattError as error:
        raise type(error)(
            f"{place.name}: {error.message}", hint=error.hint, file=place.file, line=place.line
        ) from None
    source = text_of(table, "source", place, "where the price comes from")
    rented, bought = (any(key in table for key in keys) for keys in (_RENT, _BUY))
    if rented == bought:
        what = "both rented and bought" if rented else "no price"
        raise place.wrong(what, "write per_hour, or purchase with lifetime_years and utilisation")
    embodied = _embodied(table, place)
    name = str(table.get("name", "rented" if rented else "bought"))
    if rented:
        if embodied:
            raise place.wrong(
                "embodied_kg of a rented GPU", "say it where the GPU is bought: it needs a lifetime"
            )
        return Offer(gpu, name, source, number(table, "per_hour", place) / HOUR, joules=False)
    if energy is None:
        raise place.wrong(
            "bought, and the price of energy is not known", "write an [energy] table with per_kwh"
        )
    years = number(table, "lifetime_years", place, least=0.01, most=100.0)
    working = years * YEAR * number(table, "utilisation", place, least=0.001, most=1.0)
    return Offer(
        gpu,
        name,
        source,
        number(table, "purchase", place) / working,
        joules=True,
        embodied=embodied / working,
    )


def _embodied(table: Mapping[str, Any], place: Place) -> float:
    """Return kilograms of CO2e of making a GPU, 0 where nothing is said."""
    if "embodied_kg" not in table:
        return 0.0
    text_of(table, "embodied_source", place, "where embodied_kg comes from")
    return number(table, "embodied_kg", place)


def _only(table: Mapping[str, Any], keys: tuple[str, ...], place: Place) -> None:
    unknown = sorted(set(table) - set(keys))
    if unknown:
        raise place.wrong(f"unknown key {unknown[0]!r}", "keys: " + " ".join(keys))


def _line(text: str, header: str, which: int) -> int | None:
    """Return the line of the ``which``-th table of a header."""
    pattern = re.escape(header).replace(r"\[", r"\[\s*").replace(r"\]", r"\s*\]")
    lines = [n for n, line in enumerate(text.splitlines(), start=1) if re.match(rf"\s*{pattern}", line)]
    return lines[which] if which < len(lines) else None
