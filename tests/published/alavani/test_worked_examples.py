"""The worked examples of the thesis, as the validation script states them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from validation.alavani.worked_examples import EXAMPLES, NAMES, vector_add_schedule


def test_algorithm_6_schedule():
    schedule = vector_add_schedule()
    assert dict(zip(NAMES, schedule.start, strict=True)) == {
        "C8": 0,
        "C9": 10,
        "C10": 44,
        "M1": 10,
        "M2": 332,
        "C11": 654,  # printed 655
    }
    ends = [s + d for s, d in zip(schedule.start, schedule.duration, strict=True)]
    assert ends == [10, 44, 54, 332, 654, 664]


def test_every_figure_agrees_or_says_why():
    differing = [f for example in EXAMPLES.values() for f in example() if not f.agrees]
    assert not differing
