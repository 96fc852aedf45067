"""The values that several sections are made of: quantities with their intervals, and bars."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.units import si
from warpwatt.render.console import plain
from warpwatt.render.figures import bounds, dimensions, percent, quantity
from warpwatt.render.words import unit_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warpwatt.core.estimate import Estimate
    from warpwatt.core.prediction import Prediction


@dataclass(frozen=True, slots=True)
class Figure:
    """A quantity with its interval, as text and as percentages of a common scale for its bar."""

    name: str
    value: str
    interval: str
    source: str
    middle: float
    low: float
    high: float
    best: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: ``share`` in percent of the full width; ``amount`` is the number behind it, in SI units."""

    label: str
    share: float
    text: str
    note: str = ""
    amount: float | None = None
    hint: str = ""
    """What it means, for people who do not know the name."""
    part: float = 0.0
    """The share, 0 to 1, not rounded."""


def figures(name: str, estimates: Sequence[Estimate], mark: int | None) -> list[Figure]:
    """Return figures on one scale, the one at ``mark`` as the best."""
    full = max(estimate.high for estimate in estimates)
    return [figure(name, estimate, full, marked=i == mark) for i, estimate in enumerate(estimates)]


def figure(name: str, estimate: Estimate, full: float, *, marked: bool = False) -> Figure:
    """Return a figure on a scale that ends at ``full``."""
    scale = 100 / full if full > 0 else 0.0
    ends = (estimate.value, estimate.low, estimate.high)
    middle, low, high = (round(min(100.0, max(0.0, x * scale)), 1) for x in ends)
    return Figure(name, quantity(estimate), bounds(estimate), str(estimate.source), middle, low, high, marked)


def bar(label: str, share: float, note: str = "", amount: float | None = None, hint: str = "") -> Bar:
    """Return a bar of a share, 0 to 1."""
    width = 0.0 if math.isnan(share) else round(100 * min(1.0, max(0.0, share)), 1)
    return Bar(plain(label), width, percent(share), note, amount, hint, share)


def parts(amounts: Mapping[str, float], whole: float, unit: str) -> tuple[Bar, ...]:
    """Return components as bars, largest first."""
    if not whole > 0:
        return ()
    ordered = sorted(amounts.items(), key=lambda part: -part[1])
    return tuple(bar(unit_name(name), x / whole, si(x, unit), x) for name, x in ordered if x)


def kernel_name(prediction: Prediction) -> str:
    """Return the kernel's name as people write it."""
    return plain(prediction.kernel_name)


def shape(prediction: Prediction) -> str:
    """Return blocks and threads of the launch."""
    launch = prediction.case.launch
    return f"{dimensions(launch.grid)} blocks × {dimensions(launch.block)} threads"
