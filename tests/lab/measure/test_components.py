"""Fits of component coefficients: found again from exact powers, the prior where data are silent."""

import math
from dataclasses import replace

import numpy as np
import pytest

from warpwatt.core.errors import InputError
from warpwatt.core.gpu import Clocks
from warpwatt.gpus import find
from warpwatt.lab.measure.components import (
    PoweredRun,
    fit_components,
    fit_shared_numbers,
    predicted_spread,
    predicted_watts,
)
from warpwatt.lab.measure.products import Products, fit_products
from warpwatt.models.component.activity import Activity
from warpwatt.models.component.parameters import Coefficient, cited_numbers, specification
from warpwatt.models.component.voltage import VoltageCurve

GPU = find("v100 sxm2 16gb")
CURVE = VoltageCurve(0.7, 0.5, 1.5)


def run(group, watts=100.0, share=1.0, **amounts):
    work = Activity(80.0, amounts, {})
    clocks = Clocks(GPU.boost_clock * share, GPU.memory_clock)
    return PoweredRun(group, GPU, clocks, ((work, 1e-3, 1.0),), watts)


def runs_of(known):
    """Return runs that stress one thing each, at four clocks, with the power that ``known`` says."""
    work = {
        "idle": {"issue": 1.0},
        "dram": {"dram": 8e8, "l1": 8e8, "l2": 8e8, "issue": 1e7},
        "l2": {"l1": 2e9, "l2": 2e9, "issue": 1e7},
        "shared": {"shared": 1e10, "issue": 1e8},
        "fma": {"fp32": 5e9, "registers": 5e9, "issue": 1.6e8},
    }
    shares = (0.4, 0.6, 0.8, 1.0)
    plain = [run(name, share=share, **amounts) for name, amounts in work.items() for share in shares]
    return [replace(one, watts=predicted_watts(one, known)) for one in plain]


def other():
    """Return parameters that differ from the specification by a third in two coefficients."""
    base = specification(GPU)
    changed = {
        name: Coefficient(c.value * {"dram": 1.33, "leakage": 0.67}.get(name, 1.0), c.spread)
        for name, c in base.coefficients.items()
    }
    return replace(base, coefficients=changed, voltage=CURVE)


def test_exact_powers_give_the_voltage_curve_and_the_powers_back():
    runs = runs_of(other())
    base = specification(GPU)
    fit = fit_components(runs, GPU, base)
    assert fit.voltage == CURVE
    assert fit.residual < 0.02
    moved = {
        name: value / base.coefficients[name].value
        for name, (value, _) in fit.coefficients.items()
        if base.coefficients[name].value
    }
    assert moved["dram"] > 1.1
    assert moved["leakage"] < 0.95
    assert moved["fp64"] == pytest.approx(1.0)


def test_coefficients_are_never_negative():
    runs = [replace(one, watts=one.watts * 0.3) for one in runs_of(specification(GPU))]
    assert all(value >= 0 for value, _ in fit_components(runs, GPU).coefficients.values())


def test_constants_make_a_calibration_that_the_model_reads():
    constants = fit_components(runs_of(other()), GPU).constants()
    assert {"component.dram", "component.voltage_floor", "component.residual"} <= constants.keys()
    assert constants["component.voltage_floor"] == (0.7, 0.0)


def test_shared_numbers_move_only_where_something_was_measured():
    values = fit_shared_numbers(runs_of(specification(GPU)))
    assert values["dram_pj_per_byte.GDDR6"][0] == pytest.approx(cited_numbers()["dram_pj_per_byte.GDDR6"][0])
    assert values["dram_pj_per_byte.HBM2"][1] < cited_numbers()["dram_pj_per_byte.HBM2"][1]


def test_a_program_at_many_clocks_weighs_little_more_than_at_few():
    base = specification(GPU)
    few = runs_of(base)
    odd = run("odd", 3 * predicted_watts(run("odd", fp32=1e9), base), fp32=1e9)
    once = fit_components([*few, *[odd] * 4], GPU).coefficients["fp32"][0]
    often = fit_components([*few, *[odd] * 400], GPU).coefficients["fp32"][0]
    assert often == pytest.approx(once, rel=0.01)


def test_the_spread_of_a_prediction_is_at_least_what_the_fit_leaves():
    base = specification(GPU)
    assert predicted_spread(run("x", fp32=1e9), base) > base.residual


@pytest.mark.parametrize("watts", [0.0, -5.0, float("nan")])
def test_impossible_power_is_refused(watts):
    with pytest.raises(InputError):
        fit_components([run("x", watts, fp32=1e9)], GPU)


def test_no_runs_are_refused():
    with pytest.raises(InputError, match="no runs"):
        fit_shared_numbers([])


def test_runs_at_one_clock_keep_the_voltage_curve_of_the_prior():
    runs = [one for one in runs_of(other()) if one.clocks.sm == GPU.boost_clock]
    assert fit_components(runs, GPU).voltage == specification(GPU).voltage


@pytest.mark.parametrize(("apart", "low", "high"), [(0.15, 1.05, 1.15), (1e-6, 1.24, 1.3)])
def test_a_board_measured_often_does_not_outweigh_the_others(apart, low, high):
    groups = np.array([0] * 40 + [1, 2])
    problem = Products(
        terms=np.ones((42, 1)),
        scales=np.zeros((42, 1), dtype=int),
        spreads=np.array([1.0]),
        measured=np.where(groups == 0, 1.3, 1.0),
        weights=np.full(42, 20.0),
        groups=groups,
        apart=apart,
    )
    numbers, _, boards = fit_products(problem)
    assert low < math.exp(numbers[0]) < high
    assert boards[0] + numbers[0] == pytest.approx(math.log(1.3), abs=0.03)
