"""Units are SI inside (seconds, watts, joules, bytes, hertz); this module only writes them for people."""

from __future__ import annotations

import math

_PREFIXES = (
    (1e12, "T"),
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
    (1e-3, "m"),
    (1e-6, "µ"),
    (1e-9, "n"),
)
KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


def si(value: float, unit: str, digits: int = 3) -> str:
    """Return ``value`` with an SI prefix and ``digits`` significant digits; of a byte there are no parts.

    >>> si(1.234e-5, "s"), si(0.0, "J"), si(989e12, "FLOP/s"), si(312.04, "W")
    ('12.3 µs', '0 J', '989 TFLOP/s', '312 W')
    >>> si(0.0441, "B"), si(2.65, "B")  # means over many launches or blocks
    ('<1 B', '2.65 B')
    """
    if unit == "B" and 0 < value < 1:
        return "<1 B"
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {unit}"
    rounded = float(f"{value:.{digits}g}")
    factor, prefix = next((p for p in _PREFIXES if abs(rounded) >= p[0]), (1e-12, "p"))
    scaled = rounded / factor
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(scaled))))
    return f"{scaled:.{decimals}f} {prefix}{unit}"


def binary_bytes(value: float) -> str:
    """Return a size in bytes with a binary prefix.

    >>> binary_bytes(49152), binary_bytes(100), binary_bytes(141 * GIB)
    ('48 KiB', '100 B', '141 GiB')
    """
    for factor, prefix in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if value >= factor:
            return f"{value / factor:.4g} {prefix}"
    return f"{value:.4g} B"
