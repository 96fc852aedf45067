"""Schedules compute what the C does whatever the order of their threads, and run in parallel."""

from __future__ import annotations

import numpy as np
import pytest

from tests.published.resios.schedule.replay import replay
from warpwatt.published.resios.c_loops import preprocess
from warpwatt.published.resios.schedule.build import BuiltLoop

pytestmark = pytest.mark.skipif(preprocess.compiler() is None, reason="no C compiler to compare with")

PRODUCT = """void f(int n, int m, int k, double a[n][k], double b[k][m], double c[n][m]) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) c[i][j] *= 0.5;
        for (int l = 0; l < k; l++)
            for (int j = 0; j < m; j++) c[i][j] += a[i][l] * b[l][j];
    } }"""
HEAT = """void f(int steps, int n, double a[n], double b[n]) {
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i] + a[i + 1];
        for (int i = 1; i < n - 1; i++) a[i] = b[i - 1] + b[i] + b[i + 1];
    } }"""
SMOOTH = """void f(int steps, int n, double a[n][n]) {
    for (int t = 0; t <= steps; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = (a[i-1][j-1] + a[i-1][j+1] + a[i][j-1] + a[i][j+1] + a[i+1][j]) / 5; }"""
FACTORS = """void f(int n, double a[n][n]) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[k][j];
            a[i][j] /= a[j][j] + 4;
        }
        for (int j = i; j < n; j++)
            for (int k = 0; k < i; k++) a[i][j] -= a[i][k] * a[k][j];
    } }"""
PRIVATE = """void f(int n, double a[n][n], double b[n]) {
    double w; int i, j;
    for (i = n - 1; i >= 0; i--) {
        w = b[i];
        for (j = i + 1; j < n; j++) w -= a[i][j];
        if (w > 0) { a[i][i] = w; } else { a[i][i] = -w; b[i] = w; }
    } }"""
CARRIED = """void f(int n, double r[n], double y[n]) {
    double alpha = -r[0], sum;
    for (int k = 1; k < n; k++) {
        sum = 0;
        for (int i = 0; i < k; i++) sum += r[k - i - 1] * y[i];
        alpha = -(r[k] + sum) / (1 + alpha * alpha);
        for (int i = 0; i < k; i++) y[i] = y[i] + alpha * r[i];
    } }"""
STRIDES = """void f(int n, float a[n][n], float b[n]) {
    for (int i = 1; i < n; i += 3)
        for (int j = n - 1; j > i; j -= 2) a[i][j] = b[i] - b[j];
    for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) b[j] += a[i][j]; }"""
HOSTED = """void f(int n, float x, double *restrict a) {
    const int last = n - 1; double c, d;
    d = x * 3; c = d = d + 1 / (float)n;
    for (int i = 0; i <= last; i++) a[i] += c * d; }"""
DIAGONAL = """void f(int n, int t[n][n]) {
    for (int i = n - 1; i >= 0; i--)
        for (int j = i + 1; j < n; j++) {
            if (j >= 1) t[i][j] = t[i][j] > t[i][j-1] ? t[i][j] : t[i][j-1];
            if (i + 1 < n) t[i][j] += t[i+1][j] > 3;
            for (int k = i + 1; k < j; k++) t[i][j] += t[i][k] + t[k+1][j];
        } }"""
ESCAPE = """#define MOST 50
void f(int n, int m, int *restrict count, const float *restrict shift) {
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++) {
            float re = 0, im = 0; int turn = 0;
            while (re * re + im * im < 4 && turn < MOST) {
                float next = re * re - im * im + shift[x] * 3 - 2;
                im = 2 * re * im + shift[y];
                re = next; turn++;
            }
            count[y * m + x] = turn;
        } }"""
SEARCH = """static float larger(float a, float b) { if (a > b) return a; return b; }
void f(int n, int m, float a[n][m], int *restrict first, float *restrict most) {
    for (int i = 0; i < n; i++) {
        float best = 0; first[i] = -1;
        for (int j = 0; j < m; j++) {
            if (a[i][j] < 0.25f) continue;
            if (a[i][j] > 0.9f) { first[i] = j; break; }
            best = larger(best, a[i][j]);
        }
        most[i] = best;
    } }"""
