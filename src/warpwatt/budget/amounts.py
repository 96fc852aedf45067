"""Amounts as people write them: ``12 us``, ``48 KiB``, ``75 %``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from warpwatt.budget.quantities import BYTES, COUNT, SHARE

_SI: Mapping[str, float] = {
    "p": 1e-12,
    "n": 1e-9,
    "u": 1e-6,
    "µ": 1e-6,
    "μ": 1e-6,
    "m": 1e-3,
    "": 1.0,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
}
_BINARY: Mapping[str, float] = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}
_AMOUNT = re.compile(r"\s*([+-]?)\s*(\d+(?:[._]\d+)*(?:e[+-]?\d+)?)\s*(\S*)\s*", re.IGNORECASE)


def parse_amount(text: str, unit: str) -> tuple[float, bool]:
    """Return an amount in a quantity's own unit, and whether it is relative to a baseline (``+5 %``).

    Raises
    ------
    ValueError
        If it cannot be read, or has another unit; the message says what would do.

    >>> parse_amount("12 us", "s"), parse_amount("48KiB", "B"), parse_amount("75 %", "share")
    ((1.2e-05, False), (49152.0, False), (0.75, False))
    >>> parse_amount("+5 %", "J"), parse_amount("-10%", "share")
    ((0.05, True), (-0.1, True))
    """
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise ValueError(f"not an amount: {text!r}; write {example(unit)}")
    sign, number, suffix = found.groups()
    value = float(number.replace("_", ""))
    if not math.isfinite(value):
        raise ValueError(f"not a number that can be reached: {text!r}")
    if sign:
        if suffix != "%":
            raise ValueError(f"{text!r} has a sign: limits relative to the baseline are percentages, +5 %")
        return (value if sign == "+" else -value) / 100, True
    return value * _factor(suffix, unit, text), False


def _factor(suffix: str, unit: str, text: str) -> float:
    if unit == SHARE:
        if suffix not in ("%", ""):
            raise ValueError(f"{text!r} is no share; write {example(unit)}")
        return 0.01 if suffix == "%" else 1.0
    if suffix == "%":
        raise ValueError(f"{text!r} of what? write +{text.strip()} to allow so much more than the baseline")
    if unit == BYTES and suffix.removesuffix("B") in _BINARY:
        return _BINARY[suffix.removesuffix("B")]
    prefix = suffix.removesuffix(unit) if unit else suffix
    if not suffix and unit != COUNT:
        return 1.0
    if prefix not in _SI or (unit and not suffix.endswith(unit)):
        raise ValueError(f"{text!r} is not in {unit or 'whole numbers'}; write {example(unit)}")
    return _SI[prefix]


def example(unit: str) -> str:
    """Return an amount of a unit as an example.

    >>> example("s")
    '12 us'
    """
    return {"s": "12 us", "W": "300 W", "J": "4 mJ", BYTES: "48 KiB", SHARE: "75 %"}.get(unit, "64")
