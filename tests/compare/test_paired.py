from __future__ import annotations

import pytest

from warpwatt.compare.variants import split_pairs, split_values
from warpwatt.request.fields import Kind
from warpwatt.request.launch_text import LaunchText
from warpwatt.request.options import CompilationOptions, ModelOptions


@pytest.mark.parametrize(
    "options",
    [
        LaunchText(arg=("x=f32[n]:data/x.npy",), kernel="f"),
        CompilationOptions(define=('FILE="a/b"', "HALF=(1/2)", "PATHS=a/b/c"), include=("a/b",)),
        ModelOptions(clock="1410,1215"),
    ],
)
def test_slashes_that_separate_nothing_stay(options):
    old, new, labels = split_pairs(options)
    assert old == new == options
    assert labels == ("", "")


@pytest.mark.parametrize("grid", ["n/256", "n*2/256", "(n+255)/256", "n//256", "n/TILE,m/TILE", "64, n / 8"])
def test_sizes_that_divide_stay_one(grid):
    options = LaunchText(grid=grid)
    assert split_pairs(options) == (options, options, ("", ""))
    assert split_values(grid, Kind.DIMENSIONS) == (grid,)


@pytest.mark.parametrize(
    ("grid", "old", "new"),
    [
        ("64,64/32,32", "64,64", "32,32"),
        ("n/256/n/512", "n/256", "n/512"),
        ("(n+7)/8/64", "(n+7)/8", "64"),
        ("64/n/8", "64", "n/8"),
    ],
)
def test_sizes_of_two_sides(grid, old, new):
    sides = split_pairs(LaunchText(grid=grid))
    assert (sides[0].grid, sides[1].grid) == (old, new)


def test_every_value_may_be_two():
    old, new, labels = split_pairs(CompilationOptions(define=("TILE=16/32", "FAST"), toolkit="12.9/13.0"))
    assert (old.define, new.define) == (("TILE=16", "FAST"), ("TILE=32", "FAST"))
    assert (old.toolkit, new.toolkit) == ("12.9", "13.0")
    assert labels[0] != labels[1]
    assert "TILE=32" in labels[1]


def test_paths_of_model_files_are_not_taken_apart(tmp_path):
    model = tmp_path / "model.json"
    model.touch()
    both = ModelOptions(model=(f"power=component/{model}",))
    old, new, _ = split_pairs(both)
    assert (old.model, new.model) == (("power=component",), (f"power={model}",))
    old, new, _ = split_pairs(ModelOptions(model=(f"power={model}/alavani",)))
    assert (old.model, new.model) == ((f"power={model}",), ("power=alavani",))
    alone = ModelOptions(model=(f"power={model}",))
    assert split_pairs(alone)[:2] == (alone, alone)
