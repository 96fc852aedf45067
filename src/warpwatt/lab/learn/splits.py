"""Which rows are held out: by row, as published, or by program, which shows the error for a new kernel."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.lab.learn.errors import import_optional

if TYPE_CHECKING:
    from warpwatt.lab.learn.samples import Integers, Samples

FOLDS = 5
"""Folds of the published study (thesis 5.7.8)."""
SEEDS = (0, 1, 2, 3, 4)
"""Five fixed seeds: the published study reports five runs and no seeds."""


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
