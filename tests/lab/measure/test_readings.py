"""Sensors: what is broken is found out, what wraps is unwrapped, what lags is corrected."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.lab.measure.device import Sample
from warpwatt.lab.measure.nvml import reason_names
from warpwatt.lab.measure.readings import corrected_power, counted_power, drift, fit_rise, sampled_power
from warpwatt.lab.measure.simulated_power import PowerSensors, PowerTrace, SensorBehaviour


def samples(watts, *, start_mj=0, step=0.05, wrap=2**64):
    """Samples of a board that draws ``watts[i]`` in the i-th step."""
    energies = start_mj + np.concatenate([[0], np.cumsum(watts) * step * 1e3])
    return [Sample(i * step, w, int(energies[i]) % wrap) for i, w in enumerate(watts)]


def noisy(mean, count=60):
    return mean + np.random.default_rng(3).normal(0, 1, count)


def test_both_sensors_give_the_mean():
    seen = samples(noisy(300))
    assert sampled_power(seen).watts == pytest.approx(300, rel=2e-3)
    assert counted_power(seen).watts == pytest.approx(300, rel=2e-3)


@pytest.mark.parametrize("wrap", [2**32, 2**64])
def test_counter_that_wraps_goes_on(wrap):
    seen = samples(noisy(300), start_mj=wrap - 300_000, wrap=wrap)
    energies = [s.energy_mj for s in seen]
    assert min(energies) < 1e6 < max(energies)
    assert counted_power(seen).watts == pytest.approx(300, rel=2e-3)


def test_counter_that_was_reset_is_broken():
    seen = samples(noisy(300), start_mj=10**9)
    late = [Sample(s.time, s.instant, s.energy_mj - 10**9) for s in seen[30:]]
    reading = counted_power([*seen[:30], *late])
    assert reading.watts is None
    assert "broken" in reading.problem


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ([math.nan] * 40, "broken"),
        ([-5.0] * 40, "broken"),
        ([300.0] * 40, "stuck"),
        ([1e6, 300.0] * 20, "broken"),
        ([None] * 40, "no power sensor"),
    ],
)
def test_broken_power_sensor_gives_no_figure(values, problem):
    reading = sampled_power([Sample(i * 0.05, v) for i, v in enumerate(values)])
    assert reading.watts is None
    assert problem in reading.problem


def test_a_few_bad_readings_are_dropped():
    values = noisy(300).tolist()
    values[7], values[9] = math.nan, -1.0
    assert sampled_power([Sample(i * 0.05, v) for i, v in enumerate(values)]).watts == pytest.approx(
        300, 2e-3
    )


def test_counter_missing_or_stuck():
    assert counted_power([Sample(0.1 * i) for i in range(9)]).problem == "no energy counter"
    assert counted_power([Sample(0.1 * i, energy_mj=7) for i in range(9)]).problem == "energy counter stuck"


def test_drift_is_seen():
    assert drift(samples(noisy(300))) < 0.01
    assert drift(samples(np.linspace(280, 320, 60))) > 0.05


@pytest.mark.parametrize("lag", [0.25, 0.5, 0.84])
def test_lag_is_fitted_and_undone(lag):
    trace = PowerTrace(80.0)
    trace.add(1.0, 6.0, 430.0)
    sensors = PowerSensors(trace, SensorBehaviour(lag=lag))
    seen = [Sample(t, sensors.instant(t)) for t in np.arange(1.0, 5.0, 0.01)]
    fitted = fit_rise(seen)
    assert fitted == pytest.approx(lag, rel=0.05)
    late = [s for s in seen if s.time > 1.8]
    assert corrected_power(late, fitted) == pytest.approx(430, rel=0.02)
    assert abs(corrected_power(late, fitted) - 430) < abs(sampled_power(late).watts - 430)


def test_no_lag_no_fit():
    trace = PowerTrace(80.0)
    trace.add(1.0, 6.0, 430.0)
    sensors = PowerSensors(trace, SensorBehaviour())
    random = np.random.default_rng(0)
    quick = [Sample(t, sensors.instant(t) + random.normal(0, 2)) for t in np.arange(1.0, 5.0, 0.1)]
    assert fit_rise(quick) is None
    assert fit_rise([Sample(t, 300 + random.normal(0, 20)) for t in np.arange(1.0, 5.0, 0.1)]) is None


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 2), st.floats(0.01, 2), st.floats(0, 500)), max_size=8), st.floats(0, 30)
)
def test_energy_of_a_trace_is_the_integral(parts, until):
    trace, time, segments = PowerTrace(50.0), 0.0, []
    for gap, length, watts in parts:
        segments.append((time + gap, time + gap + length, watts))
        trace.add(*segments[-1])
        time += gap + length
    want = 50.0 * until
    want += sum((w - 50.0) * max(0.0, min(until, end) - start) for start, end, w in segments if start < until)
    assert trace.energy(until) == pytest.approx(want, abs=1e-6)


def test_throttle_reasons_by_name():
    assert reason_names(0) == ()
    assert reason_names(0x48) == ("hw_slowdown", "hw_thermal_slowdown")
