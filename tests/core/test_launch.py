"""Launches: impossible dimensions are refused, warps are counted as the hardware does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.arguments import Scalar
from warpwatt.core.errors import LaunchError
from warpwatt.core.launch import Dim3, Launch


@pytest.mark.parametrize("text", ["0", "-1", "1,2,3,4", "a", "", "1,,2", "1.5"])
def test_impossible_dimensions(text):
    with pytest.raises(LaunchError):
        Dim3.parse(text)


@given(st.integers(1, 1024), st.integers(1, 10_000))
def test_partial_warps_count_whole(threads, blocks):
    launch = Launch(Dim3(blocks), Dim3(threads))
    assert launch.warps == blocks * len(range(0, threads, 32))


def test_launches_with_other_arguments_differ():
    one = Launch(Dim3(1), Dim3(1), arguments={"n": Scalar(1)})
    two = Launch(Dim3(1), Dim3(1), arguments={"n": Scalar(2)})
    assert one != two
    assert hash(one) == hash(two)  # usable as a cache key: equality decides
