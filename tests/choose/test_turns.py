"""Predicting and measuring in turn: in which order, and what is never run."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.choose.turns import FIRST, predict_and_run

EVENTS = st.lists(st.one_of(st.none(), st.just(math.inf), st.floats(1e-6, 1.0)), max_size=30)


def followed(values: list[float | None], measure=lambda value: value) -> list[tuple[str, int]]:
    """Return what was done to which configuration, in order."""
    events: list[tuple[str, int]] = []

    def predict(config):
        events.append(("predict", config["n"]))
        return values[config["n"]]

    def run(config):
        events.append(("run", config["n"]))
        return measure(values[config["n"]] or 1.0)

    predict_and_run([{"n": n, "half": n // 2} for n in range(len(values))], predict, run)
    return events


@given(EVENTS)
def test_all_that_can_run_do_once(values):
    events = followed(values)
    ran = [n for what, n in events if what == "run"]
    assert sorted(ran) == [n for n, value in enumerate(values) if value != math.inf]
    assert sorted(n for what, n in events if what == "predict") == list(range(len(values)))
    unknown = sum(value is None for value in values)
    assert all((values[n] is None) == (k >= len(ran) - unknown) for k, n in enumerate(ran))


@given(EVENTS)
def test_the_best_prediction_that_has_not_run_is_next(values):
    waiting, predictions = set[int](), 0
    for what, n in followed(values):
        if what == "predict":
            predictions += 1
            if values[n] is not None and values[n] < math.inf:
                waiting.add(n)
        elif values[n] is not None:
            assert predictions >= min(FIRST, len(values))
            assert values[n] == min(values[k] for k in waiting)
            waiting.remove(n)


def test_one_is_predicted_and_one_runs_in_turn():
    kinds = [what for what, _ in followed([1.0 + n for n in range(40)])]
    assert kinds[: FIRST + 1] == [*["predict"] * FIRST, "run"]
    assert kinds[FIRST + 1 : FIRST + 9] == ["predict", "run"] * 4


def test_what_runs_may_end_it():
    def stop(_):
        raise TimeoutError

    with pytest.raises(TimeoutError):
        followed([1.0] * 20, stop)


def test_few_are_needed_in_a_smooth_space():
    """100 of 10,000 would be drawn blindly until one is among the best hundred."""
    values = [1 + ((n % 100) - 70) ** 2 / 1e3 + ((n // 100) - 20) ** 2 / 1e3 for n in range(10_000)]
    space = [{"x": n % 100, "y": n // 100} for n in range(10_000)]
    best, ran = sorted(values)[100], []

    def run(config):
        ran.append(values[config["x"] + 100 * config["y"]])
        if ran[-1] <= best:
            raise TimeoutError
        return 3 * ran[-1]

    with pytest.raises(TimeoutError):
        predict_and_run(space, lambda c: values[c["x"] + 100 * c["y"]], run)
    assert len(ran) < 20


def test_measurements_that_differ_from_predictions_steer():
    """A value of a parameter that is slower than predicted is soon left alone."""
    space = [{"n": n, "kind": kind} for n in range(30) for kind in ("a", "b")]

    def run(config):
        ran.append(config["kind"])
        return 10.0 if config["kind"] == "a" else 1.0

    ran: list[str] = []
    predict_and_run(space, lambda c: 1.0 + int(c["n"]) / 1000 - 0.01 * (c["kind"] == "a"), run)
    assert ran[:24].count("b") >= 8
