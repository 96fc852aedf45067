"""Curves through measured points: straight, logarithmic, growing to a limit, straight in pieces.

Every fit says how good it is (R², RMSE, residuals) and how sure each parameter is (standard error: from the
curvature of the sum of squares at the optimum, with the scatter that the residuals show). The families are
those of Alavani 2023, sections 3.3.3 and 4.4.5 (Tables 3.3, 4.4 and 4.5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Points = Sequence[float] | Vector

_RATES = 400
"""Rates tried before the best one is refined, spread evenly over their logarithm."""
_STEPS = 60


@dataclass(frozen=True, slots=True)
class Parameter:
    """A fitted value with its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.6g} ± {self.error:.2g}"


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A curve through points.

    Attributes
    ----------
    model
        Its formula, in the names of ``parameters``.
    parameters
        By name, in the formula's order.
    r2, rmse
        Share of the variance explained; root of the mean squared residual, in the unit of y.
    residuals
        y less the curve, in the order of the points given.
    curve
        The curve as a function of x.
    """

    model: str
    parameters: Mapping[str, Parameter]
    r2: float
    rmse: float
    residuals: Vector
    curve: Callable[[Vector], Vector]

    def __getitem__(self, name: str) -> float:
        """Return a parameter's value."""
        return self.parameters[name].value

    def __call__(self, x: float) -> float:
        """Return the curve at x."""
        return float(self.curve(np.array([x]))[0])


def fit_linear(x: Points, y: Points) -> Fit:
    """Fit y = a + b·x.

    Raises
    ------
    InputError
        If there are fewer than three points, or all x are the same.

    >>> fit = fit_linear([0.0, 1.0, 2.0], [1.0, 3.0, 5.0])
    >>> round(fit["a"], 9), round(fit["b"], 9), round(fit.r2, 9)
    (1.0, 2.0, 1.0)
    """
    return _straight("a + b·x", x, y, lambda v: v)


def fit_logarithmic(x: Points, y: Points) -> Fit:
    """Fit y = a + b·ln x; raises InputError as :func:`fit_linear`, and where an x is not positive."""
    if np.min(np.asarray(x, float), initial=1.0) <= 0:
        raise InputError("a logarithm needs x above 0")
    return _straight("a + b·ln x", x, y, np.log)


def fit_exponential(x: Points, y: Points) -> Fit:
    """Fit y = a·(b − exp(−c·x)) with c > 0: growth from a·(b − 1) to a·b (Table 4.5).

    For each rate c the rest is linear, so only c is searched for: first coarsely, then by Gauss and Newton's
    method in all three parameters, which also gives their standard errors.

    Raises
    ------
    InputError
        If there are fewer than four points, or all x are the same.
    """
    xs, ys = _points(x, y, 4)
    reach = float(np.ptp(xs))
    nearest = float(np.min(np.diff(np.unique(xs))))
    rates = np.geomspace(1e-2 / reach, 50 / nearest, _RATES)
    squares = [fit_at_rate(xs, ys, rate)[1] for rate in rates]
    best = int(np.argmin(squares))
    low, high = rates[max(best - 1, 0)], rates[min(best + 1, _RATES - 1)]
    rate = _golden(lambda c: fit_at_rate(xs, ys, math.exp(c))[1], math.log(low), math.log(high))
    (limit, amplitude), _ = fit_at_rate(xs, ys, math.exp(rate))
    a, b, c = amplitude, limit / amplitude if amplitude else math.inf, math.exp(rate)
    decay = np.exp(-c * xs)
    jacobian = np.column_stack([b - decay, np.full_like(xs, a), a * xs * decay])
    residuals = ys - a * (b - decay)
    return _fit(
        "a·(b − exp(−c·x))", dict(zip("abc", (a, b, c), strict=True)), jacobian, residuals, ys,
        lambda v: a * (b - np.exp(-c * v)),
    )  # fmt: skip


def fit_growth(x: Points, y: Points) -> dict[str, Fit]:
    """Return the fits of all three families by name, the best R² first (Alavani 2023, Table 4.4)."""
    families = {"linear": fit_linear, "logarithmic": fit_logarithmic, "exponential": fit_exponential}
    fits = {name: family(x, y) for name, family in families.items()}
    return dict(sorted(fits.items(), key=lambda item: -item[1].r2))


