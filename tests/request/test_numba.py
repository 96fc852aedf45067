"""Kernels of Numba's ``@cuda.jit``, never launched: compiled for their arguments without a driver."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import warpwatt
from warpwatt.core.errors import UsageError

numba = pytest.importorskip("numba", reason="Numba is not installed")
pytestmark = [pytest.mark.toolchain, pytest.mark.filterwarnings("ignore")]
CUDA = """
extern "C" __global__ void blend(long long n, double a, const float* x, float* y) {
    long long i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"""


@pytest.fixture(scope="module")
def blend():
    cuda: Any = import_module("numba.cuda")

    @cuda.jit
    def blend(n, a, x, y):
        i = cuda.grid(1)
        if i < n:
            y[i] += a * x[i]

    return blend


def test_a_dispatcher_that_was_never_launched_is_predicted(blend):
    n = 1 << 22
    values = {"n": n, "a": 2.0, "x": np.ones(n, np.float32), "y": "f32[4194304]"}
    p = warpwatt.predict(blend, gpu="a100", grid=n // 256, block=256, args=values)
    words = {**values, "x": "f32[4194304]"}
    twin = warpwatt.predict(CUDA, gpu="a100", grid=n // 256, block=256, args=words)
    assert p.case.workload.dram.total == pytest.approx(twin.case.workload.dram.total, rel=0.02)
    assert p.time.value == pytest.approx(twin.time.value, rel=0.1)


def test_a_missing_argument_is_named(blend):
    with pytest.raises(UsageError, match="blend needs 'y'"):
        warpwatt.predict(blend, gpu="a100", grid=1, block=32, args={"n": 1, "a": 1.0, "x": "f32[1]"})
