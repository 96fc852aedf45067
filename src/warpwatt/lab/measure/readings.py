"""What power samples are worth: broken sensors found out, counters unwrapped, a slow sensor's rise fitted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.lab.measure.fits import fit_at_rate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.lab.measure.device import Sample

MAX_WATTS = 20e3
"""No board draws more: a higher reading is an error."""
STUCK_SAMPLES = 10
WRAPS = (2**32, 2**64)
"""Where energy counters in mJ wrap."""
GOOD_FIT = 0.98
"""R² from which on a step response counts as fitted."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Power in W from one sensor, or None and what is wrong with it."""

    watts: float | None
    problem: str = ""


def sampled_power(samples: Sequence[Sample]) -> Reading:
    """Return the mean instant power.

    Samples that are no power (NaN, negative, above any board's) are dropped; where that is more than a
    tenth of them, or all are the same, the sensor is broken.
    """
    values = [sample.instant for sample in samples if sample.instant is not None]
    if not values:
        return Reading(None, "no power sensor")
    good = [value for value in values if 0 <= value <= MAX_WATTS]  # false for NaN too
    if len(good) < 0.9 * len(values):
        return Reading(None, f"power sensor broken: {len(values) - len(good)} of {len(values)} readings")
    if len(good) >= STUCK_SAMPLES and len(set(good)) == 1:
        return Reading(None, "power sensor stuck")
    return Reading(math.fsum(good) / len(good))


def counted_power(samples: Sequence[Sample]) -> Reading:
    """Return the mean power by the energy counter, from its first step among the samples to its last.

    A counter that goes back has wrapped, if the power that follows from a wrap is possible.
    """
    ticks: list[tuple[float, int]] = []
    previous: int | None = None
    for sample in samples:
        if sample.energy_mj is not None and sample.energy_mj != previous:
            if previous is not None:
                ticks.append((sample.time, sample.energy_mj))
            previous = sample.energy_mj
    if previous is None:
        return Reading(None, "no energy counter")
    if len(ticks) < 2:
        return Reading(None, "energy counter stuck")
    joules = 0.0
    for (before, first), (after, last) in pairwise(ticks):
        step = _step_mj(last - first, after - before)
        if step is None:
            return Reading(None, f"energy counter broken: {first} mJ, then {last} mJ")
        joules += step / 1e3
    return Reading(joules / (ticks[-1][0] - ticks[0][0]))


def _step_mj(difference: int, seconds: float) -> int | None:
    """Return a step of the counter with a wrap undone, or None where no power explains it."""
    limit = MAX_WATTS * 1e3 * max(seconds, 1e-3)
    candidates = (difference, *(difference + wrap for wrap in WRAPS))
    return next((step for step in candidates if 0 <= step <= limit), None)


def drift(samples: Sequence[Sample]) -> float:
    """Return by which fraction the second half's mean power differs from the first's; 0 if unknown."""
    half = len(samples) // 2
    first, second = sampled_power(samples[:half]).watts, sampled_power(samples[half:]).watts
    if not first or not second:
        first, second = counted_power(samples[:half]).watts, counted_power(samples[half:]).watts
    return abs(second - first) / first if first and second else 0.0


def updates(samples: Sequence[Sample]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return times and values of the instant sensor's updates: the first sample of each new value."""
    times: list[float] = []
    values: list[float] = []
    for sample in samples:
        value = sample.instant
        if value is not None and 0 <= value <= MAX_WATTS and (not values or value != values[-1]):
            times.append(sample.time)
            values.append(value)
    return np.array(times), np.array(values)


def fit_rise(samples: Sequence[Sample]) -> float | None:
    """Return the time constant in s of the sensor's response to a step of load, or None where none shows.

    The samples begin with the load. Fits a + b·exp(−t/τ) over a grid of τ; taken only where R² is at
    least ``GOOD_FIT``, the sensor rises, and τ lies between the sensor's own period and the span.
    """
    times, values = updates(samples)
    if times.size < 9 or np.ptp(values) < 5.0:
        return None
    # the first is when sampling began, not when the sensor was updated
    times, values = times[1:] - times[1], values[1:]
    period = float(np.median(np.diff(times)))
    grid = np.geomspace(period / 4, times[-1], 400)
    squares = [fit_at_rate(times, values, 1 / tau)[1] for tau in grid]
    tau = float(grid[int(np.argmin(squares))])
    (_, amplitude), missed = fit_at_rate(times, values, 1 / tau)
    rises = amplitude > 0 and 0.5 * period < tau < times[-1] / 2
    return tau if rises and 1 - missed / float(np.var(values) * values.size) >= GOOD_FIT else None


def corrected_power(samples: Sequence[Sample], tau: float) -> float | None:
    """Return the mean power in W with the sensor's capacitive lag undone.

    P_act(tᵢ) = P_m(tᵢ) + C·slope (Alavani 2023, section 5.4.6, after Burtscher et al. 2014), the slope being
    the mean of the two neighbouring ones and C the fitted time constant. Averaged over time.
    """
    times, values = updates(samples)
    if times.size < 3:
        return None
    slopes = np.diff(values) / np.diff(times)
    actual = values[1:-1] + tau * (slopes[:-1] + slopes[1:]) / 2
    weights = (times[2:] - times[:-2]) / 2
    return float(np.average(actual, weights=weights))
