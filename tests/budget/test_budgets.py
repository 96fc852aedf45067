"""Files of budgets: what is read, and that every mistake names its line."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.budget.budgets import read_budgets
from warpwatt.budget.places import Document
from warpwatt.core.budget import Bound, Quantile
from warpwatt.core.errors import InputError

GOOD = """\
# what CI allows
gpu = "h200"
baseline = "base.json"
define = ["TILE=16"]

[[budget]]
source = "a.cu"
max.time = "12 us"
max.energy = "+5 %"
[budget.min]
occupancy = "50 %"

[[budget]]
name = "second"
source = "b.cu"
gpu = "a100"
quantile = "worst"
grid = [
  8,
  4,
]
block = 256
args = { n = 5, x = "f32[n]" }
max = { registers = 64, spills = 0 }
"""


@pytest.fixture
def budgets(tmp_path):
    def read(text: str | bytes):
        path = tmp_path / "budget.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_budgets(path)

    return read


def test_a_file_is_read_with_its_lines(budgets, tmp_path):
    first, second = budgets(GOOD).budgets
    assert [(x.quantity, x.bound, x.relative, x.line) for x in first.limits] == [
        ("time", Bound.MAX, False, 8),
        ("energy", Bound.MAX, True, 9),
        ("occupancy", Bound.MIN, False, 11),
    ]
    assert first.limits[0].amount == pytest.approx(12e-6)
    assert (first.name, first.line, first.gpu, first.quantile) == ("a", 6, "h200", Quantile.VALUE)
    assert first.source == tmp_path / "a.cu"
    assert (second.name, second.line, second.gpu, second.quantile) == ("second", 13, "a100", Quantile.WORST)
    assert second.launch.grid == "8,4"
    assert second.launch.arg == ("n=5", "x=f32[n]")
    assert second.compilation.define == ("TILE=16",)
    assert [x.line for x in second.limits] == [24, 24]


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('max.time = "12 us"', 'max.tiem = "12 us"', 8, "did you mean time"),
        ('max.time = "12 us"', 'maxx.time = "12 us"', 8, "unknown key 'maxx'"),
        ('max.time = "12 us"', 'max.time = "12 W"', 8, "not in s"),
        ('max.time = "12 us"', "max.time = -1", 8, "impossible max.time"),
        ('max.time = "12 us"', "max.time = nan", 8, "impossible max.time"),
        ('max.time = "12 us"', "max.time = true", 8, "not an amount"),
        ('occupancy = "50 %"', "occupancy = 1.5", 11, "at most 1"),
        ('max.energy = "+5 %"', 'max.energy = "5 %"', 9, "+5 %"),
        ('max.energy = "+5 %"', 'max.occupancy = "40 %"', 11, "above max.occupancy"),
        ('quantile = "worst"', 'quantile = "median"', 17, "value worst"),
        ("block = 256", "blok = 256", 22, "did you mean block"),
        ("block = 256", 'shared = "many"', 22, "shared is not a number"),
        ('source = "b.cu"\n', "", 13, "no source"),
        ('define = ["TILE=16"]', "define = 3", 4, "no list of texts"),
        ('gpu = "h200"', 'gpus = "h200"', 2, "did you mean gpu"),
        ('gpu = "h200"', "gpu = 200", 2, "gpu is not a text"),
        ('baseline = "base.json"\n', "", 8, "relative to a baseline"),
        ("# what CI allows", "what CI allows", 1, "not TOML"),
        ("[budget.min]", "[budget.min", 10, "not TOML"),
    ],
)
def test_mistakes_name_their_line(budgets, old, new, line, said):
    with pytest.raises(InputError) as refused:
        budgets(GOOD.replace(old, new, 1))
    error = refused.value
    assert said in f"{error.message} {error.hint}"
    assert (error.file is not None, error.line) == (True, line)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no budget here"),
        ("# nothing\n", "no budget here"),
        ("budget = 3", "not an array of tables"),
        ('[[budget]]\nsource = "a.cu"\n', "no limit"),
        (b"\xff\xfe", "not UTF-8"),
        (b"gpu = \x00", "not TOML"),
    ],
)
def test_files_that_are_none(budgets, text, said):
    with pytest.raises(InputError, match=said):
        budgets(text)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_budgets(tmp_path / "nothing.toml")
    with pytest.raises(InputError, match="is a directory"):
        read_budgets(tmp_path)


@given(st.integers(0, len(GOOD)), st.integers(0, 40), st.text(max_size=8))
def test_damaged_files_are_refused_or_read(tmp_path_factory, start, length, insert):
    path = tmp_path_factory.getbasetemp() / "damaged.toml"
    path.write_text(GOOD[:start] + insert + GOOD[start + length :], encoding="utf-8")
    with contextlib.suppress(InputError):
        assert read_budgets(path).budgets


@given(st.lists(st.sampled_from(["", "# [[budget]]", "\n"]), min_size=3, max_size=3))
def test_lines_of_keys_are_found_whatever_stands_between(tmp_path_factory, fillers):
    path = tmp_path_factory.getbasetemp() / "places.toml"
    first = ["a = '''", "[[budget]]", "'''", fillers[0], "[[budget]]", "x = 1", fillers[1]]
    text = "\n".join([*first, "[[budget]]", fillers[2], "x.y = [", "[1],", "]", "z = 3"])
    path.write_text(text)
    document = Document.read(path)
    lines = text.split("\n")
    assert lines[document.lines["budget", 0, "x"] - 1] == "x = 1"
    assert lines[document.lines["budget", 1, "x", "y"] - 1] == "x.y = ["
    assert lines[document.lines["budget", 1, "z"] - 1] == "z = 3"
