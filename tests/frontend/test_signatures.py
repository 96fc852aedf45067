from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.frontend.signatures import blank_comments, parameter_names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("__global__ void f() {}", {"f": ()}),
        ("__global__ void f(void);", {"f": ()}),
        ("__global__ void f(int n, float* x) {}", {"f": ("n", "x")}),
        ("static __global__ void f(unsigned long long n) {}", {"f": ("n",)}),
        ("__global__ void f(const float *__restrict__ const x, int) {}", {}),
        ("__global__ __launch_bounds__(256, 2) void f(float x[16][4]) {}", {"f": ("x",)}),
        ("__global__ void __launch_bounds__(B) f(int a = 3, S<int, 4> s) {}", {"f": ("a", "s")}),
        ("__global__ void f(void (*call)(int, int), float (&a)[4]) {}", {"f": ("call", "a")}),
        ("__global__ void f(const __grid_constant__ CUtensorMap map) {}", {"f": ("map",)}),
        ("__global__ void f(int n); __global__ void f(int n) {}", {"f": ("n",)}),
        ("__global__ void f(int n) {} __global__ void f(float x) {}", {}),
        ("__global__ void f(int size); __global__ void f(int n) {} __global__ void f(int);", {"f": ("n",)}),
        ("__global__ void f(int /* count */ n, // size\n int m) {}", {"f": ("n", "m")}),
        ('const char *s = "__global__ void g(int no)";', {}),
        ("#define KERNEL(name) __global__ void name\nKERNEL(f)(int n) {}", {}),
        ('extern "C" __global__ void f(thrust::device_ptr<int> p) {}', {"f": ("p",)}),
        ("__global__ void f(std::size_t) {}", {}),
        ("__global__ void f(", {}),
    ],
)
def test_reads_declarations(text: str, expected: dict[str, tuple[str, ...]]):
    assert parameter_names(text) == expected


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "__global__",
                "void",
                "f",
                "(",
                ")",
                "<",
                ">",
                ",",
                "int",
                "*",
                "[",
                "]",
                "{",
                "}",
                ";",
                "=",
                '"',
                "/*",
                "//",
                "\n",
                "::",
                "'",
            ]
        ),
        max_size=40,
    )
)
def test_any_text_is_survived(words: list[str]):
    text = " ".join(words)
    names = parameter_names(text)
    assert all(all(part.isidentifier() for part in parts) for parts in names.values())
    assert len(blank_comments(text)) == len(text)
    assert blank_comments(text).count("\n") == text.count("\n")
