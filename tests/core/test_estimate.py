"""Estimates: exact quantiles of one parameter, correlation of shared ones."""

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.estimate import Estimate, Source, factor_draws, quantile, standard_draws
from warpwatt.core.execution import Assumption, with_assumed

positive = st.floats(1e-9, 1e9)


def test_draws_of_one_name_never_change_and_differ_between_names():
    assert standard_draws("clock") == standard_draws("clock")
    assert standard_draws("clock") != standard_draws("bandwidth")


@given(st.floats(0.01, 1.0))
def test_interval_of_one_lognormal_parameter_is_its_quantiles(sigma):
    estimate = Estimate.spread(1.0, {"p": sigma}, "s")
    z = NormalDist().inv_cdf(0.9)
    assert estimate.high == pytest.approx(math.exp(sigma * z), rel=0.02)
    assert estimate.low == pytest.approx(math.exp(-sigma * z), rel=0.02)


@given(positive, positive)
def test_opposite_dependence_on_one_parameter_cancels(seconds, watts):
    time = Estimate.spread(seconds, {"clock": -0.3}, "s")
    power = Estimate.spread(watts, {"clock": 0.3}, "W")
    energy = time.combine(power, lambda t, p: t * p, "J")
    assert energy.low == pytest.approx(energy.high, rel=1e-9)


def test_independent_parameters_add_in_quadrature():
    draws = factor_draws({"a": 0.3, "b": 0.4})
    logs = [math.log(d) for d in draws]
    assert math.sqrt(sum(x * x for x in logs) / len(logs)) == pytest.approx(0.5, rel=0.15)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50), st.floats(0, 1))
def test_quantile_agrees_with_numpy(values, q):
    numpy = pytest.importorskip("numpy")
    assert quantile(values, q) == pytest.approx(float(numpy.quantile(values, q)), abs=1e-6, rel=1e-9)


def test_combination_takes_the_weakest_source():
    a = Estimate.exact(1.0, "s", Source.MEASURED)
    b = Estimate.exact(2.0, "s", Source.ASSUMED)
    assert a.combine(b, max, "s").source is Source.ASSUMED


def test_what_a_time_leaves_out_makes_it_no_shorter():
    """Waits for other blocks: the low end is that of the rest, the high end as if they could be negative."""
    waits = Assumption("nobody waits", "waits for other blocks", 2.0, one_sided=True)
    either = Assumption("as these", "contents", 2.0)
    alone, both, signed = (
        Estimate.spread(1.0, with_assumed({"model": 0.1}, assumed), "s", Source.MODELLED)
        for assumed in ((), (waits,), (either,))
    )
    assert alone.low <= both.low < 1.1 * alone.low
    assert both.high == pytest.approx(signed.high, rel=0.1)
    assert min(factor_draws(with_assumed({}, [waits]))) == 1.0


def test_of_assumptions_with_one_parameter_the_widest_counts():
    wide, narrow = (Assumption("as these", "contents", spread) for spread in (2.0, 0.5))
    assert with_assumed({"contents": 1.0}, (wide, narrow)) == {"contents": 2.0}
