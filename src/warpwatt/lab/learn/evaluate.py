"""Cross-validation: every row predicted once by a regressor that has not seen it, or not its program.

Rows are held out one by one, as published, or by program, which shows the error for a new kernel.
Hyper-parameters may be chosen inside the training rows (nested tuning): no held-out row influences them.
The thesis (5.7.8) scores every combination on all splits and reports the best on the same splits; that choice
has seen the test rows. Ours has not: the outer folds only measure.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from enum import StrEnum
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.lab.learn.errors import import_optional
from warpwatt.lab.learn.regressors import fit

if TYPE_CHECKING:
    from warpwatt.lab.learn.regressors import Regressor
    from warpwatt.lab.learn.samples import Floats, Integers, Samples

    Progress = Callable[[str], None]
    Choose = Callable[[Samples, Regressor, int], Regressor]

FOLDS = 5
"""Folds of the published study (thesis 5.7.8)."""
SEEDS = (0, 1, 2, 3, 4)
"""Five fixed seeds: the published study reports five runs and no seeds."""

SHARE_INSIDE, DEVIATIONS_INSIDE = 0.8, 1.2816
"""An interval of so many standard deviations either way holds that share of a normal distribution."""


class Split(StrEnum):
    """How rows are held out: ``ROWS`` leaves other launches of the same program in training."""

    ROWS = "rows"
    PROGRAM = "program"


@dataclass(frozen=True, slots=True)
class Fold:
    """Indices of the rows to train on and of those held out."""

    train: Integers
    test: Integers


def make_folds(samples: Samples, split: Split, seed: int, count: int = FOLDS) -> tuple[Fold, ...]:
    """Return folds that hold out every row once.

    Raises
    ------
    TooFewRowsError, SingleProgramError
        If the samples cannot be split so.
    """
    samples.check(count, by_program=split is Split.PROGRAM)
    if split is Split.PROGRAM:
        return _by_program(samples, seed, count)
    splitter = import_optional("sklearn.model_selection").KFold(count, shuffle=True, random_state=seed)
    return tuple(Fold(train, test) for train, test in splitter.split(samples.x))


def _by_program(samples: Samples, seed: int, count: int) -> tuple[Fold, ...]:
    """Deal out shuffled programs, the largest first, each to the fold with the fewest rows so far."""
    sizes = Counter(samples.programs)
    names = sorted(sizes)
    order = np.random.default_rng(seed).permutation(len(names))
    shuffled = [names[int(i)] for i in order]
    filled = [0] * count
    place: dict[str, int] = {}
    for name in sorted(shuffled, key=lambda each: -(sizes[each] // 8)):
        fold = min(range(count), key=filled.__getitem__)
        place[name] = fold
        filled[fold] += sizes[name]
    at = np.array([place[name] for name in samples.programs])
    return tuple(Fold(np.flatnonzero(at != i), np.flatnonzero(at == i)) for i in range(count))


INNER_FOLDS = 3
"""Folds inside the training rows, for tuning."""


@dataclass(frozen=True, slots=True)
class Errors:
    """How far predictions are from measurements: the four figures of the published tables.

    R², root mean square and mean absolute error in the target's unit, mean absolute error in percent.
    """

    r2: float
    rmse: float
    mae: float
    mape: float

    @classmethod
    def of(cls, measured: Floats, predicted: Floats) -> Errors:
        """Return the errors of predictions; R² is NaN where all measurements are equal.

        >>> Errors.of(np.array([4.0, 8.0]), np.array([5.0, 7.0]))
        Errors(r2=0.75, rmse=1.0, mae=1.0, mape=18.75)
        """
        off = predicted - measured
        spread = float(np.sum((measured - measured.mean()) ** 2))
        return cls(
            r2=1.0 - float(np.sum(off**2)) / spread if spread > 0 else float("nan"),
            rmse=float(np.sqrt(np.mean(off**2))),
            mae=float(np.mean(np.abs(off))),
            mape=float(100.0 * np.mean(np.abs(off / measured))),
        )

    @classmethod
    def mean(cls, found: Sequence[Errors]) -> Errors:
        """Return the mean of each figure, as the thesis averages over folds."""
        return cls(*(float(x) for x in np.mean([astuple(e) for e in found], axis=0)))

    @classmethod
    def deviation(cls, found: Sequence[Errors]) -> Errors:
        """Return each figure's standard deviation (n − 1; zero for one)."""
        if len(found) < 2:
            return cls(0.0, 0.0, 0.0, 0.0)
        return cls(*(float(x) for x in np.std([astuple(e) for e in found], axis=0, ddof=1)))


