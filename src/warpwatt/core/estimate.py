"""Numbers with a width: :class:`Estimate`, and the parameter draws that keep widths correlated.

A model that depends on an uncertain parameter asks for the draws of that parameter *by name*. The same
name always gives the same draws, so two estimates that share a parameter stay correlated: the energy of
a kernel is ``time * power`` draw by draw, and a clock that is too high lengthens neither twice.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

DRAWS = 200
"""Draws per parameter. Stratified, so that quantiles of one parameter are exact to 1/DRAWS."""
SEED = 0
"""Seed of all parameter draws; recorded in every result."""


class Source(StrEnum):
    """Where a number comes from, weakest last."""

    MEASURED = "measured"
    MODELLED = "modelled"
    ASSUMED = "assumed"


def weakest(*sources: Source) -> Source:
    """Return the least certain of the sources, ``MEASURED`` for none.

    >>> weakest(Source.MODELLED, Source.ASSUMED, Source.MEASURED)
    <Source.ASSUMED: 'assumed'>
    """
    order = list(Source)
    return max(sources, key=order.index, default=Source.MEASURED)


@dataclass(frozen=True, slots=True)
class OneSided:
    """Name of a parameter that only ever adds, as waits that a time leaves out: its draws below 0 are 0."""

    name: str


Spreads = Mapping[str, float] | Mapping[str | OneSided, float]
"""Standard deviations of logarithms by parameter (see :func:`factor_draws`)."""


@lru_cache(maxsize=256)
def standard_draws(parameter: str | OneSided) -> tuple[float, ...]:
    """Return ``DRAWS`` standard normal draws of one named parameter, the same on every call and machine.

    >>> min(standard_draws(OneSided("waits"))), min(standard_draws("waits")) < 0
    (0.0, True)
    """
    name, least = (parameter.name, 0.0) if isinstance(parameter, OneSided) else (parameter, -math.inf)
    values = [max(least, z) for z in _normal_quantiles()]
    random.Random(f"{SEED}:{name}").shuffle(values)  # noqa: S311 - statistics, not secrets
    return tuple(values)


@lru_cache(maxsize=1)
def _normal_quantiles() -> tuple[float, ...]:
    """Return the mid-points of ``DRAWS`` equal slices of the standard normal distribution, ascending."""
    upper = [_normal_quantile((i + 0.5) / DRAWS) for i in range(DRAWS // 2, DRAWS)]
    return (*(-z for z in reversed(upper)), *upper)


def _normal_quantile(q: float) -> float:
    """Return z with Φ(z) = q for q >= 1/2, by Newton's method; statistics.NormalDist costs 11 ms to import.

    Φ is concave there, so the iteration rises to the root and stops where it no longer does.

    >>> round(_normal_quantile(0.975), 12)
    1.95996398454
    """
    z = 0.0
    while True:
        step = (q - 0.5 * math.erfc(-z / math.sqrt(2))) * math.sqrt(2 * math.pi) * math.exp(z * z / 2)
        if step <= 1e-15:
            return z
        z += step


def factor_draws(spreads: Spreads) -> tuple[float, ...]:
    """Return draws of a product of log-normal factors around 1.

    Parameters
    ----------
    spreads
        Parameter to the standard deviation of the logarithm; 0.1 is about 10 %. A negative spread means
        that the quantity falls where the parameter rises.
    """
    return _factors(tuple(spreads.items()))


@lru_cache(maxsize=512)
def _factors(spreads: tuple[tuple[str | OneSided, float], ...]) -> tuple[float, ...]:
    logs = [0.0] * DRAWS
    for name, sigma in spreads:
        logs = [total + sigma * z for total, z in zip(logs, standard_draws(name), strict=True)]
    return tuple(math.exp(total) for total in logs)


def quantile(values: Sequence[float], q: float) -> float:
    """Return the ``q`` quantile by linear interpolation between order statistics.

    >>> quantile([1.0, 2.0, 3.0], 0.25)
    1.5
    """
    return _between(sorted(values), q)


def _between(ordered: Sequence[float], q: float) -> float:
    position = q * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its unit, its 10 % and 90 % quantiles and its origin.

    ``draws`` are the values under :data:`DRAWS` shared parameter draws; empty means exact.
    """

    value: float
    unit: str
    low: float
    high: float
    source: Source
    warnings: tuple[str, ...] = ()
    draws: tuple[float, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def exact(cls, value: float, unit: str, source: Source = Source.MODELLED) -> Estimate:
        """Return an estimate without width."""
        return cls(value, unit, value, value, source)

    @classmethod
    def from_draws(
        cls,
        value: float,
        draws: Sequence[float],
        unit: str,
        source: Source = Source.MODELLED,
        warnings: tuple[str, ...] = (),
    ) -> Estimate:
        """Return an estimate between the 10 % and 90 % quantiles of ``draws``, widened to hold ``value``."""
        ordered = sorted(draws)
        low, high = min(value, _between(ordered, 0.1)), max(value, _between(ordered, 0.9))
        return cls(value, unit, low, high, source, warnings, tuple(draws))

    @classmethod
    def spread(
        cls,
        value: float,
        spreads: Spreads,
        unit: str,
        source: Source = Source.MODELLED,
        warnings: tuple[str, ...] = (),
    ) -> Estimate:
        """Return an estimate with log-normal spread by named parameter (see :func:`factor_draws`).

        >>> e = Estimate.spread(10.0, {"bandwidth": 0.1}, "s")
        >>> round(e.low, 2), round(e.high, 2)
        (8.81, 11.35)
        """
        return cls.from_draws(value, [value * f for f in factor_draws(spreads)], unit, source, warnings)

    def combine(self, other: Estimate, how: Callable[[float, float], float], unit: str) -> Estimate:
        """Return ``how(self, other)`` draw by draw: correlated where both share parameters.

        >>> a = Estimate.spread(2.0, {"clock": 0.2}, "s")
        >>> b = Estimate.spread(3.0, {"clock": -0.2}, "W")
        >>> e = a.combine(b, lambda x, y: x * y, "J")
        >>> e.value, round(e.high - e.low, 6)
        (6.0, 0.0)
        """
        mine = self.draws or (self.value,) * DRAWS
        theirs = other.draws or (other.value,) * DRAWS
        draws = [how(x, y) for x, y in zip(mine, theirs, strict=True)]
        warnings = tuple(dict.fromkeys(self.warnings + other.warnings))
        value = how(self.value, other.value)
        return Estimate.from_draws(value, draws, unit, weakest(self.source, other.source), warnings)

    def drawn(self, draw: int | None) -> float:
        """Return the value under one of the shared parameter draws; ``None``: the value itself.

        >>> Estimate.exact(2.0, "s").drawn(7)
        2.0
        """
        return self.value if draw is None or not self.draws else self.draws[draw]

    def scaled(self, factor: float, unit: str | None = None) -> Estimate:
        """Return the estimate times an exact factor.

        >>> Estimate.exact(2.0, "s").scaled(3.0).value
        6.0
        """
        draws = tuple(x * factor for x in self.draws)
        low, high = sorted((self.low * factor, self.high * factor))
        return Estimate(self.value * factor, unit or self.unit, low, high, self.source, self.warnings, draws)
