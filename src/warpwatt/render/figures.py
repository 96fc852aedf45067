"""Numbers as people read them: intervals, shares, counts and bars."""

from __future__ import annotations

import math

from warpwatt.core.estimate import Estimate
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.units import si

_FACTORS = {"T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1.0, "m": 1e-3, "µ": 1e-6, "n": 1e-9, "p": 1e-12}
_EIGHTHS = " ▏▎▍▌▋▊▉"


def quantity(estimate: Estimate) -> str:
    """Return the value of an estimate with its unit: ``12.3 µs``."""
    return si(estimate.value, estimate.unit)


def copies(transfer: Estimate) -> str:
    """Return the time of the copies, or that it is not known because no buffer was described."""
    return "not known" if transfer.warnings and transfer.value == 0 else quantity(transfer)


def bounds(estimate: Estimate) -> str:
    """Return the interval of an estimate in the unit and precision of its value; empty where it is exact.

    >>> from warpwatt.core.estimate import Estimate, Source
    >>> bounds(Estimate(1.23e-5, "s", 1.09e-5, 1.41e-5, Source.MODELLED))
    '10.9–14.1'
    >>> bounds(Estimate.exact(1.0, "s"))
    ''
    """
    if estimate.low == estimate.high or not _finite(estimate):
        return ""
    number, _, unit = quantity(estimate).rpartition(" ")
    factor = _FACTORS[unit.removesuffix(estimate.unit)]
    decimals = len(number.partition(".")[2])
    return f"{estimate.low / factor:.{decimals}f}–{estimate.high / factor:.{decimals}f}"


def interval(estimate: Estimate) -> str:
    """Return value, unit and interval.

    >>> from warpwatt.core.estimate import Estimate, Source
    >>> interval(Estimate(1.23e-5, "s", 1.09e-5, 1.41e-5, Source.MODELLED))
    '12.3 µs (10.9–14.1)'
    """
    around = bounds(estimate)
    return f"{quantity(estimate)} ({around})" if around else quantity(estimate)


def _finite(estimate: Estimate) -> bool:
    return all(math.isfinite(x) for x in (estimate.value, estimate.low, estimate.high))


def percent(share: float) -> str:
    """Return a share in percent, without pretending to digits.

    >>> percent(0.842), percent(0.004), percent(0.0), percent(float("nan"))
    ('84 %', '<1 %', '0 %', '? %')
    """
    if not math.isfinite(share):
        return "? %"
    if 0 < share < 0.005:
        return "<1 %"
    return f"{share:.0%}".replace("%", " %")


def count(value: float) -> str:
    """Return a count with three significant digits and an SI prefix.

    >>> count(16.0), count(0.5), count(1048576), count(1234.0), count(9999.9)
    ('16', '0.5', '1.05 M', '1234', '10.0 k')
    """
    if abs(value) >= 9999.5:  # what four digits would write with an exponent
        return si(value, "").strip()
    return f"{value:.4g}"


def dimensions(extent: Dim3) -> str:
    """Return an extent without trailing ones.

    >>> from warpwatt.core.launch import Dim3
    >>> dimensions(Dim3(64, 64)), dimensions(Dim3(256))
    ('64×64', '256')
    """
    parts = [extent.x, extent.y, extent.z]
    while len(parts) > 1 and parts[-1] == 1:
        parts.pop()
    return "×".join(str(part) for part in parts)


def l2_before(launch: Launch) -> str:
    """Return what L2 holds before a launch: as one asks for it, and buffers that others have left."""
    held = ", ".join(f"{percent(share)} of {name}" for name, share in launch.in_l2.items())
    return str(launch.l2) + (f", holds {held}" if held else "")


def launch_shape(launch: Launch) -> str:
    """Return blocks and threads per block of a launch: ``64×64 blocks × 256``."""
    return f"{dimensions(launch.grid)} blocks × {dimensions(launch.block)}"


def bar(share: float, width: int) -> str:
    """Return a bar of ``width`` columns, filled to ``share`` in eighths of a column.

    >>> bar(0.5, 8), bar(2.0, 4), bar(0.2, 4)
    ('████    ', '████', '▊   ')
    """
    eighths = round(max(0.0, min(1.0, share)) * width * 8) if math.isfinite(share) else 0
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


def plural(number: float, noun: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "block"), plural(3, "block")
    ('1 block', '3 blocks')
    """
    return f"{count(number)} {noun}" + ("" if number == 1 else "s")
