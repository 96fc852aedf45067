"""Errors of predicted times over clocks, and what a wrongly chosen clock costs."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation.wang_chu.measurements import clocks, counted
from warpwatt.gpus import find
from warpwatt.published.wang_chu.baseline import fit_counts
from warpwatt.published.wang_chu.parameters import parameters
from warpwatt.published.wang_chu.rounds import answer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from validation.wang_chu.measurements import Kernel, Pair
    from validation.wang_chu.unprofiled import Swept

Times = dict["Pair", float]

ONE_PROFILE, COUNTERS, COUNTERS_SCALED = "wang-chu, profile", "wang-chu, counters alone", "the same, scaled"
INVERSE, CONSTANT = "time ∝ 1/core clock", "constant time"
PIPELINE, HYBRID, NO_PROFILE = "pipeline", "pipeline + profile", "wang-chu"
SCALED = ", scaled"


@dataclass(frozen=True, slots=True)
class Error:
    """Mean absolute error of one method over a set of kernels, all clocks but the baseline's; percent.

    ``ninety`` is the share of single answers within 10 %, ``worst`` the kernel with the largest mean.
    """

    mean: float
    median: float
    ninety: float
    worst: str
    worst_error: float
    kernels: int


def from_profile(kernel: Kernel, baseline: Pair) -> dict[str, Times]:
    """Return what can be said from the profile at one pair of clocks, without any source."""
    memory = parameters(find(kernel.gpu))
    counts, measured = counted(kernel, baseline), kernel.points[baseline].seconds
    start = fit_counts(counts, memory, clocks(baseline), measured)
    alone = {pair: answer(counts, memory, clocks(pair)).seconds for pair in kernel.points}
    return {
        ONE_PROFILE: {pair: start.seconds(memory, clocks(pair)) for pair in kernel.points},
        COUNTERS: alone,
        COUNTERS_SCALED: scaled(alone, kernel, baseline),
        **without_model(kernel, baseline),
    }


def without_model(kernel: Kernel, baseline: Pair) -> dict[str, Times]:
    """Return the two baselines that know one measured time and no more."""
    measured = kernel.points[baseline].seconds
    return {
        INVERSE: {pair: measured * baseline[0] / pair[0] for pair in kernel.points},
        CONSTANT: dict.fromkeys(kernel.points, measured),
    }


def from_source(one: Swept, baseline: Pair) -> dict[str, Times]:
    """Return what the models say without a profile, as it stands and scaled to one measured time."""
    found: dict[str, Times] = {}
    for name, said in one.answers.items():
        found[name] = {pair: one_said.seconds for pair, one_said in said.items()}
        found[name + SCALED] = scaled(found[name], one.kernel, baseline)
    return found | {HYBRID: one.hybrid(baseline)}


def scaled(times: Mapping[Pair, float], kernel: Kernel, baseline: Pair) -> Times:
    """Return times multiplied so that the baseline's is the measured one."""
    factor = kernel.points[baseline].seconds / times[baseline]
    return {pair: seconds * factor for pair, seconds in times.items()}


def measured(kernel: Kernel) -> Times:
    """Return the measured times themselves."""
    return {pair: point.seconds for pair, point in kernel.points.items()}


def error(kernels: Sequence[Kernel], times: Sequence[Mapping[Pair, float]], baseline: Pair) -> Error:
    """Return the error of a method that says ``times`` of ``kernels``."""
    means, within, total = {}, 0, 0
    for kernel, said in zip(kernels, times, strict=True):
        sizes = [
            abs(said[pair] / point.seconds - 1.0) for pair, point in kernel.points.items() if pair != baseline
        ]
        means[kernel.name] = 100.0 * statistics.fmean(sizes)
        within += sum(size <= 0.1 for size in sizes)
        total += len(sizes)
    worst = max(means, key=means.__getitem__)
    values = list(means.values())
    return Error(
        statistics.fmean(values), statistics.median(values), within / total, worst, means[worst], len(values)
    )


def regret(kernel: Kernel, joules: Mapping[Pair, float]) -> float:
    """Return measured energy where the predicted one is least, over the least measured; less 1."""
    chosen = min(joules, key=joules.__getitem__)
    return kernel.points[chosen].joules / min(point.joules for point in kernel.points.values()) - 1.0


def energies(times: Mapping[Pair, float], one: Swept) -> dict[Pair, float]:
    """Return predicted joules: times by what the component power model says with ``pipeline``."""
    watts = one.answers[PIPELINE]
    return {pair: seconds * watts[pair].watts for pair, seconds in times.items()}


def spread(kernels: Sequence[Kernel], times: Sequence[Mapping[Pair, float]]) -> float:
    """Return the root mean square of log(measured / predicted), every kernel weighing the same."""
    squares = [
        statistics.fmean(math.log(point.seconds / said[pair]) ** 2 for pair, point in kernel.points.items())
        for kernel, said in zip(kernels, times, strict=True)
    ]
    return math.sqrt(statistics.fmean(squares))
