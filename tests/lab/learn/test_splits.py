from __future__ import annotations

import numpy as np
import pytest

from warpwatt.lab.learn.evaluate import Split, make_folds
from warpwatt.lab.learn.samples import load


@pytest.mark.parametrize("split", list(Split))
@pytest.mark.parametrize("seed", [0, 1])
def test_every_row_is_held_out_once(table, split, seed):
    samples = load(table)
    parts = make_folds(samples, split, seed)
    assert sorted(np.concatenate([part.test for part in parts])) == list(range(60))
    for part in parts:
        assert not set(part.train) & set(part.test)
        assert len(part.train) + len(part.test) == 60


def test_no_program_is_on_both_sides(table):
    samples = load(table)
    for seed in range(5):
        for part in make_folds(samples, Split.PROGRAM, seed):
            sides = [{samples.programs[int(i)] for i in side} for side in (part.train, part.test)]
            assert not sides[0] & sides[1]
            assert sides[1]


def test_seeds_give_different_folds(table):
    samples = load(table)
    first = {tuple(part.test) for part in make_folds(samples, Split.PROGRAM, 0)}
    assert any(
        {tuple(p.test) for p in make_folds(samples, Split.PROGRAM, seed)} != first for seed in (1, 2, 3)
    )
