"""Cross-validation: every row predicted once by a regressor that has not seen it, or not its program."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.lab.learn import metrics
from warpwatt.lab.learn.regressors import fit
from warpwatt.lab.learn.splits import FOLDS, SEEDS, Split, folds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from warpwatt.lab.learn.metrics import Errors
    from warpwatt.lab.learn.regressors import Regressor
    from warpwatt.lab.learn.samples import Floats, Samples
    from warpwatt.lab.learn.splits import Fold

    Progress = Callable[[str], None]
    Choose = Callable[[Samples, Regressor, int], Regressor]


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
        return metrics.mean([metrics.mean(run.per_fold) for run in self.runs])

    @property
    def deviation(self) -> Errors:
        """Return the standard deviation over seeds of the mean over folds, as in thesis Table 5.9."""
        return metrics.deviation([metrics.mean(run.per_fold) for run in self.runs])

    @property
    def pooled(self) -> Errors:
        """Return the mean over seeds of the errors over all held-out predictions."""
        return metrics.mean([run.pooled for run in self.runs])

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
        parts = folds(samples, split, seed, count)
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
        found.append(metrics.errors(samples.y[part.test], predicted[part.test]))
        progress(f"{regressor.title}, seed {seed}")
    return Run(seed, tuple(found), metrics.errors(samples.y, predicted), predicted, train_s)


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
    return {name: metrics.errors(samples.y[labels == name], predicted[labels == name]) for name in names}
