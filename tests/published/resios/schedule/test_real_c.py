"""C as people write it: structures, functions in place of their calls, early returns, switch, do, globals."""

from __future__ import annotations

import numpy as np
import pytest

from tests.published.resios.schedule.replay import replay
from warpwatt.published.resios.c_loops import preprocess

pytestmark = pytest.mark.skipif(preprocess.compiler() is None, reason="no C compiler to compare with")

ROWS = """
typedef struct { float x, y; } vec;
struct particle { vec at; float v[3]; int kind; double mass; };
static vec half(vec a) { vec r; r.x = a.x / 2; r.y = a.y / 2; return r; }
void f(int n, struct particle *p, float dt) {
    for (int i = 0; i < n; i++) {
        vec h = half(p[i].at);
        struct particle *q = &p[i];
        q->at.x += dt * p[i].v[0] + h.y;
        p[i].v[1] = h.x;
        if (q->kind > 3) p[i].mass *= 2;
    } }"""
OBJECTS = """
typedef struct { int n; double *a; const double *b; double w[4]; double sum; } grid;
grid other;
void f(grid *g, const grid h) {
    for (int i = 0; i < g->n; i++) g->a[i] += g->w[i % 4] * h.b[i];
    for (int i = 0; i < 4; i++) { g->w[i] = i; other.w[i] = 2 * i; }
    g->sum = g->w[0] + g->a[3]; }"""
COPIES = """
typedef struct { float x, y, z; } vec;
void f(int n, const vec *p, vec *restrict q) {
    for (int i = 0; i < n; i++) {
        vec sum = {1};
        for (int j = 0; j < n; j++) { vec d = p[j]; sum.x += d.x - p[i].x; sum.y += d.y * d.z; }
        q[i] = sum;
    } }"""
EARLY = """
static float pixel(const float *im, int h, int w, int y, int x, int pad) {
    y -= pad; x -= pad;
    if (y < 0 || x < 0 || y >= h || x >= w) return 0;
    return im[x + w * y]; }
static int first(const float *a, int n, float v) {
    for (int i = 0; i < n; i++) if (a[i] > v) return i;
    return n; }
static void put(float *o, int k, float v) { if (v < 0) return; o[k] = v; }
void f(int h, int w, float in[h * w], float *restrict out, float v) {
    for (int i = 0; i < h; i++) {
        int k = first(in + i * w, w, v);
        for (int j = 0; j < w; j++) put(out, i * w + j, pixel(in, h, w, i, j, 1) - (j < k ? 0.25f : 0));
    } }"""
NESTED = """
static int find(int n, int m, const int *a, int v) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) { if (a[i * m + j] == v) return i * m + j; }
        if (i == v) return -i;
    }
    return -1; }
void f(int n, int m, const int a[n * m], int *restrict out) {
    for (int v = 0; v < 12; v++) out[v] = find(n, m, a, v); }"""
CHOICES = """
typedef enum { LINE, SQUARE = 4, ROUND } kind;
static float act(float x, kind k) {
    switch (k) {
        case LINE: return x;
        case SQUARE: return x * x;
        case ROUND: case 9: { float y = x + 1; return y * y; }
    }
    return 0; }
void f(int n, float *restrict o, const float *a, const int *k) {
    const int unroll = 2;
    for (int i = 0; i < n; i += unroll) {
        int c = i & 3;
        do { c++; } while (c < 3);
        float t[3] = {1, 2};
        switch (k[i]) { case 1: t[2] = 7; break; default: t[0] = 3; break; }
        o[i] = act(a[i], k[i]) + c + t[i % 3];
    } }"""
WHILES = """void f(int n, int *restrict c, const float *a) {
    for (int i = 0; i < n; i++) {
        float x = 0; int k = 0;
        while (x < 4) { x += a[i] + 0.01f; k++; if (k == 100) break; if (k % 2) continue; x *= 1.1f; }
        c[i] = k;
    } }"""
SIZES = """void f(int n, int how, float *restrict a) {
    if (n < 4) return;
    if (how == 1) { for (int i = 0; i < n; i++) a[i] *= 2; return; }
    int left = 1;
    left = how;
    for (int i = 0; i < n; i++) { if (left == 2) a[i] += 1; else a[i] += 2; } }"""
SCALARS = """float total; void f(int n, float *a, float s) {
    for (int i = 0; i < n; i++) { a[i] *= s; total += a[i]; }
    s += a[0];
    a[1] = s; }"""
RESULT = """double f(int n, double *a) {
    double m = a[0];
    for (int i = 1; i < n; i++) if (a[i] > m) m = a[i];
    return m; }"""
CASES = {
    "an array of structures": (ROWS, {"n": 50, "dt": 0.5}),
    "objects by pointer, by value, global": (OBJECTS, {"g_n": 50}),
    "structures as a whole": (COPIES, {"n": 20}),
    "early returns": (EARLY, {"h": 9, "w": 13, "v": 0.8}),
    "returns from loops in loops": (NESTED, {"n": 4, "m": 5}),
    "switch, do, local arrays, constants": (CHOICES, {"n": 100}),
    "while, break, continue": (WHILES, {"n": 40}),
    "conditions on sizes": (SIZES, {"n": 40, "how": 1}),
    "a parameter and a global that change": (SCALARS, {"n": 40, "s": 2.5, }),
    "a result": (RESULT, {"n": 40}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_schedule_computes_what_the_c_does(name):
    text, values = CASES[name]
    arrays, _ = replay(text, values, name="f")
    assert arrays
    for array, (wanted, found) in arrays.items():
        np.testing.assert_array_equal(found, wanted, err_msg=array)


def test_the_branch_that_is_not_taken_leaves_no_kernel():
    arrays, program = replay(SIZES, {"n": 40, "how": 0})
    np.testing.assert_array_equal(*arrays["a"])
    (kernel,) = program.kernels()
    assert {line for part in kernel.kernel.parts for line in part.unit.lines} == {6}


def test_a_variable_set_once_does_not_keep_loops_together():
    text = """void f(int n, int m, int k, const float a[n * k], const float b[k * m], float *restrict c) {
        for (int i = 0; i < n; i++) {
            const int row = i * m;
            for (int l = 0; l < k; l++) {
                float part = 0.5f * a[i * k + l];
                for (int j = 0; j < m; j++) c[row + j] += part * b[l * m + j];
            } } }"""
    arrays, program = replay(text, {"n": 5, "m": 6, "k": 4})
    assert [kernel.dimensions for kernel in program.kernels()] == [2]
    for wanted, found in arrays.values():
        np.testing.assert_array_equal(found, wanted)