@dataclass(frozen=True, slots=True)
class Run:
    """One cross-validation with one seed.

    Attributes
    ----------
    per_fold
        Errors of each fold; the thesis reports their mean.
    pooled
        Errors over all held-out predictions at once: the figure to read in a split by program, whose
        folds differ.
    predicted
        The held-out predictions, in the samples' order and unit.
    train_s
        Processor time of training, all folds.
    """

    seed: int
    per_fold: tuple[Errors, ...]
    pooled: Errors
    predicted: Floats
    train_s: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A regressor's cross-validations on one data set, one per seed."""

    regressor: Regressor
    split: Split
    runs: tuple[Run, ...]

    @property
    def mean(self) -> Errors:
        """Return the mean over folds and seeds, the published figure."""
        return Errors.mean([Errors.mean(run.per_fold) for run in self.runs])

    @property
    def deviation(self) -> Errors:
        """Return the standard deviation over seeds of the mean over folds, as in thesis Table 5.9."""
        return Errors.deviation([Errors.mean(run.per_fold) for run in self.runs])

    @property
    def pooled(self) -> Errors:
        """Return the mean over seeds of the errors over all held-out predictions."""
        return Errors.mean([run.pooled for run in self.runs])

    def spread(self, measured: Floats) -> float:
        """Return the spread of log(measured / predicted) whose 80 % interval holds 80 % of the rows.

        Predictions that are not positive count as a hundredth of the least measurement.
        """
        predicted = np.concatenate([run.predicted for run in self.runs])
        ratio = np.tile(measured, len(self.runs)) / np.maximum(predicted, measured.min() / 100)
        return float(np.quantile(np.abs(np.log(ratio)), SHARE_INSIDE)) / DEVIATIONS_INSIDE

    @property
    def train_s(self) -> float:
        """Return the mean processor time to train once."""
        return sum(r.train_s for r in self.runs) / sum(len(r.per_fold) for r in self.runs)


def evaluate(
    samples: Samples,
    regressor: Regressor,
    split: Split = Split.ROWS,
    *,
    seeds: Sequence[int] = SEEDS,
    count: int = FOLDS,
    logarithmic: bool = False,
    choose: Choose | None = None,
    progress: Progress = lambda _: None,
) -> Evaluation:
    """Return the cross-validations of a regressor, scaled inside the folds.

    ``choose`` may set hyper-parameters from a fold's training rows and the seed (nested tuning, see
    ``tuning``). ``progress`` is called with a line of text after each fold.

    Raises
    ------
    TooFewRowsError, SingleProgramError
        If the samples cannot be split so.
    """
    runs = []
    for seed in seeds:
        parts = make_folds(samples, split, seed, count)
        run = _run(samples, regressor, parts, seed, choose, logarithmic=logarithmic, progress=progress)
        runs.append(run)
    return Evaluation(regressor, split, tuple(runs))


def _run(
    samples: Samples,
    regressor: Regressor,
    parts: Sequence[Fold],
    seed: int,
    choose: Choose | None,
    *,
    logarithmic: bool,
    progress: Progress,
) -> Run:
    predicted = np.full(len(samples), np.nan)
    found = []
    train_s = 0.0
    for part in parts:
        training = samples.take(part.train)
        chosen = choose(training, regressor, seed) if choose else regressor
        start = time.process_time()
        fitted = fit(chosen, training.x, training.y, seed, logarithmic=logarithmic)
        train_s += time.process_time() - start
        predicted[part.test] = fitted.predict(samples.x[part.test])
        found.append(Errors.of(samples.y[part.test], predicted[part.test]))
        progress(f"{regressor.title}, seed {seed}")
    return Run(seed, tuple(found), Errors.of(samples.y, predicted), predicted, train_s)


def by_group(samples: Samples, predicted: Floats, groups: Sequence[str]) -> Mapping[str, Errors]:
    """Return the errors of held-out predictions by group (program, dwarf, GPU), leaving out group "".

    Raises
    ------
    ValueError
        If there are not as many groups as rows.
    """
    if len(groups) != len(samples):
        raise ValueError("one group per row is needed")
    labels = np.array(groups)
    names = sorted({name for name in groups if name})
    return {name: Errors.of(samples.y[labels == name], predicted[labels == name]) for name in names}


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
