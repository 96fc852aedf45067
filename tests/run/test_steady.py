"""How often launches are predicted whose data change and whose times do not."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from warpwatt.core.launch import Dim3, Launch
from warpwatt.run.launches import Predicted, Request
from warpwatt.run.steady import AGREEING, Steady


def request(number: int, function: int = 1) -> Request:
    return Request(number, function, "k", Launch(Dim3(1), Dim3(32)), b"", 0, signature=(function,))


def launches(steady: Steady, times, function: int = 1):
    """Let launches take these times; return the numbers of those that are predicted."""
    predicted = []
    for number, time in enumerate(times, 1):
        if steady.alike(request(number, function)) is None:
            one: Any = SimpleNamespace(time=SimpleNamespace(value=time), energy=SimpleNamespace(value=time))
            steady.predicted(Predicted(request(number, function), (one,)))
            predicted.append(number)
    return predicted


def test_the_same_time_is_predicted_ever_more_seldom():
    predicted = launches(Steady(), [1e-6] * 1000)
    assert predicted[: AGREEING + 1] == [*range(1, AGREEING + 1), AGREEING + 2]
    assert len(predicted) < 150
    gaps = [later - earlier for earlier, later in pairwise(predicted)]
    assert gaps == sorted(gaps)


def test_times_that_change_are_all_predicted_and_so_are_those_that_change_again():
    assert len(launches(Steady(), [1e-6 * 1.01**n for n in range(100)])) == 100
    steady = Steady()
    launches(steady, [1e-6] * 100)
    steady.alike(request(101))
    assert len(launches(steady, [2e-6] * 20)) > AGREEING


def test_other_kernels_do_not_count():
    steady = Steady()
    launches(steady, [1e-6] * 50)
    assert len(launches(steady, [1e-6] * AGREEING, function=2)) == AGREEING