LOCAL = """void f(int n, double a[n], double b[n]) {
    for (int i = 2; i < n - 2; i++) {
        double window[5];
        for (int k = 0; k < 5; k++) window[k] = a[i + k - 2];
        for (int k = 0; k < 4; k++) if (window[k] > window[k + 1]) window[k + 1] = window[k];
        b[i] = window[4];
    } }"""
ROWS = """void f(int n, int m, int k, int ld, const double *a, const double *b, double *c) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < k; l++) c[(i + 1) * ld + j] += a[i * k + l] * b[l * ld + j]; }"""
SHIFTED = """void f(int n, int m, int gap, float *a) {
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * m + j] += a[(i + gap) * m + j]; }"""
CASES = {
    # name: text, sizes, host loops, most dimensions of a kernel
    "product": (PRODUCT, {"n": 9, "m": 7, "k": 5}, 0, 2),
    "time loop": (HEAT, {"steps": 5, "n": 20}, 1, 1),
    "wavefront": (SMOOTH, {"steps": 3, "n": 9}, 1, 2),
    "factorisation": (FACTORS, {"n": 11}, 1, 2),
    "private scalar": (PRIVATE, {"n": 12}, 0, 1),
    "carried scalar": (CARRIED, {"n": 13}, 1, 1),
    "strides": (STRIDES, {"n": 17}, 0, 2),
    "host scalars": (HOSTED, {"n": 33, "x": 0.3}, 0, 1),
    "while": (ESCAPE, {"n": 9, "m": 11}, 0, 2),
    "break, continue, a call": (SEARCH, {"n": 30, "m": 20}, 0, 1),
    "local array": (LOCAL, {"n": 25}, 0, 1),
    "diagonals": (DIAGONAL, {"n": 10}, 1, 1),
    "rows": (ROWS, {"n": 9, "m": 7, "k": 5, "ld": 7}, 0, 2),
    "rows that other rows need": (SHIFTED, {"n": 6, "m": 7, "gap": 6}, 0, 2),
}


@pytest.mark.parametrize("name", CASES)
def test_threads_in_any_order_compute_what_the_c_does(name):
    text, values, loops, dimensions = CASES[name]
    arrays, program = replay(text, values)
    for array, (wanted, found) in arrays.items():
        assert np.array_equal(wanted, found, equal_nan=True), array
    assert sum(isinstance(node, BuiltLoop) for node in program.nodes) == loops
    assert max(kernel.dimensions for kernel in program.kernels()) == dimensions


ANY_SIZE = {*CASES} - {"strides", "rows that other rows need"}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("change", [lambda n: n + 4, lambda n: n // 2 + 2], ids=["larger", "smaller"])
def test_a_schedule_that_holds_for_any_size_computes_what_the_c_does(name, change):
    text, values, _, _ = CASES[name]
    assert isinstance(values, dict)
    other = {n: change(v) if isinstance(v, int) else v for n, v in values.items()}
    arrays, program = replay(text, other, made_at=values)
    assert (program.symbolic is not None) == (name in ANY_SIZE)
    for array, (wanted, found) in arrays.items():
        assert np.array_equal(wanted, found, equal_nan=True), array


def test_statements_of_one_element_share_a_kernel():
    _, program = replay(PRODUCT, {"n": 9, "m": 7, "k": 5})
    assert len(program.kernels()) == 1


def test_a_factorisation_takes_two_launches_per_step():
    _, program = replay(FACTORS, {"n": 11})
    assert len(list(program.launches())) <= 2 * 11


BACKWARD = """void f(int n, double a[n][n], double x[n], double w[n]) {
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) w[i] -= a[i][j] * x[j];
        x[i] = w[i] / (a[i][i] + 4);
    } }"""


def test_a_back_substitution_is_parallel_only_if_its_sums_may_be_reordered():
    arrays, program = replay(BACKWARD, {"n": 20})
    assert all(np.array_equal(wanted, found) for wanted, found in arrays.values())
    assert max(len(part.threads) for k in program.kernels() for part in k.kernel.parts) == 0
    arrays, program = replay(BACKWARD, {"n": 20}, reorder=True)
    assert all(np.allclose(wanted, found, rtol=1e-12) for wanted, found in arrays.values())
    assert max(len(part.threads) for k in program.kernels() for part in k.kernel.parts) == 1
