"""Error figures of time predictions: size, sign, order, and how often the interval holds."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from validation.timing.cases import Compared

FEWEST_CONFIGURATIONS = 5
"""An order needs that many configurations of one kernel on one GPU."""
HELD = 0.80
"""Share of measured times that the 10-90 % interval should hold."""
TOP = 10
"""Configurations that a tuner would run after a model has ranked all of them."""
FEWEST_TO_TUNE = 100
"""A search needs that many configurations of one kernel on one GPU."""


@dataclass(frozen=True, slots=True)
class Errors:
    """How one model did: percentages of (predicted − measured)/measured, shares, rank correlation.

    ``factor`` is the exponential of the root mean square of log(predicted/measured); ``spearman`` the mean
    over kernels, None where none has enough configurations; ``held`` the share of programs' runs within
    the interval, every program weighing the same; ``top`` by how many percent the fastest of the model's
    first :data:`TOP` is slower than the fastest of all, mean over searches, None where there is none.
    """

    cases: int
    programs: int
    mean: float
    median: float
    p90: float
    bias: float
    within: tuple[float, float, float]
    """Shares within 10 %, 30 % and a factor of 2 either way."""
    factor: float
    spearman: float | None
    held: float
    top: float | None


def errors(compared: Sequence[Compared], model: str) -> Errors | None:
    """Return the figures of one model, or None if it answered none of the runs."""
    answered = [c for c in compared if model in c.answers]
    if not answered:
        return None
    signed = [100 * (math.exp(c.log_ratio(model)) - 1) for c in answered]
    absolute = sorted(abs(e) for e in signed)
    logs = [abs(c.log_ratio(model)) for c in answered]
    return Errors(
        cases=len(answered),
        programs=len({c.measured.program for c in answered}),
        mean=statistics.fmean(absolute),
        median=statistics.median(absolute),
        p90=absolute[math.ceil(0.9 * len(absolute)) - 1],
        bias=statistics.median(signed),
        within=(
            _share([a <= 10 for a in absolute]),
            _share([a <= 30 for a in absolute]),
            _share([x <= math.log(2) for x in logs]),
        ),
        factor=math.exp(math.sqrt(statistics.fmean([x * x for x in logs]))),
        spearman=_order(answered, model),
        held=_mean_by_program(answered, [_inside(c, model, 0.0) for c in answered]),
        top=_mean_over_kernels(answered, FEWEST_TO_TUNE, lambda group: best_of_top(group, model)),
    )


def spread_that_holds(compared: Sequence[Compared], model: str, own: float) -> float:
    """Return the model spread with which the interval holds :data:`HELD` of the runs.

    ``own`` is the spread the answers were made with; the rest of their width stays. Programs weigh the same.
    """
    compared = [c for c in compared if model in c.answers]
    low, high = 0.0, 3.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        extra = middle**2 - own**2
        held = _mean_by_program(compared, [_inside(c, model, extra) for c in compared])
        low, high = (low, middle) if held >= HELD else (middle, high)
    return high


def _inside(c: Compared, model: str, extra_variance: float) -> bool:
    """Whether the measured time lies in the interval, with that much added to its variance."""
    answer = c.answers[model]
    z = 1.2816
    upper = (math.log(answer.high / answer.seconds) / z) ** 2 + extra_variance
    lower = (math.log(answer.seconds / answer.low) / z) ** 2 + extra_variance
    reach = math.sqrt(max(0.0, upper)), math.sqrt(max(0.0, lower))
    ratio = -c.log_ratio(model)
    return -z * reach[1] <= ratio <= z * reach[0]


def _mean_by_program(compared: Sequence[Compared], values: Sequence[bool]) -> float:
    by_program: dict[str, list[bool]] = defaultdict(list)
    for c, value in zip(compared, values, strict=True):
        by_program[c.measured.program].append(value)
    return statistics.fmean(_share(group) for group in by_program.values())


def _order(compared: Sequence[Compared], model: str) -> float | None:
    def figure(group: Sequence[Compared]) -> float | None:
        return spearman([c.answers[model].seconds for c in group], [c.measured.seconds for c in group])

    return _mean_over_kernels(compared, FEWEST_CONFIGURATIONS, figure)


def best_of_top(group: Sequence[Compared], model: str) -> float:
    """Return by how many percent the fastest of the model's first :data:`TOP` is slower than the fastest."""
    ranked = sorted(group, key=lambda c: c.answers[model].seconds)
    best = min(c.measured.seconds for c in group)
    return 100 * (min(c.measured.seconds for c in ranked[:TOP]) / best - 1)


def _mean_over_kernels(
    compared: Sequence[Compared], fewest: int, figure: Callable[[list[Compared]], float | None]
) -> float | None:
    """Return the mean of a figure over kernel and GPU, where there are enough runs; None if nowhere."""
    groups: dict[tuple[str, str, str], list[Compared]] = defaultdict(list)
    for c in compared:
        groups[c.measured.data, c.measured.gpu, c.measured.program].append(c)
    found = [figure(group) for group in groups.values() if len(group) >= fewest]
    known = [value for value in found if value is not None]
    return statistics.fmean(known) if known else None


def spearman(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation, ties sharing their mean rank; None if one side is constant.

    >>> spearman([1, 2, 3], [10, 30, 20])
    0.5
    """
    a, b = _ranks(xs), _ranks(ys)
    if len(set(a)) < 2 or len(set(b)) < 2:
        return None
    return statistics.correlation(a, b)


def _ranks(values: Sequence[float]) -> list[float]:
    positions: dict[float, list[int]] = defaultdict(list)
    for position, value in enumerate(sorted(values)):
        positions[value].append(position)
    return [statistics.fmean(positions[value]) for value in values]


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values)


def ordered_pairs(
    said: Sequence[float], measured: Sequence[float], apart: float, alike: float
) -> tuple[int, int, int]:
    """Return how many pairs are ordered right, said to be one, and ordered wrongly.

    Of pairs whose measured values differ by over the share ``apart``; said ones within ``alike`` are one.

    >>> ordered_pairs([3.0, 2.0, 2.0], [3.3, 2.2, 2.0], 0.02, 0.001)
    (2, 1, 0)
    >>> [ordered_pairs([3.0, 2.0], [1.0, other], 0.02, 0.001) for other in (1.01, 1.1)]
    [(0, 0, 0), (0, 0, 1)]
    """
    right = one = wrong = 0
    for (a, x), (b, y) in combinations(zip(said, measured, strict=True), 2):
        if max(x, y) > (1 + apart) * min(x, y):
            together = max(a, b) <= (1 + alike) * min(a, b)
            one, right = one + together, right + (not together and (a < b) == (x < y))
            wrong += not together and (a < b) != (x < y)
    return right, one, wrong
