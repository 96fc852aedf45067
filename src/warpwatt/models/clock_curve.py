"""Cycles against the SM clock, from a simulation that is asked at few clocks only.

Every phase of a kernel takes either so many cycles or so many seconds: up to some clock the SMs bind, beyond
it what does not run on their clock (DRAM, the queues of L2). So the cycles of a launch are a sum of terms
``max(knee, clock)``, each with a weight of at least 0: they never fall with the clock, and the seconds never
rise. Such a sum is fitted to the cycles at the clocks asked for; what it leaves over is the simulation's own
unevenness, because a small change of the clock lets simulated warps meet in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FIRST = (0.3, 0.45, 0.6, 0.8, 1.0, 1.2)
"""Clocks asked at first, over the reference clock: what boards can be set to and what fast ones boost to."""
MOST = 10
"""Clocks asked at most."""
ACCURACY = 0.01
"""Relative error of the time that may come from not knowing where a phase changes what binds it."""
KNEES = 64
"""Clocks at which a phase may change what binds it, evenly in the logarithm; few get a weight."""
EVEN = 2.0
"""Where cycles that do not depend on the clock leave at most so many times what the best curve leaves, all
that the curve says beyond them is unevenness."""
TOLERANCE = 1e-12
"""Relative size below which rounding is all there is."""


@dataclass(frozen=True, slots=True)
class ClockCurve:
    """Cycles as a sum of phases, pairs (knee in hertz, weight), and the clocks at which was asked."""

    phases: tuple[tuple[float, float], ...]
    asked: tuple[float, ...]

    def cycles(self, clock: float) -> float:
        """Return the cycles at an SM clock in hertz.

        >>> ClockCurve(((1e9, 2e-6), (3e9, 1e-6)), ()).cycles(2e9)
        7000.0
        """
        return sum(weight * max(knee, clock) for knee, weight in self.phases)

    def nearest(self, clock: float) -> float:
        """Return the clock asked that comes nearest in the logarithm."""
        return min(self.asked, key=lambda one: max(one / clock, clock / one))

    def unsure(self) -> list[float]:
        """Return the clock to ask next: between the two where a knee's place matters most; none if nowhere.

        Of a knee between two clocks asked only their interval is known: it may be wrong by a quarter of it.
        """
        errors = [
            sum(weight for knee, weight in self.phases if low < knee < high)
            * (high - low)
            / (4 * self.cycles(low))
            for low, high in pairwise(self.asked)
        ]
        worst = max(range(len(errors)), key=errors.__getitem__)
        low, high = self.asked[worst : worst + 2]
        return [float(np.sqrt(low * high))] if errors[worst] > ACCURACY else []


def draw_curve(cycles: Callable[[float], float], reference: float) -> ClockCurve:
    """Ask for the cycles around a reference clock, then where a phase changes what binds it; fit a curve."""
    asked: dict[float, float] = {}
    wanted = [share * reference for share in FIRST]
    while True:
        for clock in wanted:
            asked[clock] = cycles(clock)
        curve = _through(dict(sorted(asked.items())))
        wanted = curve.unsure() if len(asked) < MOST else []
        if not wanted:
            return curve


def _through(asked: dict[float, float]) -> ClockCurve:
    """Fit a curve to cycles by clock, which ascends."""
    clocks, cycles = np.array(list(asked)), np.array(list(asked.values()))
    knees = np.geomspace(clocks[0], clocks[-1], KNEES)
    weights = fitted(clocks, cycles, knees)
    constant = np.append(np.zeros(KNEES - 1), fitted(clocks, cycles, knees[-1:]))
    if _left_over(clocks, cycles, knees, constant) <= EVEN * _left_over(clocks, cycles, knees, weights):
        weights = constant
    phases = zip(knees.tolist(), weights.tolist(), strict=True)
    return ClockCurve(tuple((knee, own) for knee, own in phases if own), tuple(asked))


def _left_over(clocks: Floats, cycles: Floats, knees: Floats, weights: Floats) -> float:
    """Return the root of the summed squares of relative differences."""
    drawn = np.maximum(knees[None, :], clocks[:, None]) @ weights
    return float(np.linalg.norm(drawn / cycles - 1.0))


def fitted(clocks: Floats, cycles: Floats, knees: Floats) -> Floats:
    """Return the weights of the terms ``max(knee, clock)`` with the least squares of relative differences.

    >>> clocks, knees = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 4.0])
    >>> fitted(clocks, 3.0 * np.maximum(2.0, clocks), knees).round(9).tolist()
    [0.0, 3.0, 0.0]
    """
    terms = np.maximum(knees[None, :], clocks[:, None]) / cycles[:, None]
    return non_negative_least_squares(terms, np.ones(len(clocks)))


def non_negative_least_squares(matrix: Floats, wanted: Floats) -> Floats:
    """Return x >= 0 with the least ``|matrix·x − wanted|``.

    Method: Lawson and Hanson, "Solving Least Squares Problems" (1974), algorithm 23.10.

    >>> non_negative_least_squares(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([2.0, -1.0])).tolist()
    [2.0, 0.0]
    """
    size = matrix.shape[1]
    x, chosen = np.zeros(size), np.zeros(size, bool)
    for _ in range(3 * size):  # it ends sooner unless rounding makes it go in circles
        gradient = matrix.T @ (wanted - matrix @ x)
        gradient[chosen] = 0.0
        if gradient.max() <= TOLERANCE:
            break
        chosen[gradient.argmax()] = True
        while chosen.any():  # rounding may take out what was just put in
            tried = np.zeros(size)
            tried[chosen] = np.linalg.lstsq(matrix[:, chosen], wanted, rcond=None)[0]
            if tried[chosen].min() > 0.0:
                break
            down = chosen & (tried <= 0.0)
            back = x[down] - tried[down]
            step = np.divide(x[down], back, out=np.zeros_like(back), where=back > 0.0).min()
            x += step * (tried - x)
            chosen &= x > TOLERANCE * x.max()
            x[~chosen] = 0.0
        else:
            break
        x = tried
    return x
