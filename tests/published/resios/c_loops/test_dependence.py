"""The dependence test says what running the iterations says."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.published.resios.c_loops.helpers import bind, mapping
from warpwatt.published.resios.c_loops.dependence import carried

subscript = st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 6))


def conflicts(writes, reads, n, m, outer):
    """Return whether iterations of the outer (or, within one of them, the inner) loop touch one element."""
    for i1 in range(n):
        for j1 in range(m):
            for i2 in range(n) if outer else [i1]:
                for j2 in range(m):
                    if (i1 != i2) if outer else (j1 != j2):
                        first = {w(i1, j1) for w in writes}
                        if first & {access(i2, j2) for access in (*writes, *reads)}:
                            return True
    return False


def form(coefficients):
    a, b, c = coefficients
    base = 40  # keeps subscripts above zero
    return f"({a}) * i + ({b}) * j + {c + base}", lambda i, j: a * i + b * j + c + base


@settings(max_examples=40, deadline=None)
@given(subscript, subscript, st.integers(1, 6), st.integers(1, 6))
def test_agrees_with_running_it(written, read, n, m):
    left, write = form(written)
    right, load = form(read)
    text = f"""void f(float *restrict a) {{
        for (int i = 0; i < {n}; i++)
            for (int j = 0; j < {m}; j++)
                a[{left}] = a[{right}]; }}"""
    bound = bind(text)
    outer = bound.function.nests[0]
    inner = outer.body[0]
    found = carried(bound, bound.nests[0], (outer,))
    assert (found is not None) == conflicts([write], [load], n, m, outer=True)
    found = carried(bound, bound.nests[0], (outer, inner))
    assert (found is not None) == conflicts([write], [load], n, m, outer=False)


def test_guards_and_triangles_count():
    guarded = """void f(int n, float *restrict a) {
        for (int i = 0; i < n; i++) { if (i > n - 2) a[i] = a[i - 1]; } }"""
    found = bind(guarded, n=8)
    assert carried(found, found.nests[0], (found.function.nests[0],)) is None
    triangle = """void f(int n, float *restrict a) {
        for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) a[i * n + j] = a[j * n + i]; }"""
    found = bind(triangle, n=9)
    assert carried(found, found.nests[0], (found.function.nests[0],)) is None


def test_private_scalars_are_no_dependence():
    text = """void f(int n, int m, float *restrict a, const float *restrict b) {
        float sum; int j;
        for (int i = 0; i < n; i++) {
            sum = 0;
            for (j = 0; j < m; j++) sum += b[i * m + j];
            a[i] = sum; } }"""
    _, found = mapping(text, n=5, m=3)
    assert [loop.loop.variable.name for loop in found.loops] == ["i"]


def test_a_scalar_set_under_a_condition_is_one():
    text = """void f(int n, float *restrict a, const float *restrict b) {
        float last;
        for (int i = 0; i < n; i++) {
            if (b[i] > 0) last = b[i];
            a[i] = last; } }"""
    found = bind(text, n=5)
    assert carried(found, found.nests[0], (found.function.nests[0],)).lines == (4, 5)


def test_perfect_nests_become_two_dimensional_and_the_inner_loop_the_lanes():
    text = "void f(int n, int m, float *restrict a) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    _, found = mapping(text + " a[i * m + j] = 1; }", n=5, m=7)
    assert [loop.loop.variable.name for loop in found.loops] == ["i", "j"]
    assert found.lane.loop.variable.name == "j"
    assert found.threads == 35
    _, found = mapping(text + " a[i] += 1; }", n=5, m=7)
    assert [loop.loop.variable.name for loop in found.loops] == ["i"]


def test_steps_offsets_and_descending_loops():
    text = """void f(int n, float *restrict a) {
        for (int i = n - 1; i >= 2; i -= 3) for (int j = 1; j <= 10; j += 4) a[i * 11 + j] = 1; }"""
    bound, found = mapping(text, n=12)
    assert [loop.most for loop in found.loops] == [4, 3]
    assert bound.shapes["a"] == (11 * 11 + 9 + 1,)
