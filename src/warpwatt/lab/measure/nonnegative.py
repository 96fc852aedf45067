"""Non-negative least squares, for energies: no instruction and no byte costs less than nothing.

The active-set method of Lawson and Hanson (1974, *Solving Least Squares Problems*, chapter 23).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.errors import InputError
from warpwatt.lab.measure.fits import Parameter, quality, standard_errors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.lab.measure.fits import Points, Vector

_ROUNDS = 3
"""Times the number of columns: steps after which the method has failed."""


@dataclass(frozen=True, slots=True, eq=False)
class NonNegative:
    """Coefficients by name, each at least 0.

    A coefficient held at 0 has the standard error it would have if it alone were free: how large it may be
    without the data contradicting.
    """

    parameters: Mapping[str, Parameter]
    r2: float
    """Share of the variance of y that is explained."""
    rmse: float
    residuals: Vector
    """These and their RMSE relative to each row's sigma, where that was given."""


def fit_nonnegative(
    columns: Mapping[str, Points],
    y: Points,
    sigma: Points | None = None,
) -> NonNegative:
    """Fit y as a sum of columns with coefficients of at least 0.

    Parameters
    ----------
    sigma
        Scatter of each row, up to a common factor; None: the same for all.

    Raises
    ------
    InputError
        If there are no columns or fewer rows than columns.

    >>> fit = fit_nonnegative({"a": [1, 0, 1], "b": [0, 1, 1]}, [2.0, -1.0, 2.0])
    >>> [round(p.value, 6) for p in fit.parameters.values()]
    [2.0, 0.0]
    """
    design = np.column_stack([np.asarray(column, float) for column in columns.values()])
    ys = np.asarray(y, float)
    if ys.size < design.shape[1]:
        raise InputError(f"{ys.size} measurements cannot tell {design.shape[1]} quantities apart")
    weight = np.ones_like(ys) if sigma is None else 1 / np.asarray(sigma, float)
    scaled, wanted = design * weight[:, None], ys * weight
    solution = nnls(scaled, wanted)
    residuals = wanted - scaled @ solution
    errors = _errors(scaled, residuals, solution > 0)
    r2, _ = quality(residuals / weight, ys)
    _, rmse = quality(residuals, wanted)
    named = {
        name: Parameter(float(value), float(error))
        for name, value, error in zip(columns, solution, errors, strict=True)
    }
    return NonNegative(named, r2, rmse, residuals)


def nnls(design: Vector, y: Vector) -> Vector:
    """Return the x of at least 0 that makes |design·x − y| least.

    Raises
    ------
    InputError
        If the method does not end, as may happen where columns are all but equal.
    """
    scale = np.linalg.norm(design, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    matrix = design / scale
    count = matrix.shape[1]
    free = np.zeros(count, bool)
    x = np.zeros(count)
    gradient = matrix.T @ y
    tolerance = 1e-12 * max(float(np.abs(gradient).max(initial=0.0)), 1e-300)
    for _ in range(_ROUNDS * count + 1):
        open_columns = ~free & (gradient > tolerance)
        if not open_columns.any():
            return x / scale
        free[int(np.argmax(np.where(open_columns, gradient, -np.inf)))] = True
        x, free = _feasible(matrix, y, x, free)
        gradient = matrix.T @ (y - matrix @ x)
    raise InputError("non-negative least squares does not settle", hint="columns are all but equal")


def _feasible(
    matrix: Vector, y: Vector, x: Vector, free: NDArray[np.bool_]
) -> tuple[Vector, NDArray[np.bool_]]:
    """Solve for the free columns; go only so far that none falls below 0, and hold those that reach it."""
    while True:
        target = np.zeros_like(x)
        target[free], *_ = np.linalg.lstsq(matrix[:, free], y, rcond=None)
        falling = free & (target <= 0)
        if not falling.any():
            return target, free
        drop = np.maximum(x[falling] - target[falling], np.finfo(float).tiny)
        share = float(np.min(x[falling] / drop))
        x = x + share * (target - x)
        free = free & ~(falling & (x <= 1e-14 * (1 + np.abs(x).max())))
        x = np.where(free, x, 0.0)


def _errors(design: Vector, residuals: Vector, free: NDArray[np.bool_]) -> Vector:
    """Return the standard errors: of the free columns together, of each held one beside them."""
    errors = np.full(design.shape[1], math.inf)
    if free.any():
        errors[free] = standard_errors(design[:, free], residuals)
    for held in np.flatnonzero(~free):
        with_it = free.copy()
        with_it[held] = True
        position = int(np.flatnonzero(np.flatnonzero(with_it) == held)[0])
        errors[held] = standard_errors(design[:, with_it], residuals)[position]
    return errors
