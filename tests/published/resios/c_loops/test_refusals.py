"""C that cannot be ported is refused by the line, with what to do."""

from __future__ import annotations

import pytest

from tests.published.resios.c_loops.helpers import bind, function, mapping
from warpwatt.core.errors import ArgumentError, KernelSelectionError, ParseError
from warpwatt.published.resios.c_loops import UnportableError
from warpwatt.published.resios.c_loops.bound import bound
from warpwatt.published.resios.c_loops.decide import decided
from warpwatt.published.resios.c_loops.dependence import DependenceError
from warpwatt.published.resios.c_loops.mapping import mapped

HEAD = "void f(int n, float *restrict a, const float *restrict b)\n{\n"
STEP = "int g(int x) { x++; return x; }\n"


def body(text):
    return HEAD + text + "\n}\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("for (int i = 0; i < n; i++) {\n if (b[i] > 0) goto out;\n a[i] = 1;\n}\nout: ;", 4, "goto"),
        ("int i = 0;\nwhile (i < n) { a[i] = b[i]; i++; }", 4, "while"),
        ("for (int i = 0; i < n; i++)\n a[i] = g(b[i]);", 4, "call of 'g'"),
        ("for (float x = 0; x < n; x += 1)\n a[0] = x;", 3, "not an integer"),
        ("for (int i = 0; i < n; i *= 2)\n a[i] = 0;", 3, "step by a constant"),
        ("for (int i = 0; i < n; i++) {\n i += 1;\n a[i] = 0;\n}", 4, "own variable"),
        ("for (int i = 0; b[i] > 0; i++)\n a[i] = 0;", 3, "not known before it runs"),
        ("for (int i = 0; i < n; i--)\n a[i] = 0;", 3, "runs away"),
        ("for (int i = 0; i < n; i++) {\n float t = a[i] = b[i];\n}", 4, "assignment inside"),
        ("for (int i = 0; i < n; i++)\n b[i] = 0;", 4, "const"),
        ("int k = 1;\nfor (int i = 0; i < n; i++) {\n float *p = a + k;\n k = 2;\n p[i] = 0;}", 5, "changes"),
    ],
)  # fmt: skip
def test_control_flow_and_statements(text, line, words):
    with pytest.raises(UnportableError) as caught:
        decided(function(body(text), "f"), {"n": 8})
    assert caught.value.line == line
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("void f(int n, float **a) { for (int i = 0; i < n; i++) a[i][0] = 1; }", "array of pointers"),
        ("struct s { int *x; };\nvoid f(struct s *a) { for (int i = 0; i < 9; i++) a[i].x[0] = 1; }", "'x'"),
        (f"{STEP}void f(int *a) {{ for (int i = 0; i < 9 && g(i); i++) a[i] = 0; }}", "not known before"),
        (f"{STEP}void f(int *a) {{ for (int i = 0; i < 9; i++) if (i && g(i)) a[i] = 0; }}", "leave it out"),
        ("int *f(int *a) { for (int i = 0; i < 9; i++) a[i] = i; return a; }", "returns a pointer"),
        ("void f(int *a) { for (int i = 0; i < 9; i++) switch (i) { case 1: a[i] = 0; case 2:; } }", "goes"),
        ("void h(int *a) { g(a); }\nvoid g(int *a) { for (int i = 0; i < 9; i++) a[i] = i; h(a); }", "calls"),
    ],
)  # fmt: skip
def test_types_and_recursion(text, words):
    with pytest.raises(UnportableError, match=words):
        function(text)


@pytest.mark.parametrize(
    ("bounds", "words"),
    [("j < i * i", "not affine in i"), ("j < b[i]", "not affine"), ("j < i % 4", "not affine in i")],
)
def test_bounds_that_are_not_affine(bounds, words):
    text = body(f"for (int i = 0; i < n; i++)\n for (int j = 0; {bounds}; j++)\n  a[i] = 0;")
    with pytest.raises(UnportableError, match=words) as caught:
        bind(text, n=8)
    assert caught.value.line == 4


def test_bounds_that_the_loop_changes():
    text = body(
        "int m = 4;\nfor (int i = 0; i < n; i++) {\n m = i;\n for (int j = 0; j < m; j++) a[i] = 0;\n}"
    )
    with pytest.raises(UnportableError, match="depends on 'm'"):
        function(text)


