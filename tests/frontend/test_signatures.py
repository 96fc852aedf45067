from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.core.program import Level, Parameter, Program
from warpwatt.frontend.signatures import blank_comments, parameter_names, signature, with_signature_types


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


def program(*sizes):
    parameters = tuple(Parameter(f"p{i}", f"b{8 * s}", s, s) for i, s in enumerate(sizes))
    return Program("f", Level.SASS, "sm_90", (), parameters=parameters)


def kinds(found):
    return [(p.type, p.pointer) for p in found.parameters]


def test_types_and_pointers():
    found = with_signature_types(program(8, 4, 4, 8, 1), "f(float const*, int, float, double, bool)")
    assert kinds(found) == [("u64", True), ("s32", False), ("f32", False), ("f64", False), ("u8", False)]


def test_sizes_that_disagree_leave_the_parameter_alone():
    assert kinds(with_signature_types(program(4, 8), "f(double, Pair)")) == [("b32", False), ("b64", False)]


def test_another_number_of_parameters_leaves_all_alone():
    assert kinds(with_signature_types(program(4), "f(int, int)")) == [("b32", False)]
    assert kinds(with_signature_types(program(4), "f")) == [("b32", False)]


def test_signature_with_nested_brackets():
    name = "void g<(Kind)1>(void (*)(int, float), std::array<int, 3ul>, float (&) [4])"
    assert signature(name) == ("void (*)(int, float)", "std::array<int, 3ul>", "float (&) [4]")
    assert signature("f()") == ()