def _straight(
    model: str,
    x: Points,
    y: Points,
    scale: Callable[[Vector], Vector],
) -> Fit:
    xs, ys = _points(x, y, 3)
    slope, intercept = _line(scale(xs), ys)
    jacobian = np.column_stack([np.ones_like(xs), scale(xs)])
    residuals = ys - intercept - slope * scale(xs)
    return _fit(
        model, {"a": intercept, "b": slope}, jacobian, residuals, ys, lambda v: intercept + slope * scale(v)
    )


def _line(x: Vector, y: Vector) -> tuple[float, float]:
    """Return slope and intercept of the least-squares line."""
    centred = x - x.mean()
    slope = float(centred @ (y - y.mean()) / (centred @ centred))
    return slope, float(y.mean() - slope * x.mean())


def fit_at_rate(x: Vector, y: Vector, rate: float) -> tuple[tuple[float, float], float]:
    """Return limit and amplitude that fit best at a rate, and the sum of squares."""
    decay = np.exp(-rate * x)
    if np.ptp(decay) == 0:
        return (float(y.mean()), 0.0), float(((y - y.mean()) ** 2).sum())
    slope, limit = _line(decay, y)
    return (limit, -slope), float(((y - limit - slope * decay) ** 2).sum())


def _golden(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function with one minimum between two bounds has it (golden section)."""
    share = (math.sqrt(5) - 1) / 2
    inner, outer = high - share * (high - low), low + share * (high - low)
    at_inner, at_outer = function(inner), function(outer)
    for _ in range(_STEPS):
        if at_inner <= at_outer:
            high, outer, at_outer = outer, inner, at_inner
            inner = high - share * (high - low)
            at_inner = function(inner)
        else:
            low, inner, at_inner = inner, outer, at_outer
            outer = low + share * (high - low)
            at_outer = function(outer)
    return (low + high) / 2


def _points(x: Points, y: Points, least: int) -> tuple[Vector, Vector]:
    """Return the points as arrays."""
    xs, ys = np.asarray(x, float), np.asarray(y, float)
    if xs.shape != ys.shape or xs.ndim != 1:
        raise InputError(f"{xs.size} x and {ys.size} y do not make points")
    if xs.size < least or np.ptp(xs) == 0:
        raise InputError(f"{xs.size} points at {np.unique(xs).size} x are too few for a fit")
    if not (np.isfinite(xs).all() and np.isfinite(ys).all()):
        raise InputError("a point is not a number")
    return xs, ys


def _fit(
    model: str,
    values: Mapping[str, float],
    jacobian: Vector,
    residuals: Vector,
    y: Vector,
    curve: Callable[[Vector], Vector],
) -> Fit:
    """Return a fit with its quality and standard errors."""
    errors = standard_errors(jacobian, residuals)
    r2, rmse = quality(residuals, y)
    named = {name: Parameter(float(v), float(e)) for (name, v), e in zip(values.items(), errors, strict=True)}
    return Fit(model, named, r2, rmse, residuals, curve)


def standard_errors(jacobian: Vector, residuals: Vector) -> Vector:
    """Return the standard error of each parameter: roots of the diagonal of s²·(JᵀJ)⁻¹.

    Columns are scaled first, so that parameters of very different size do no harm. Infinite where the points
    do not determine a parameter.
    """
    freedom = residuals.size - jacobian.shape[1]
    scale = np.linalg.norm(jacobian, axis=0)
    if freedom <= 0 or not (scale > 0).all() or not np.isfinite(scale).all():
        return np.full(jacobian.shape[1], math.inf)
    values, vectors = np.linalg.eigh((jacobian / scale).T @ (jacobian / scale))
    if values[0] < 1e-14 * values[-1]:
        return np.full(jacobian.shape[1], math.inf)
    inverse = (vectors**2 / values).sum(axis=1)
    variance = float(residuals @ residuals) / freedom
    return np.asarray(np.sqrt(variance * inverse) / scale, float)


def quality(residuals: Vector, y: Vector) -> tuple[float, float]:
    """Return R² (1 where there is nothing to explain and nothing is missed) and RMSE."""
    total = float(((y - y.mean()) ** 2).sum())
    missed = float(residuals @ residuals)
    rmse = math.sqrt(missed / y.size)
    if total <= 1e-24 * float(y @ y):
        return (1.0 if missed <= 1e-24 * float(y @ y) else 0.0), rmse
    return 1 - missed / total, rmse
