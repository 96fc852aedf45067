"""Nested tuning: hyper-parameters are chosen inside the training rows, so that no held-out row has a say.

The thesis (5.7.8) scores every combination on all splits and reports the best on the same splits; that choice
has seen the test rows. Ours has not: the outer folds only measure.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from warpwatt.lab.learn.evaluate import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from warpwatt.lab.learn.regressors import Regressor
    from warpwatt.lab.learn.samples import Samples
    from warpwatt.lab.learn.splits import Split

INNER_FOLDS = 3
"""Folds inside the training rows."""


def combinations(grid: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Return every combination of the values to try.

    >>> list(combinations({"depth": [5, 8], "rate": [0.1]}))
    [{'depth': 5, 'rate': 0.1}, {'depth': 8, 'rate': 0.1}]
    """
    for values in product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def tune(
    samples: Samples,
    regressor: Regressor,
    seed: int,
    *,
    split: Split,
    logarithmic: bool = False,
    count: int = INNER_FOLDS,
) -> Regressor:
    """Return a regressor with the hyper-parameters of least root mean square error in cross-validation.

    Of equals the first of the grid is taken. A regressor without a grid is returned as it is. With its
    keywords bound this is a ``choose`` for :func:`~warpwatt.lab.learn.evaluate.evaluate`.
    """

    def error(one: Regressor) -> float:
        found = evaluate(samples, one, split, seeds=(seed,), count=count, logarithmic=logarithmic)
        return found.pooled.rmse

    candidates = [regressor.with_parameters(chosen) for chosen in combinations(regressor.grid)]
    return min(candidates, key=error) if len(candidates) > 1 else regressor
