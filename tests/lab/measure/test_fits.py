"""Fits recover the thesis's tables from generated data within their noise, and agree with scipy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.core.errors import InputError
from warpwatt.lab.measure.fits import fit_exponential, fit_growth, fit_linear, fit_logarithmic
from warpwatt.lab.measure.nonnegative import fit_nonnegative, nnls
from warpwatt.lab.measure.piecewise import fit_piecewise_linear

# Alavani 2023, Table 3.3: global latency of the Tesla K20 against total threads; RMSE of Table 3.4.
TABLE_3_3 = (
    (0, 4096, 0.02828, 220.0), (4096, 24576, 0.004780, 251.7),
    (24576, 991232, 0.0001679, 307.8), (991232, 2203648, -0.00002529, 501.8),
)  # fmt: skip
RMSE_3_4 = 4.79
# Table 4.5: a, b, c of throughput against memory requests; and Table 4.4's ranking of families.
TABLE_4_5 = (
    (76363.8, 1.04, 0.00021342), (823761.8, 1.0, 0.000013830), (68145.9, 1.03, 0.00027584),
    (70628.9019, 1.03, 0.000301068), (71453.6, 1.22, 0.000033469), (1618990.0, 1.0, 0.0000055295),
    (47244.33, 1.0, 0.001223), (613743.6, 1.12, 0.00000694),
)  # fmt: skip
RMSE_4_4 = 5568.59


def test_piecewise_recovers_table_3_3():
    random = np.random.default_rng(3)
    xs = np.concatenate([np.linspace(low + 64, high, 350) for low, high, _, _ in TABLE_3_3])
    true = np.concatenate([a + b * np.linspace(low + 64, high, 350) for low, high, b, a in TABLE_3_3])
    fit = fit_piecewise_linear(xs, true + random.normal(0, RMSE_3_4, true.size))
    assert len(fit.pieces) == 4
    for piece, (_, _, slope, intercept) in zip(fit.pieces, TABLE_3_3, strict=True):
        assert piece.b.value == pytest.approx(slope, abs=4 * piece.b.error)
        assert piece.a.value == pytest.approx(intercept, abs=4 * piece.a.error)
    for found, (_, high, _, _) in zip(fit.breaks, TABLE_3_3[:-1], strict=True):
        assert found.value == pytest.approx(high, rel=0.05)
    assert fit.rmse == pytest.approx(RMSE_3_4, rel=0.1)
    assert fit.r2 > 0.98


@pytest.mark.parametrize(("a", "b", "c"), TABLE_4_5)
def test_exponential_recovers_table_4_5(a, b, c):
    random = np.random.default_rng(45)
    x = np.linspace(0.02, 6, 120) / c
    true = a * (b - np.exp(-c * x))
    fit = fit_exponential(x, true + random.normal(0, 0.03 * a, x.size))
    for name, value in (("a", a), ("b", b), ("c", c)):
        found = fit.parameters[name]
        assert found.value == pytest.approx(value, abs=4 * found.error)
        assert found.error < 0.1 * value
    exact = fit_exponential(x, true)
    assert [exact[name] for name in "abc"] == pytest.approx([a, b, c], rel=1e-6)


def test_families_rank_as_in_table_4_4():
    random = np.random.default_rng(44)
    a, b, c = TABLE_4_5[0]
    x = np.linspace(100, 40000, 200)
    ranked = fit_growth(x, a * (b - np.exp(-c * x)) + random.normal(0, RMSE_4_4, x.size))
    assert list(ranked) == ["exponential", "logarithmic", "linear"]
    assert ranked["exponential"].rmse == pytest.approx(RMSE_4_4, rel=0.15)
    threads = np.linspace(1e3, 1e6, 200)
    overhead = 0.00002 * threads + 1.4489 + random.normal(0, 0.2, threads.size)
    fit = fit_growth(threads, overhead)
    assert next(iter(fit)) == "linear"  # section 3.4: 0.00002 · nB · nT_b + 1.4489
    assert fit["linear"]["b"] == pytest.approx(2e-5, rel=0.02)


def test_errors_cover_the_truth_as_often_as_they_should():
    """The standard error of slopes, and of a rate, is that of their scatter over many noisy sets."""
    random = np.random.default_rng(0)
    x = np.linspace(1, 10, 40)
    hits = []
    for _ in range(200):
        line = fit_linear(x, 2 + 3 * x + random.normal(0, 1, x.size)).parameters["b"]
        rate = fit_exponential(x, 5 * (1.2 - np.exp(-0.6 * x)) + random.normal(0, 0.1, x.size)).parameters[
            "c"
        ]
        hits.append((abs(line.value - 3) < line.error, abs(rate.value - 0.6) < rate.error))
    inside = np.mean(hits, axis=0)
    assert inside == pytest.approx([0.68, 0.68], abs=0.1)


def test_exponential_agrees_with_scipy():
    optimize = pytest.importorskip("scipy.optimize")
    random = np.random.default_rng(7)
    x = np.linspace(0, 30, 60)
    y = 40 * (1.1 - np.exp(-0.2 * x)) + random.normal(0, 1, x.size)
    wanted, covariance = optimize.curve_fit(lambda v, a, b, c: a * (b - np.exp(-c * v)), x, y, (30, 1, 0.1))
    fit = fit_exponential(x, y)
    assert [fit[name] for name in "abc"] == pytest.approx(wanted, rel=1e-4)
    errors = [fit.parameters[name].error for name in "abc"]
    assert errors == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-3)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(12, 40))
@settings(max_examples=60, deadline=None)
def test_nnls_agrees_with_scipy(seed, columns, rows):
    optimize = pytest.importorskip("scipy.optimize")
    random = np.random.default_rng(seed)
    alike = random.normal(0, 1, (rows, 1))  # columns that resemble each other leave the solution again
    design = (random.normal(0, 0.5, (rows, columns)) + alike) * 10.0 ** random.integers(-6, 6, columns)
    y = random.normal(0, 1, rows) + alike[:, 0]
    assert nnls(design, y) == pytest.approx(optimize.nnls(design, y)[0], rel=1e-6, abs=1e-9)


def test_energies_of_a_known_machine_come_back():
    random = np.random.default_rng(11)
    true = {"constant": 60.0, "sm": 0.4, "fma": 3e-11, "dram": 1.2e-10, "never": 0.0}
    columns = {name: random.uniform(0, 1, 60) * scale for name, scale in
               (("constant", 1.0), ("sm", 132.0), ("fma", 5e12), ("dram", 3e12), ("never", 1e9))}  # fmt: skip
    clean = np.sum([true[name] * column for name, column in columns.items()], axis=0)
    fit = fit_nonnegative(columns, clean * random.normal(1, 0.01, 60), sigma=clean)
    for name, value in true.items():
        assert fit.parameters[name].value == pytest.approx(value, abs=4 * fit.parameters[name].error)
    assert fit.r2 > 0.9


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=4, max_size=9))
@settings(max_examples=60, deadline=None)
def test_pieces_are_the_best_of_all_partitions(points):
    """Against every partition into up to three flat pieces."""
    x = [float(p[0]) for p in points]
    y = [float(p[1]) for p in points]
    order = np.argsort(x, kind="stable")
    xs, ys = np.array(x)[order], np.array(y)[order]
    fit = fit_piecewise_linear(x, y, most=3, least_points=2, flat=True)
    pieces = len(fit.pieces)
    best = min(_squares(ys, cuts) for cuts in _partitions(xs, pieces))
    assert float(fit.residuals @ fit.residuals) == pytest.approx(best, rel=1e-6, abs=1e-6)


def _partitions(x, pieces):
    size = len(x)
    places = [i for i in range(2, size - 1) if x[i] != x[i - 1]]
    if pieces == 1:
        return [(0, size)]
    if pieces == 2:
        return [(0, i, size) for i in places if i >= 2 and size - i >= 2]
    return [(0, i, j, size) for i in places for j in places if j - i >= 2 and size - j >= 2]


def _squares(y, cuts):
    return sum(float(((y[a:b] - y[a:b].mean()) ** 2).sum()) for a, b in pairwise(cuts))


def test_bad_points_are_refused():
    with pytest.raises(InputError, match="too few"):
        fit_linear([1, 1, 1], [1, 2, 3])
    with pytest.raises(InputError, match="do not make points"):
        fit_linear([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="not a number"):
        fit_exponential([1, 2, 3, 4], [1, 2, float("nan"), 4])
    with pytest.raises(InputError, match="above 0"):
        fit_logarithmic([0, 1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="tell"):
        fit_nonnegative({"a": [1.0], "b": [2.0]}, [1.0])
    with pytest.raises(InputError, match="too few"):
        fit_piecewise_linear([1, 2], [1, 2])
