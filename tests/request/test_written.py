"""Kernels read from a source's text, as people write them."""

from __future__ import annotations

import pytest

from warpwatt.core.errors import UsageError
from warpwatt.frontend.source import read_source
from warpwatt.frontend.written import instance_of, written_kernels
from warpwatt.request.launch_text import LaunchText
from warpwatt.request.launches import requests

TEXT = """
// __global__ void commented(int n) {}
template <const int BM = 32, typename T>
__global__ void __launch_bounds__(BM * 8, 2) gemm(const T *__restrict__ a, T *c, const int M, size_t N) {
    c[blockIdx.y * N + threadIdx.y] = a[M];
}
__global__ static void scale(float *x, float by, unsigned int n) { x[threadIdx.x] *= by; }
__global__ void declared(int n);
int main() { gemm<64, float><<<1, 1>>>(0, 0, 1, 1); }
"""


def test_kernels_are_found_with_what_a_launch_needs():
    gemm, scale = written_kernels(TEXT)
    assert (gemm.name, gemm.sizes, gemm.dimensions) == ("gemm", ("M", "N"), 2)
    assert (scale.name, scale.sizes, scale.dimensions) == ("scale", ("n",), 1)
    assert instance_of(gemm, TEXT) == "'gemm<64, float>'"


def test_parameters_may_have_parentheses():
    text = "template<int N>\n__global__ void map(int (*f)(int), float (&x)[N], int n) {}"
    (kernel,) = written_kernels(text)
    assert str(kernel) == "template <int N> map(int (*f)(int), float (&x)[N], int n)"
    assert kernel.sizes == ("n",)


def test_without_a_launch_the_message_has_one_to_start_from(tmp_path):
    (tmp_path / "mine.cu").write_text(TEXT)
    source = read_source(tmp_path / "mine.cu")
    with pytest.raises(UsageError, match="the grid is not known") as refused:
        requests(source, LaunchText(kernel="scale", arg=("n=5", "by=2")))
    assert "--kernel scale --grid 4096 --block 256 --arg n=5 --arg by=2" in refused.value.hint
    assert "or run the whole program" in refused.value.hint
    assert "  scale(float *x, float by, unsigned int n)" in refused.value.details.splitlines()
    with pytest.raises(UsageError, match="the block is not known") as refused:
        requests(source, LaunchText(grid="7"))
    assert "--kernel 'gemm<64, float>' --grid 7 --block 16,16 --arg M=1024" in refused.value.hint
