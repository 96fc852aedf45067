"""What a sensor shows: means over windows, against brute force."""

import numpy as np
import pytest

from warpwatt.gpus import find, find_many
from warpwatt.models.sensor import largest_reading, launches_to_fill, sensor, shown


def brute(steps, window):
    """Return the largest mean by trying many windows, power sampled finely."""
    moments = np.linspace(steps[0][0], steps[-1][1], 20001)
    starts = np.array([start for start, _, _ in steps])
    watts = np.array([one for _, _, one in steps])[np.searchsorted(starts, moments[:-1], side="right") - 1]
    joules = np.concatenate([[0.0], np.cumsum(watts * np.diff(moments))])
    width = round(window / (moments[1] - moments[0]))
    return float((joules[width:] - joules[:-width]).max() / (width * (moments[1] - moments[0])))


@pytest.mark.parametrize("seed", range(5))
def test_the_largest_reading_is_that_of_brute_force(seed):
    random = np.random.default_rng(seed)
    edges = np.concatenate([[0.0], np.cumsum(random.uniform(0.001, 0.2, 30))])
    steps = [
        (float(a), float(b), float(w))
        for a, b, w in zip(edges[:-1], edges[1:], random.uniform(50, 400, 30), strict=True)
    ]
    assert largest_reading(steps, 0.1) == pytest.approx(brute(steps, 0.1), rel=0.01)


def test_a_run_shorter_than_the_window_shows_its_mean():
    assert largest_reading([(1.0, 1.01, 100.0), (1.01, 1.02, 300.0)], 0.1) == pytest.approx(200.0)
    assert largest_reading([], 0.1) == 0.0


def test_one_launch_shows_as_its_share_of_the_window():
    assert shown(300.0, 0.025, 100.0, 0.1) == pytest.approx(150.0)
    assert shown(300.0, 0.5, 100.0, 0.1) == 300.0
    assert launches_to_fill(1e-6, 2e-6, 0.025) == 25000


def test_the_reading_behind_a_kernel_falls_as_on_an_rtx_4000_ada():
    """Public log of the average there: 123 W at the end, 33 at rest, 81.7 W half a second later."""
    window = sensor(find("RTX 4000 Ada")).window
    assert shown(123.2, 0.5, 33.4, window) == pytest.approx(81.7, rel=0.05)


@pytest.mark.parametrize(
    ("board", "window"), [("h100", 1.0), ("rtx 3090", 1.0), ("a100", 0.025), ("v100", 0.01)]
)
def test_boards_average_as_documented(board, window):
    assert sensor(find_many(board)[0]).window == window
