"""From samples to a model that can be kept: evaluated both ways, beside the constant mean, with a card."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from warpwatt.lab.learn.card import make_card
from warpwatt.lab.learn.evaluate import FOLDS, SEEDS, Split, evaluate, tune
from warpwatt.lab.learn.export import export
from warpwatt.lab.learn.regressors import BASELINE, fit, regressor

if TYPE_CHECKING:
    from warpwatt.lab.learn.evaluate import Evaluation, Progress
    from warpwatt.lab.learn.regressors import Fitted
    from warpwatt.lab.learn.samples import Samples

BEST_PUBLISHED = "xgboost"
"""The regressor that is trained where none is named: the published study's best."""
LOGARITHMIC = frozenset({"time", "energy"})
"""Targets that span orders of magnitude: their logarithm is learned, so that errors are relative."""


@dataclass(frozen=True, slots=True)
class Training:
    """What to train and how to judge it.

    ``names`` are regressors; of several, the one with the least error in the split is kept.
    """

    names: tuple[str, ...]
    split: Split = Split.PROGRAM
    seeds: tuple[int, ...] = SEEDS
    folds: int = FOLDS
    tune: bool = False

    @property
    def steps(self) -> int:
        """Return how often ``progress`` will be called."""
        return (len(self.names) + 1) * len(self.seeds) * self.folds


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained model: the kept regressor, all evaluations (the constant mean first), its card, its JSON."""

    fitted: Fitted
    kept: Evaluation
    evaluations: tuple[Evaluation, ...]
    card: dict[str, Any]
    model: dict[str, Any]


def train(samples: Samples, training: Training, progress: Progress = lambda _: None) -> Trained:
    """Evaluate regressors, train the best on all rows.

    Raises
    ------
    TooFewRowsError, SingleProgramError
        If the samples cannot be split as asked.
    MissingPackageError
        If a regressor's package is not installed.
    """
    samples.check(training.folds, by_program=training.split is Split.PROGRAM)
    names = dict.fromkeys((BASELINE, *training.names))
    found = tuple(_evaluated(samples, name, training, progress) for name in names)
    wanted = [each for each in found if each.regressor.name in training.names]
    kept = min(wanted, key=lambda each: each.pooled.rmse)
    fitted = _fitted(samples, kept, training)
    card = make_card(
        samples, fitted.regressor, kept, found, tuned=training.tune, logarithmic=fitted.logarithmic
    )
    return Trained(fitted, kept, found, card, export(fitted, samples))


def _evaluated(samples: Samples, name: str, training: Training, progress: Progress) -> Evaluation:
    logarithmic = samples.target in LOGARITHMIC
    return evaluate(
        samples,
        regressor(name),
        training.split,
        seeds=training.seeds,
        count=training.folds,
        logarithmic=logarithmic,
        choose=partial(tune, split=training.split, logarithmic=logarithmic) if training.tune else None,
        progress=progress,
    )


def _fitted(samples: Samples, kept: Evaluation, training: Training) -> Fitted:
    """Train on all rows, with hyper-parameters tuned on all rows where asked."""
    logarithmic = samples.target in LOGARITHMIC
    seed = training.seeds[0]
    chosen = kept.regressor
    if training.tune:
        chosen = tune(samples, chosen, seed, split=training.split, logarithmic=logarithmic)
    return fit(chosen, samples.x, samples.y, seed, logarithmic=logarithmic)
