"""Lists and ranges of argument values."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.errors import ArgumentError
from warpwatt.request.launch_text import LaunchText
from warpwatt.sweep.sizes import expanded, values


@given(st.lists(st.integers(-100, 10**9), min_size=1, max_size=6, unique=True))
def test_a_list_is_its_values(numbers):
    assert [int(value) for value in values("/".join(map(str, numbers)))] == numbers


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 50))
def test_a_range_is_pythons_with_its_end(low, more, step):
    assert [int(v) for v in values(f"{low}:{low + more}:{step}")] == list(range(low, low + more + 1, step))


@given(st.integers(1, 50), st.integers(0, 10**6), st.integers(2, 9))
def test_factors_multiply(low, more, factor):
    found = [int(v) for v in values(f"{low}:{low + more}:*{factor}")]
    assert found[0] == low
    assert all(b == a * factor for a, b in pairwise(found))
    assert found[-1] <= low + more < found[-1] * factor


@pytest.mark.parametrize(
    "text", ["1:2", "1:2:0", "2:1:1", "0:8:*2", "1:8:*1", "1:x:1", "1:2:3:4", "1.5:3:1", "1:1000000:1"]
)
def test_bad_ranges_are_refused(text):
    with pytest.raises(ArgumentError):
        values(text)


def test_all_combinations_and_buffers_follow():
    launch = LaunchText(arg=("n=8/16", "m=1/2", "x=f32[n*m]:zeros", "y=i32[n]:data/y.npy"))
    found = expanded(launch)
    assert [one.arg[:2] for one in found] == [
        ("n=8", "m=1"),
        ("n=8", "m=2"),
        ("n=16", "m=1"),
        ("n=16", "m=2"),
    ]
    assert {one.arg[2:] for one in found} == {launch.arg[2:]}
