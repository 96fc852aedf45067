"""Axes: from values to pixels, and the round values at their grid lines."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from warpwatt.core.units import si

TICKS = 6


@dataclass(frozen=True, slots=True)
class Tick:
    """A grid line and its label."""

    position: float
    label: str


@dataclass(frozen=True, slots=True)
class LogAxis:
    """A logarithmic axis from ``low`` to ``high`` over the pixels ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the pixel of a value, one decimal.

        >>> LogAxis(1.0, 100.0, 0.0, 200.0)(10.0)
        100.0
        """
        share = math.log10(value / self.low) / math.log10(self.high / self.low)
        return round(self.start + share * (self.end - self.start), 1)

    @property
    def decades(self) -> list[float]:
        """Powers of ten on the axis."""
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        return [10.0**exponent for exponent in range(first, last + 1)]


@dataclass(frozen=True, slots=True)
class LinearAxis:
    """A linear axis from ``low`` to ``high`` (in ``unit``) over the pixels ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    unit: str = ""

    def __call__(self, value: float) -> float:
        """Return the pixel of a value, one decimal.

        >>> LinearAxis(0.0, 10.0, 0.0, 200.0)(5.0)
        100.0
        """
        return round(self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start), 1)

    @property
    def ticks(self) -> list[Tick]:
        """Round values on the axis.

        >>> [tick.label for tick in LinearAxis(0.0, 0.3, 0.0, 100.0, "J").ticks]
        ['0 J', '50 mJ', '100 mJ', '150 mJ', '200 mJ', '250 mJ', '300 mJ']
        """
        step = round_step((self.high - self.low) / TICKS)
        return [Tick(self(x), si(x, self.unit, _digits(x, step)).strip()) for x in self.multiples(step)]

    def multiples(self, step: float) -> list[float]:
        """Return the multiples of ``step`` on the axis."""
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [i * step for i in range(first, last + 1)]


def binary_ticks(axis: LinearAxis, label: Callable[[float], str]) -> tuple[Tick, ...]:
    """Return ticks at multiples of a power of two, as registers, threads and bytes are counted.

    >>> [tick.label for tick in binary_ticks(LinearAxis(0.0, 1024.0, 0.0, 100.0), "{:.0f}".format)]
    ['0', '256', '512', '768', '1024']
    """
    step = 2.0 ** math.ceil(math.log2((axis.high - axis.low) / TICKS))
    first, last = math.ceil(axis.low / step), math.floor(axis.high / step)
    return tuple(Tick(axis(i * step), label(i * step)) for i in range(first, last + 1))


def _digits(value: float, step: float) -> int:
    """Return the significant digits that tell a value from those one step away.

    >>> _digits(1.5e9, 5e8), _digits(0.2, 0.1), _digits(0.0, 0.1)
    (2, 1, 1)
    """
    return math.floor(math.log10(value * (1 + 1e-9))) - math.floor(math.log10(step)) + 1 if value > 0 else 1


def round_step(least: float) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that is no less.

    >>> round_step(0.03), round_step(70.0), round_step(10.0)
    (0.05, 100.0, 10.0)
    """
    magnitude = 10.0 ** math.floor(math.log10(least))
    return next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= least * (1 - 1e-9))
