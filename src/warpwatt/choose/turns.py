"""A search that predicts and measures in turn, where a GPU is at hand.

A prediction costs about what a measurement does, since both compile; so neither is made of all. What is
predicted next is where a model of what is known expects most (:mod:`~warpwatt.choose.surrogate`), what is run
next is the best prediction that has not run. Where measurements are slower than predicted or faster, all
predictions that have not run are taken to be off by as much.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from warpwatt.choose.surrogate import Surrogate
from warpwatt.choose.tuning import MOST_MODELLED

Config = TypeVar("Config", bound=Mapping[str, object])

FIRST = 8
"""Predictions before anything runs."""
DRAWN = 2
"""Predictions of configurations that are drawn; the others go where most is expected."""
MOST_SEEN = 256
"""The best so many configurations are modelled: the cost of a model grows with the third power of them."""


def predict_and_run(
    space: Sequence[Config],
    predict: Callable[[Config], float | None],
    run: Callable[[Config], float | None],
    seed: int = 0,
) -> None:
    """Predict one configuration and run one in turn, until all have run that can, or ``run`` raises.

    Of a large space as many are looked at, drawn, as :func:`~warpwatt.choose.tuning.search` looks at.

    Parameters
    ----------
    predict
        What is to be small, positive; infinite for what cannot be launched, which is not run; None where it
        cannot be told: these run last.
    run
        The same, measured, in any unit; None where it failed.

    >>> ran = []
    >>> def run(config):
    ...     ran.append(config["n"])
    ...     return 2.0 * abs(config["n"] - 6) + 2
    >>> predict_and_run([{"n": n} for n in range(40)], lambda c: abs(c["n"] - 6) + 1.0, run)
    >>> sorted(ran) == list(range(40)), ran.index(6) < 8
    (True, True)
    """
    if not space:
        return
    drawn = random.Random(seed).sample(space, min(len(space), MOST_MODELLED))  # noqa: S311 - the same each time
    surrogate, left = Surrogate(drawn), dict.fromkeys(range(len(drawn)))
    predicted, measured = dict[int, float](), dict[int, float | None]()
    unknown: list[int] = []
    while left or len(measured) < len(predicted):
        if left:
            number = _most_promising(surrogate, left, predicted, measured)
            del left[number]
            value = predict(drawn[number])
            if value is None:
                unknown.append(number)
            elif math.isfinite(value):
                predicted[number] = value
        waiting = predicted.keys() - measured.keys()
        if waiting and (not left or len(drawn) - len(left) >= FIRST):
            number = min(waiting, key=lambda one: (predicted[one], one))
            measured[number] = run(drawn[number])
    for number in unknown:
        run(drawn[number])


def _most_promising(
    surrogate: Surrogate,
    left: Mapping[int, None],
    predicted: Mapping[int, float],
    measured: Mapping[int, float | None],
) -> int:
    """Return which of those that are left is to be predicted next."""
    if len(predicted) < DRAWN:
        return next(iter(left))
    values = _known(predicted, measured)
    best = sorted(values, key=lambda number: values[number])[:MOST_SEEN]
    surrogate.see_only({number: values[number] for number in best})
    better = surrogate.expected_improvement()
    return max(left, key=lambda number: better[number])


def _known(predicted: Mapping[int, float], measured: Mapping[int, float | None]) -> dict[int, float]:
    """Return what was measured, and where nothing was, what was predicted, off by as much as others are.

    >>> _known({0: 1.0, 1: 2.0, 2: 3.0}, {0: 20.0, 1: None})
    {0: 20.0, 1: 40.0, 2: 60.0}
    """
    ran = {number: value for number, value in measured.items() if value is not None and value > 0}
    ratio = statistics.median(value / predicted[number] for number, value in ran.items()) if ran else 1.0
    return {number: ran.get(number, ratio * value) for number, value in predicted.items()}
