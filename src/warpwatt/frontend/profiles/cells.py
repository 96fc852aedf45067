"""Cells of profiler tables: numbers in any locale, units in any spelling, extents in any bracket."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from warpwatt.core.launch import Dim3

MISSING = frozenset({"", "-", "--", "n/a", "na", "nan", "none", "null", "(null)"})
"""Cells that hold nothing."""
_PREFIXES: Mapping[str, float] = {
    "": 1.0, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
}  # fmt: skip
_SECONDS = re.compile(r"^([numµμ]?)(s|sec|secs|second|seconds)$", re.IGNORECASE)
_HERTZ = re.compile(r"^([kmg]?)(hz)$", re.IGNORECASE)
_CYCLES = re.compile(r"^cycles?/([numµμ]?)(s|second)$", re.IGNORECASE)
_BYTES = re.compile(r"^([kmgt]?)(i?)(b|byte|bytes)(/block)?$", re.IGNORECASE)
_WATTS = re.compile(r"^(m?)(w|watt|watts)$", re.IGNORECASE)
_PLAIN = re.compile(r"^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$", re.IGNORECASE)
_COMMAS = re.compile(r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$")
_POINTS = re.compile(r"^[+-]?\d{1,3}(\.\d{3}){2,}(,\d+)?$|^[+-]?\d{1,3}(\.\d{3})+,\d+$")
_DECIMAL_COMMA = re.compile(r"^[+-]?\d+,\d+$")


def missing(cell: str) -> bool:
    """Return whether a cell holds nothing.

    >>> missing(" n/a "), missing("0")
    (True, False)
    """
    return cell.strip().lower() in MISSING


def number(cell: str) -> float | None:
    """Return the finite number in a cell, None if there is none.

    Thousands may be separated by commas, or by points where the decimals follow a comma.

    >>> number("1,234,567.5"), number("27.595.520"), number("1.234,5"), number("2,5"), number("x")
    (1234567.5, 27595520.0, 1234.5, 2.5, None)
    """
    text = cell.strip().replace("\u00a0", "").replace(" ", "")
    if _COMMAS.match(text):
        text = text.replace(",", "")
    elif _POINTS.match(text):
        text = text.replace(".", "").replace(",", ".")
    elif _DECIMAL_COMMA.match(text):
        text = text.replace(",", ".")
    if not _PLAIN.match(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def time_unit(text: str) -> float | None:
    """Return the seconds of a unit of time, None if it is none.

    >>> time_unit("us"), time_unit("nsecond"), time_unit("Msec"), time_unit("KB")
    (1e-06, 1e-09, 0.001, None)
    """
    match = _SECONDS.match(text.strip())
    return _PREFIXES[match[1].lower()] if match else None


def frequency_unit(text: str) -> float | None:
    """Return the hertz of a unit of frequency, None if it is none.

    >>> frequency_unit("MHz"), frequency_unit("cycle/nsecond"), frequency_unit("Ghz")
    (1000000.0, 1000000000.0, 1000000000.0)
    """
    text = text.strip()
    if match := _HERTZ.match(text):
        return {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}[match[1].lower()]
    match = _CYCLES.match(text)
    return float(round(1.0 / _PREFIXES[match[1].lower()])) if match else None


def size_unit(text: str) -> float | None:
    """Return the bytes of a unit of size, None if it is none.

    ``KiB`` is 1024 bytes, as is nvprof's and Nsight Systems' ``KB``; ``Kbyte`` of Nsight Compute is 1000.

    >>> size_unit("KB"), size_unit("Kbyte/block"), size_unit("byte")
    (1024.0, 1000.0, 1.0)
    """
    match = _BYTES.match(text.strip())
    if not match:
        return None
    base = 1024.0 if match[2] or match[3].lower() == "b" else 1000.0
    return base ** "kmgt".index(match[1].lower()) * base if match[1] else 1.0


def power_unit(text: str) -> float | None:
    """Return the watts of a unit of power, None if it is none.

    >>> power_unit("W"), power_unit("mW")
    (1.0, 0.001)
    """
    match = _WATTS.match(text.strip())
    return (1e-3 if match[1] else 1.0) if match else None


def extent(cell: str) -> Dim3:
    """Return a grid or block: ``(256, 1, 1)``, ``256x1x1``, ``256 1 1`` or ``256``.

    Raises
    ------
    LaunchError
        If it is none, or an impossible one.

    >>> extent("(9, 32, 1)"), extent("16 x 16")
    (Dim3(x=9, y=32, z=1), Dim3(x=16, y=16, z=1))
    """
    text = re.sub(r"\s*[,x;*\s]\s*", ",", cell.strip().strip("()[]").strip(), flags=re.IGNORECASE)
    return Dim3.parse(text)
