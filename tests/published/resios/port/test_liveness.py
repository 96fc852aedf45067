"""Which arrays are copied to the device: what is not copied can be anything before."""

from __future__ import annotations

import random

import pytest

from warpwatt.frontend.compiled import Source
from warpwatt.frontend.options import CompileOptions
from warpwatt.published.resios.c_loops import preprocess
from warpwatt.published.resios.c_loops.bound import bound
from warpwatt.published.resios.c_loops.decide import decided
from warpwatt.published.resios.c_loops.read import read_function
from warpwatt.published.resios.c_loops.sequential import Program
from warpwatt.published.resios.port.check import contents
from warpwatt.published.resios.port.liveness import copies

N = 6
HEAD = "void f(int n, float *restrict a, float *restrict c, const float *restrict x)"
ROWS = "for (int i = 0; i < n; i++)"
BOTH = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
COPIED = {
    f"{ROWS} a[i] = x[i];": "x",
    "for (int i = 1; i < n; i++) a[i] = x[i];": "ax",
    f"{ROWS} a[2 * i] = x[i];": "ax",
    f"{ROWS} a[i] += x[i];": "ax",
    f"{ROWS} if (x[i] > 0) a[i] = 1;": "ax",
    f"{ROWS} {{ if (x[i] > 0) a[i] = 1; else a[i] = 2; }}": "x",
    f"{ROWS} {{ if (x[i] > 0) a[i] = 1; else {{ c[i] = a[i]; a[i] = 2; }} }}": "acx",
    f"{ROWS} {{ if (x[i] > 0) break; a[i] = 1; }}": "ax",
    f"{ROWS} {{ int k = 0; while (x[k] > 0.9f && k < i) {{ a[i] = 1; k++; }} }}": "ax",
    f"{BOTH} {{ a[i * n + j] = 0; for (int k = 0; k < n; k++) a[i * n + j] += x[k]; }}": "x",
    f"{BOTH} if (j <= i) a[i * n + j] = x[j];": "ax",
    f"for (int i = 0; i < 1; i++) a[i] = 1; for (int i = 1; i < n; i++) a[i] = 2; {ROWS} c[i] = a[i];": "",
    f"{ROWS} a[i] = x[i]; {ROWS} c[i] = a[i + 1];": "ax",
}


def found(body: str):
    source = Source("loops.c", f"{HEAD} {{ {body} }}".encode())
    function = decided(read_function(source, "", CompileOptions()), {"n": N})
    return source, bound(function, {"n": N}, {"x": (N,)})


@pytest.mark.parametrize("body", COPIED)
def test_an_array_is_copied_in_unless_all_of_it_is_written_before_it_is_read(body):
    _, one = found(body)
    copied_in, copied_out = copies(one)
    assert set(copied_in) == set(COPIED[body])
    assert set(copied_out) == {a.element.array.name for a in one.accesses if a.write}


def made(seed: int) -> str:
    """Return random loops that write parts of two arrays and read them."""
    choose = random.Random(seed).choice
    lines = []
    for _ in range(3):
        array, value = choose("ac"), choose(["x[i]", "1", "a[i]", "c[i]", "a[n - 1 - i] + x[0]"])
        store = f"{array}[{choose(['i', 'n - 1 - i', 'i', '2 * i'])}] {choose(['=', '=', '+='])} {value};"
        other = f"{choose('ac')}[i] = {choose(['2', 'c[i]'])};"
        body = choose([store, f"{{ {store} {other} }}", f"if (x[i] > 0.5f) {store}",
                       f"if (x[i] > 0.5f) {store} else {{ {other} }}", f"if (i > 1) {store}",
                       f"{{ if (x[i] > 0.9f) break; {store} }}"])  # fmt: skip
        lines.append(f"for (int i = {choose('0001')}; i < {choose(['n', 'n', 'n - 1', '3'])}; i++) {body}")
    return " ".join(lines)


@pytest.mark.skipif(preprocess.compiler() is None, reason="no C compiler to compare with")
@pytest.mark.parametrize("seed", range(24))
def test_what_is_not_copied_in_never_matters(seed):
    source, one = found(made(seed))
    copied_in, copied_out = copies(one)
    before = {name: array.tobytes() for name, array in contents(one).items()}
    changed = before | {n: d.tobytes() for n, d in contents(one, seed=1).items() if n not in copied_in}
    program = Program(source, one, CompileOptions())
    after, again = program.computed(before), program.computed(changed)
    assert all(after[name] == again[name] for name in copied_out)
