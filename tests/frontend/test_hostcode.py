from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.frontend.hostcode import declarations, launched_templates, without_host_functions, without_lines


def kept(text: str) -> str:
    result = without_host_functions(text)
    assert result.count("\n") == text.count("\n")
    return " ".join(result.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int main() { f<<<1, 2>>>(); }", ""),
        ("__device__ int f() { return 1; }", "__device__ int f() { return 1; }"),
        ("static const int N = 3; void g() {}", "static const int N = 3;"),
        ("constexpr int sq(int x) { return x * x; }", "constexpr int sq(int x) { return x * x; }"),
        ("struct S { int f() { return 1; } };", "struct S { int f() { return 1; } };"),
        ("namespace a { namespace b { void h() { if (x) {} } __global__ void k() {} } }",
         "namespace a { namespace b { __global__ void k() {} } }"),
        ('extern "C" { int h() {} }', 'extern "C" { }'),
        ("#define K __global__\nK void k() {}\nvoid h() {}", "#define K __global__ K void k() {}"),
        ("int a[] = { 1, 2 }; int h() { return a[0]; }", "int a[] = { 1, 2 };"),
        ("template <class T> void h(T x) { x(); }", ""),
        ("template <int N = 4> __global__ void k() { }", "template <int N = 4> __global__ void k() { }"),
        ("void h(int x = 3) { }", ""),
        ("// __global__\nvoid h() { char c = '}'; const char *s = \"}\"; }", "// __global__"),
        ("void h() {\n#ifdef A\n g();\n#endif\n}", "#ifdef A #endif"),
    ],
)  # fmt: skip
def test_only_host_functions_go(text: str, expected: str):
    assert kept(text) == expected


def test_lines_pick_host_declarations_only():
    text = "std::vector<int> v;\n__device__ int d;\nint n;\n"
    assert without_lines(text, {1, 2}) == "                   \n__device__ int d;\nint n;\n"


def test_launches_of_templates_become_expressions():
    text = "void f() { k<float, 4><<<1, 2>>>(x); ns::k<int> <<<1, 2>>>(x); if (a < b) c<<<1, 2>>>(x); }"
    assert launched_templates(text) == ("k<float, 4>", "ns::k<int>")


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="{}();=<>#\n\"'/* ax", max_size=80))
def test_any_text_is_survived(text: str):
    assert len(without_host_functions(text)) == len(text)
    ends = [d.end for d in declarations(text)]
    assert ends == sorted(ends)
