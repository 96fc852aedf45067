"""Fit of positive numbers whose products add up to what was measured.

    measured_r ≈ Σ_j amount_rj · number_j · scale_s(r, j)

Numbers and scales are unknown, each with a log-normal prior around its given value: process factors multiply
the energies of all operations, so that the sum is not linear in them. Gauss-Newton on logarithms, damped as
Levenberg and Marquardt do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Indices = NDArray[np.int64]

_ROUNDS = 60
_DAMPING, _GIVE_UP = 1e-3, 1e6
_LONGEST = 1.0
"""Most that a logarithm moves in one round."""
_ENOUGH = 1e-4
"""Share of the cost below which a round's gain ends the search."""


@dataclass(frozen=True, slots=True, eq=False)
class Products:
    """Measurements as sums of products.

    ``terms`` has a row per measurement and a column per unknown: its amount times its prior value, 0 where
    it is a scale. ``scales`` has the column of the scale of each term, or its own column where there is none.
    ``spreads`` are the deviations of the unknowns' logarithms, ``weights`` those of the rows over the noise.
    """

    terms: Vector
    scales: Indices
    spreads: Vector
    measured: Vector
    weights: Vector

    def sums(self, logarithms: Vector) -> Vector:
        """Return every term under unknowns that are so far from their prior values."""
        factor = np.where(self.scales == np.arange(self.terms.shape[1]), 0.0, logarithms[self.scales])
        found: Vector = self.terms * np.exp(logarithms + factor)
        return found

    def misfit(self, terms: Vector, logarithms: Vector) -> Vector:
        """Return the weighted logarithms of sums over measurements, and the unknowns over their spreads."""
        rows = self.weights * np.log(terms.sum(axis=1) / self.measured)
        return np.concatenate([rows, logarithms / self.spreads])

    def slopes(self, terms: Vector) -> Vector:
        """Return the derivatives of the misfit."""
        rows = terms / terms.sum(axis=1, keepdims=True)
        apart = self.scales != np.arange(terms.shape[1])
        scaled = np.array(rows)
        for scale in np.unique(self.scales[apart]):
            scaled[:, scale] += (rows * (apart & (self.scales == scale))).sum(axis=1)
        return np.vstack([scaled * self.weights[:, None], np.diag(1.0 / self.spreads)])


def fit_products(problem: Products) -> tuple[Vector, Vector]:
    """Return the logarithms of the unknowns over their prior values, and their standard errors."""
    found = np.zeros(problem.terms.shape[1])
    terms = problem.sums(found)
    misfit = problem.misfit(terms, found)
    damping = _DAMPING
    normal = np.diag(problem.spreads**-2)
    for _ in range(_ROUNDS):
        slopes = problem.slopes(terms)
        normal, downhill = slopes.T @ slopes, -slopes.T @ misfit
        cost = float(misfit @ misfit)
        while damping < _GIVE_UP:
            step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), downhill)
            moved = found + np.clip(step, -_LONGEST, _LONGEST)
            terms = problem.sums(moved)
            misfit = problem.misfit(terms, moved)
            if float(misfit @ misfit) <= cost:
                break
            damping *= 10
        else:
            break
        found, damping = moved, max(damping / 10, 1e-9)
        if cost - float(misfit @ misfit) < _ENOUGH * cost:
            break
    return found, np.sqrt(np.diag(np.linalg.inv(normal)))
