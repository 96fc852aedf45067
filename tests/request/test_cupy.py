"""CuPy's elementwise kernels, with the attributes of CuPy 13 and 14, as the CUDA that CuPy makes of them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import warpwatt
from warpwatt.core.errors import ArgumentError, UsageError

N = 1 << 22
CUDA = """
extern "C" __global__ void difference(const float* x, const float* y, float a, float* z, long long n) {
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        z[i] = a * (x[i] - y[i]);
}
"""


def parameter(name: str, dtype: str | None, *, raw: bool = False, const: bool = True) -> SimpleNamespace:
    c_type = {"float32": "float", "int32": "int", None: "T"}[dtype]
    return SimpleNamespace(name=name, dtype=dtype and np.dtype(dtype), ctype=c_type, raw=raw, is_const=const)


def kernel(operation: str, *inputs: SimpleNamespace, **more: str) -> SimpleNamespace:
    outputs = (parameter("z", None, const=False),)
    return SimpleNamespace(
        in_params=inputs, out_params=outputs, operation=operation, name="difference", preamble="", kwargs=more
    )


TWO = kernel("z = a * (x - y)", parameter("x", None), parameter("y", None), parameter("a", "float32"))
WORDS = {"x": f"f32[{N}]", "y": f"f32[{N}]", "z": f"f32[{N}]", "a": 2.0}


@pytest.mark.toolchain
def test_an_elementwise_kernel_is_the_loop_that_cupy_makes_of_it():
    """An operation may also use a raw array, the number ``i`` of its element, and what stands around it."""
    p = warpwatt.predict(TWO, gpu="a100", args=WORDS)
    twin = warpwatt.predict(CUDA, gpu="a100", grid=N // 128, block=128, args={**WORDS, "n": N})
    assert (p.case.launch.grid, p.case.launch.block) == (twin.case.launch.grid, twin.case.launch.block)
    assert p.case.workload.dram.total == pytest.approx(twin.case.workload.dram.total, rel=0.01)
    assert p.time.value == pytest.approx(twin.time.value, rel=0.05)
    ring = kernel(
        "z = x[(i + shift) % x.size()]", parameter("x", None, raw=True), loop_prep="long long shift = 1"
    )
    found = warpwatt.predict(ring, gpu="a100", args={"x": f"f64[{N}]", "z": f"f64[{N}]"})
    assert found.case.workload.dram.read == pytest.approx(8 * N, rel=0.01)


def test_arguments_that_cupy_would_refuse_are_refused():
    with pytest.raises(UsageError, match="difference needs 'z'"):
        warpwatt.predict(TWO, gpu="a100", args={k: v for k, v in WORDS.items() if k != "z"})
    with pytest.raises(ArgumentError, match="arrays of 4 and 8 elements"):
        warpwatt.predict(TWO, gpu="a100", args={"x": "f32[4]", "y": "f32[8]", "z": "f32[4]", "a": 1.0})
