"""The block model: lines and rounds against brute force and numpy, and what it refuses."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from warpwatt.core.errors import InputError
from warpwatt.published.boughzala import BlockModel, Form, Sample, fit, relative_errors
from warpwatt.published.boughzala.fit import between, line

sizes = st.lists(st.integers(1, 100_000), min_size=3, max_size=8, unique=True)
positive = st.floats(1e-6, 1e3)


@given(sizes, positive, positive, st.floats(1, 100), st.floats(1, 500))
def test_a_kernel_that_follows_the_equations_is_found_again(blocks, slope, start, static, per_block):
    def seconds(n):
        return slope * n + start

    def joules(n):
        return per_block * n + static * seconds(n)

    runs = [Sample(n, seconds(n), joules(n) / seconds(n)) for n in blocks]
    model = fit(runs, 80, static)
    asked = 12_345
    assert model.time(asked) == pytest.approx(seconds(asked), rel=1e-6)
    assert model.energy(asked) == pytest.approx(joules(asked), rel=1e-6)


@given(sizes, st.lists(st.floats(-10, 10), min_size=8, max_size=8))
def test_the_line_is_that_of_numpy(xs, noise):
    ys = [3.0 * x + e for x, e in zip(xs, noise, strict=False)]
    slope, start = line([float(x) for x in xs], ys)
    expected = np.polyfit(xs, ys, 1)
    assert slope == pytest.approx(expected[0], rel=1e-6, abs=1e-9)
    assert start == pytest.approx(expected[1], rel=1e-4, abs=1e-4)


@given(st.integers(1, 5000), st.integers(1, 150), st.integers(1, 16))
def test_rounds_are_those_of_dealing_blocks_out(blocks, sms, resident):
    runs = [Sample(n * sms * resident, float(n)) for n in (1, 2, 9)]
    left, rounds = blocks, 0
    while left > 0:
        left, rounds = left - sms, rounds + 1
    assert fit(runs, sms, 0.0, Form.ROUNDS).time(blocks) == pytest.approx(rounds / resident)
    left, waves = blocks, 0
    while left > 0:
        left, waves = left - sms * resident, waves + 1
    assert fit(runs, sms, 0.0, Form.RESIDENT, resident).time(blocks) == pytest.approx(waves)


def test_the_steps_of_figure_2():
    """Blocks of 1024 threads: every 14 on the M2075, which holds one, and every 28 on the K20Xm, with two."""
    for resident, width in ((1, 14), (2, 28)):
        runs = [Sample(width * n, float(n)) for n in (1, 4, 9)]
        model = fit(runs, 14, 0.0, Form.RESIDENT, resident)
        steps = [n for n in range(2, 100) if model.time(n) > model.time(n - 1) + 1e-9]
        assert steps == [width * k + 1 for k in range(1, len(steps) + 1)]


def test_round_figures_are_equations_5_and_7():
    runs = [Sample(14 * n, 2.0 * n, 100.0) for n in (1, 2, 5)]
    model = fit(runs, 14, 30.0, Form.ROUNDS)
    assert model.round_seconds == pytest.approx(2.0)
    assert model.round_joules == pytest.approx(200.0)
    assert model.round_watts == pytest.approx(100.0)
    assert model.energy(15) == pytest.approx(400.0)


def test_resident_rounds_follow_the_measured_power():
    runs = [Sample(10, 1.0, 50.0), Sample(20, 2.0, 80.0), Sample(40, 4.0, 90.0)]
    model = fit(runs, 1, 10.0, Form.RESIDENT, 1)
    assert model.energy(20) == pytest.approx(160.0)
    assert model.energy(30) == pytest.approx(3.0 * 85.0)
    assert model.energy(400) == pytest.approx(40.0 * 90.0)


@given(st.integers(0, 200))
def test_between_is_numpys(x):
    points = [(10, 5.0), (20, 9.0), (50, 2.0)]
    assert between(points, x) == pytest.approx(
        float(np.interp(x, [at for at, _ in points], [value for _, value in points]))
    )


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ([Sample(10, 1.0)] * 3, "three numbers of blocks, not 1 different of 3"),
        ([Sample(10, 1.0), Sample(20, 2.0)], "not 2 different"),
        ([Sample(10, 3.0), Sample(20, 2.0), Sample(30, 1.0)], "do not grow"),
        ([Sample(n, n * 1.0, 20.0) for n in (1, 2, 3)], "does not exceed the idle power"),
    ],
)
def test_refusals(runs, words):
    with pytest.raises(InputError, match=words) as caught:
        fit(runs, 14, 25.0)
    assert caught.value.hint


def test_launches_within_one_round_are_refused():
    runs = [Sample(n, float(n)) for n in (1, 2, 3)]
    with pytest.raises(InputError, match="same number of rounds") as caught:
        fit(runs, 14, 0.0, Form.RESIDENT, 2)
    assert "more blocks" in caught.value.hint


def test_energy_needs_power():
    model = BlockModel(Form.LINEAR, 1.0, 0.0, None, 30.0, 1)
    with pytest.raises(InputError, match="no power") as caught:
        model.energy(5)
    assert "power_w" in caught.value.hint


@given(st.lists(st.tuples(st.floats(0.1, 10), st.floats(0.1, 10)), min_size=1))
def test_errors_are_in_order_and_ignore_the_sign(pairs):
    predicted, measured = zip(*pairs, strict=True)
    found = relative_errors(predicted, measured)
    assert found.best <= found.average * (1 + 1e-12)
    assert found.average <= found.worst * (1 + 1e-12)
    mirrored = relative_errors([2 * m - p for p, m in pairs], measured)
    assume(all(math.isfinite(x) for x in mirrored))
    assert mirrored.average == pytest.approx(found.average, rel=1e-6, abs=1e-9)


def test_no_errors_to_sum_up():
    with pytest.raises(ValueError, match="no errors"):
        relative_errors([], [])