@pytest.mark.parametrize(
    ("text", "lines", "variable"),
    [
        ("for (int i = 1; i < n; i++) {\n a[i] = b[i];\n a[i] += a[i - 1];\n}", {4, 5}, "a"),
        ("float s = 0;\nfor (int i = 0; i < n; i++) {\n s += b[i];\n a[i] = s;\n}", {5}, "s"),
        ("for (int i = 0; i < n; i++)\n a[0] = b[i];", {4}, "a"),
        ("for (int i = 0; i < n; i++) {\n a[2 * i] = 1;\n a[i + 3] = b[i];\n}", {4, 5}, "a"),
    ],
)
def test_carried_dependences_name_both_lines(text, lines, variable):
    with pytest.raises(DependenceError) as caught:
        mapping(body(text), n=16)
    assert set(caught.value.lines) == lines
    assert f"{variable!r}" in caught.value.message
    assert all(f"line {line}" in caught.value.message for line in lines)
    assert caught.value.exit_code == 1


def test_subscripts_that_are_not_affine():
    text = body("for (int i = 0; i < n; i++)\n a[i / 2] = b[i];")
    with pytest.raises(
        ArgumentError, match=r"how large 'a' is cannot be told from its subscripts \(line 4\)"
    ):
        bind(text, n=8)
    found = bound(function(text), {"n": 8}, {"a": (4,)})
    with pytest.raises(DependenceError, match="perhaps the same element"):
        mapped(found, found.nests[0])
    gather = bound(function(body("for (int i = 0; i < n; i++) a[i] = b[i / 2];")), {"n": 8}, {"b": (4,)})
    assert mapped(gather, gather.nests[0]).threads == 8


def test_the_two_iterations_named_do_touch_one_element():
    text = body("for (int i = 0; i < n; i++)\n a[3 * i] = a[5 * i + 1];")
    with pytest.raises(DependenceError, match=r"iterations (\d+) and (\d+)") as caught:
        mapping(text, n=16)
    read, written = map(int, caught.value.message.partition("iterations ")[2].split(" of")[0].split(" and "))
    assert 5 * read + 1 == 3 * written
    assert read != written


def test_pointers_that_may_alias_are_named():
    text = "void f(int n, float *a,\n const float *b) { for (int i = 0; i < n; i++) a[i] = b[i]; }"
    with pytest.raises(
        UnportableError, match=r"'a' \(line 1\) and 'b' \(line 2\) may point to the same"
    ) as caught:
        mapping(text, n=4)
    assert "restrict" in caught.value.hint
    assert "--assume-no-alias" in caught.value.hint


@pytest.mark.parametrize(
    "parameters",
    ["float *restrict a, const float *b", "float *a, const float *restrict b", "float *a, const int *b"],
)
def test_pointers_that_cannot_alias(parameters):
    mapping(f"void f(int n, {parameters}) {{ for (int i = 0; i < n; i++) a[i] = b[i]; }}", n=4)


def test_global_arrays_are_distinct():
    mapping("float a[8], b[8];\nvoid f(void) { for (int i = 0; i < 8; i++) a[i] = b[i]; }")


def test_missing_and_superfluous_sizes():
    text = body("for (int i = 0; i < n; i++) a[i] = b[i];")
    with pytest.raises(ArgumentError, match="sizes are missing: n"):
        bind(text)
    with pytest.raises(ArgumentError, match="no parameter 'm'"):
        bind(text, n=1, m=2)
    with pytest.raises(ArgumentError, match="whole number"):
        bind(text, n=1.5)


def test_subscripts_below_zero_and_loops_that_never_run():
    with pytest.raises(UnportableError, match="-1 at its least"):
        bind(body("for (int i = 0; i < n; i++) a[i] = b[i - 1];"), n=4)
    with pytest.raises(UnportableError, match="never runs"):
        bind(body("for (int i = 4; i < n; i++) a[i] = 0;"), n=4)


def test_no_c_and_no_function():
    with pytest.raises(ParseError) as caught:
        function("void f(int n) {\n for (\n}\n")
    assert caught.value.line == 3
    with pytest.raises(KernelSelectionError, match="no function has a loop"):
        function("int x;")
    with pytest.raises(KernelSelectionError, match="several functions"):
        function(body("for (int i = 0; i < n; i++) a[i] = 0;") + HEAD.replace(" f(", " g(") + "for (;;);}")
