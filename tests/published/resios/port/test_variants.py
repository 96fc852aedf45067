"""Every way to write a kernel computes what the C does; sums shared among threads within rounding."""

from __future__ import annotations

import pytest

from warpwatt.compose import Choice
from warpwatt.frontend.compiled import Source
from warpwatt.gpus import find
from warpwatt.published.resios.c_loops import preprocess
from warpwatt.published.resios.port import Request, check, port
from warpwatt.published.resios.port.across import Across
from warpwatt.published.resios.port.reduction import Combining
from warpwatt.published.resios.port.variants import variants

needs_cc = pytest.mark.skipif(preprocess.compiler() is None, reason="no C compiler to compare with")
RESIOS = Choice(time="resios")
ROWS = """void rows(int n, int m, double a[n][m], double x[m], double y[n]) {
    for (int i = 0; i < n; i++) {
        double sum = 1;
        for (int j = 0; j < m; j++) sum -= a[i][j] * x[j];
        y[i] = sum * 2;
    } }"""
RANK = """void rank(int n, int m, float c[n][n], float a[n][m]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < m; k++) c[i][j] += 3 * a[i][k] * a[j][k]; }"""


def taken(text, values, name):
    source = Source("loops.c", text.encode())
    request = Request(values, assume_no_alias=True, run=False, take=(name,) * 4)
    return source, port(source, find("h200"), request, choice=RESIOS)


@needs_cc
@pytest.mark.toolchain
@pytest.mark.parametrize("name", [str(c.value) for c in Combining])
def test_shared_sums_agree_within_rounding(name):
    source, one = taken(ROWS, {"n": 13, "m": 301}, name)
    assert "threadIdx.x == 0" in one.cuda
    assert all(found.relative < 1e-14 for found in check(source, one))


@needs_cc
@pytest.mark.toolchain
@pytest.mark.parametrize("side", [16, 32])
def test_tiles_keep_the_order_of_the_source(side):
    source, one = taken(RANK, {"n": 37, "m": 21}, f"tiles of {side}×{side} in shared memory")
    assert one.cuda.count("__shared__") == 2
    assert all(found.exact for found in check(source, one))


def test_sums_are_left_alone_where_their_order_must_stay():
    source = Source("loops.c", ROWS.encode())
    one = port(
        source, find("h200"), Request({"n": 8, "m": 8}, assume_no_alias=True, run=False), choice=RESIOS
    )
    (nest,) = one.nests
    bound = one.bound
    names = [v.reorders for v in variants(bound, nest.mapping, nest.prognosis.block, reorder=False)]
    assert not any(names)


def test_the_host_function_copies_loops_and_launches():
    text = """void heat(int steps, int n, double a[n], double b[n]) {
        for (int t = 0; t < steps; t++) {
            for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];
            for (int i = 1; i < n - 1; i++) a[i] = b[i - 1] + b[i + 1];
        } }"""
    source = Source("loops.c", text.encode())
    request = Request({"steps": 3, "n": 50}, assume_no_alias=True, run=False)
    cuda = port(source, find("h200"), request, choice=RESIOS).cuda
    assert "cudaError_t heat_on_gpu(int steps, int n, double *a, double *b)" in cuda
    assert "for (int t1 = 0; t1 <= steps - 1; t1++) {" in cuda
    assert cuda.count("<<<") == 2
    assert cuda.count("cudaMemcpyHostToDevice") == 2


DOT = """typedef struct { float x, y; } pair;
double f(int n, const pair *p, double *most) {
    double sum = 1;
    for (int i = 0; i < n; i++) sum += p[i].x * p[i].y;
    *most = p[0].x;
    for (int i = 1; i < n; i++) if (p[i].x > *most) *most = p[i].x;
    return sum; }"""


@needs_cc
@pytest.mark.toolchain
@pytest.mark.parametrize("across", list(Across))
def test_blocks_share_sums_and_extremes(across):
    source = Source("loops.c", DOT.encode())
    request = Request({"n": 5000}, assume_no_alias=True, run=False, take=(str(across),) * 4)
    one = port(source, find("h200"), request, choice=RESIOS)
    assert "dim3(256" in one.cuda
    assert ("atomicAdd(&" in one.cuda) == (across is Across.ATOMICS)
    found = {a.array: a for a in check(source, one)}
    assert found["most"].exact
    assert found["result"].relative < 1e-12


@pytest.mark.toolchain
def test_a_long_sum_is_shared_by_many_blocks_because_that_is_predicted_faster():
    text = b"float f(int n, const float *a) { float s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }"
    one = port(Source("sum.c", text), find("h200"), Request({"n": 1 << 18}, run=False))
    (nest,) = one.nests
    seconds = {a.name: a.seconds for a in nest.alternatives}
    assert set(seconds) >= {*map(str, Combining), *map(str, Across)}
    taken = next(a.name for a in nest.alternatives if a.taken)
    assert taken in set(map(str, Across))
    assert seconds[taken] < 0.5 * seconds[str(Combining.TREE)]


NORMS = """void f(int n, double a[n][n], double s[n]) {
    for (int k = 0; k < n; k++) {
        for (int j = k + 1; j < n; j++) {
            s[j] = 0;
            for (int i = 0; i < n; i++) s[j] += a[i][k] * a[i][j];
            a[k][j] = s[j];
        }
    } }"""


@needs_cc
@pytest.mark.toolchain
def test_partial_results_have_room_in_the_largest_launch():
    source, one = taken(NORMS, {"n": 12}, str(Across.TWO_KERNELS))
    assert "_parts(" in one.cuda
    assert all(found.relative < 1e-12 for found in check(source, one))
