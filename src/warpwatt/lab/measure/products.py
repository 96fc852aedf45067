"""Fit of positive numbers whose products add up to what was measured.

    measured_r ≈ own_g(r) · Σ_j amount_rj · number_j · scale_s(r, j)

Numbers and scales are unknown, each with a log-normal prior around its given value: process factors multiply
the energies of all operations, so that the sum is not linear in them. So is a factor of each group of rows (a
random effect: one board's errors are alike, however often it was measured), around 1. Gauss-Newton on
logarithms, damped as Levenberg and Marquardt do.
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
    ``groups`` numbers the rows that err together, by a factor whose logarithm deviates by ``apart``.
    """

    terms: Vector
    scales: Indices
    spreads: Vector
    measured: Vector
    weights: Vector
    groups: Indices
    apart: float

    @property
    def numbers(self) -> int:
        """Number of unknowns beside the groups' factors."""
        return len(self.spreads)

    @property
    def deviations(self) -> Vector:
        """Deviations of all unknowns' logarithms: numbers and scales, then the groups' factors."""
        return np.concatenate([self.spreads, np.full(int(self.groups.max()) + 1, self.apart)])

    def sums(self, logarithms: Vector) -> Vector:
        """Return every term under unknowns that are so far from their prior values."""
        own = logarithms[: self.numbers]
        factor = np.where(self.scales == np.arange(self.numbers), 0.0, own[self.scales])
        found: Vector = self.terms * np.exp(own + factor)
        return found

    def misfit(self, terms: Vector, logarithms: Vector) -> Vector:
        """Return the weighted logarithms of sums over measurements, and the unknowns over their spreads."""
        off = np.log(terms.sum(axis=1) / self.measured) + logarithms[self.numbers + self.groups]
        return np.concatenate([self.weights * off, logarithms / self.deviations])

    def slopes(self, terms: Vector) -> Vector:
        """Return the derivatives of the misfit."""
        rows = terms / terms.sum(axis=1, keepdims=True)
        apart = self.scales != np.arange(self.numbers)
        scaled = np.array(rows)
        for scale in np.unique(self.scales[apart]):
            scaled[:, scale] += (rows * (apart & (self.scales == scale))).sum(axis=1)
        members = np.eye(int(self.groups.max()) + 1)[self.groups]
        every = np.hstack([scaled, members]) * self.weights[:, None]
        return np.vstack([every, np.diag(1.0 / self.deviations)])


def fit_products(problem: Products) -> tuple[Vector, Vector, Vector]:
    """Return logarithms of numbers and scales over their priors, their errors, and the groups'."""
    found = np.zeros(len(problem.deviations))
    terms = problem.sums(found)
    misfit = problem.misfit(terms, found)
    damping = _DAMPING
    normal = np.diag(problem.deviations**-2)
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
    errors = np.sqrt(np.diag(np.linalg.inv(normal)))
    return found[: problem.numbers], errors[: problem.numbers], found[problem.numbers :]
