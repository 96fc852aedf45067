"""Time against the SM clock, from a model that is asked at few clocks only.

Every phase of a kernel takes either so many cycles or so many seconds: up to some clock the SMs bind, beyond
it what does not run on their clock (DRAM, the queues of L2). So the cycles of a launch are a sum of terms
``max(knee, clock)``, each with a weight of at least 0: they never fall with the clock, and the seconds never
rise. Such a sum is fitted to the cycles at the clocks asked for; what it leaves over is the model's own
unevenness, because a small change of the clock lets simulated warps meet in another order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.case import Case, TimeModel, Timing
from warpwatt.core.estimate import Estimate
from warpwatt.core.execution import Workload
from warpwatt.core.gpu import Gpu
from warpwatt.core.program import Level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FEWEST, MOST = 5, 13
"""Clocks at which the model is asked: at first, and at most."""
ACCURACY = 0.005
"""Relative error of the time that may come from not knowing where a phase changes what binds it."""
KNEES = 64
"""Clocks at which a phase may change what binds it, evenly in the logarithm; few get a weight."""
TOLERANCE = 1e-12
"""Relative size below which rounding is all there is."""


class ClockCurve:
    """A time model that asks another one at 5 to 13 SM clocks and draws a curve through its answers.

    A curve belongs to a workload on a GPU at one memory clock. Its answers differ from those of the model
    itself by the unevenness of that model.

    Parameters
    ----------
    model
        The model that is asked.
    low, high
        Hertz; clocks outside are answered by ``model`` itself.
    """

    summary = "a curve over the SM clock through another model's times"

    def __init__(self, model: TimeModel, low: float, high: float) -> None:
        self.model, self.low, self.high = model, low, high
        self.name = model.name
        self.levels: tuple[Level, ...] = model.levels
        self._curves: dict[_Key, _Curve] = {}

    def predict(self, case: Case) -> Timing:
        """Return the timing at the case's clocks; raise what the model raises."""
        if not self.low <= case.clocks.sm <= self.high or self.low >= self.high:
            return self.model.predict(case)
        key = _Key(case.workload, case.gpu, case.clocks.memory)
        curve = self._curves.get(key)
        if curve is None:
            self._curves.clear()  # the sweep has moved on: it goes through all clocks of one before the next
            curve = self._curves[key] = self._drawn(case)
        return curve.at(case.clocks.sm)

    def _drawn(self, case: Case) -> _Curve:
        """Ask at the ends and between, then where a phase changes what binds it, until that is known."""
        asked: dict[float, Timing] = {}
        wanted = np.geomspace(self.low, self.high, FEWEST).tolist()
        while wanted:
            for clock in wanted:
                asked[clock] = self.model.predict(replace(case, clocks=replace(case.clocks, sm=clock)))
            curve = _through(dict(sorted(asked.items())))
            wanted = curve.unsure() if len(asked) < MOST else []
        return curve


def _through(asked: Mapping[float, Timing]) -> _Curve:
    """Fit a curve to timings by clock, which ascends."""
    clocks = np.array(list(asked))
    cycles = np.array([timing.time.value for timing in asked.values()]) * clocks
    knees = np.geomspace(clocks[0], clocks[-1], KNEES)
    weights = fitted(clocks, cycles, knees)
    phases = tuple((knee, own) for knee, own in zip(knees.tolist(), weights.tolist(), strict=True) if own)
    return _Curve(clocks, tuple(asked.values()), phases)


@dataclass(frozen=True, slots=True)
class _Key:
    workload: Workload
    gpu: Gpu
    memory_clock: float


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    """The answers at the sampled clocks, and the phases: pairs of knee and weight."""

    clocks: Floats
    asked: tuple[Timing, ...]
    phases: tuple[tuple[float, float], ...]

    def at(self, clock: float) -> Timing:
        """Return the timing at an SM clock: seconds of the curve, all else of the nearest sample."""
        nearest = self.asked[int(np.abs(np.log(self.clocks / clock)).argmin())]
        seconds = sum(weight * max(knee, clock) for knee, weight in self.phases) / clock
        factor = seconds / nearest.time.value
        own = nearest.time
        time = Estimate(
            seconds,  # not scaled: no rounding twice
            own.unit,
            own.low * factor,
            own.high * factor,
            own.source,
            own.warnings,
            tuple([draw * factor for draw in own.draws]),
        )
        spent = {part: own * factor for part, own in nearest.breakdown.items()}
        return replace(nearest, time=time, breakdown=spent)

    def unsure(self) -> list[float]:
        """Return the clock to ask next: between the two where a knee's place matters most; none if nowhere.

        Of a knee between two samples only their interval is known: it may be wrong by a quarter of it.
        """
        errors = [
            sum(weight for knee, weight in self.phases if low < knee < high)
            * (high - low)
            / (4 * sum(weight * max(knee, low) for knee, weight in self.phases))
            for low, high in pairwise(self.clocks.tolist())
        ]
        worst = max(range(len(errors)), key=errors.__getitem__)
        low, high = self.clocks[worst : worst + 2]
        return [float(np.sqrt(low * high))] if errors[worst] > ACCURACY else []


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
