"""Every test of the front ends has a cache of its own; compilations that only need to exist share one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from warpwatt.frontend import toolchain
from warpwatt.frontend.compiled import Source

if TYPE_CHECKING:
    from pathlib import Path

SAXPY = """\
#include <cstdio>
#include <vector>
#define BLOCK 128
template <typename T, int N>
__global__ void saxpy(int n, T a, const T *__restrict__ x, T *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i] + N;
}
struct Pair { int first; float second[3]; };
namespace ns {
__global__ void __launch_bounds__(BLOCK) total(Pair pair, const float in[], float *out)
{
    __shared__ float s[BLOCK];
    s[threadIdx.x] = in[threadIdx.x] * pair.second[0];
    __syncthreads();
    if (threadIdx.x == 0) *out = s[0] + s[BLOCK - 1];
}
}
int main()
{
    std::vector<float> host(4);
    saxpy<float, 2><<<1, BLOCK>>>(4, 2.0f, host.data(), host.data());
    printf("%f", host[0]);
}
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("WARPWATT_CACHE_DIR", str(folder))
    monkeypatch.delenv("WARPWATT_CACHE_SIZE", raising=False)
    return folder


@pytest.fixture
def fresh_tools(monkeypatch: pytest.MonkeyPatch):
    """Forget what toolchain has found, before and after."""
    toolchain.installed.cache_clear()
    toolchain.host_compiler.cache_clear()
    yield
    monkeypatch.undo()
    toolchain.installed.cache_clear()
    toolchain.host_compiler.cache_clear()


@pytest.fixture
def saxpy(tmp_path: Path) -> Path:
    file = tmp_path / "saxpy.cu"
    file.write_text(SAXPY)
    return file


@pytest.fixture
def saxpy_source(saxpy: Path) -> Source:
    return Source("saxpy.cu", saxpy.read_bytes(), saxpy)
