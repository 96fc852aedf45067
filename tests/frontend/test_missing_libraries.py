"""Device code of files that include libraries which are not there: stand-ins declare what it uses."""

import pytest

import warpwatt
from warpwatt.frontend import toolchain
from warpwatt.frontend.nvrtc import compile_nvrtc
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.source import read_source

SOURCE = """
#include <ATen/cuda/CUDAContext.h>
#include <torch/all.h>
template <typename T>
__global__ void twice(T *out, const T *in, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = in[i] + in[i];
}
void launch(torch::Tensor &out, torch::Tensor &in) {
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(in.scalar_type(), "twice", [&] {
        twice<scalar_t><<<1, 1>>>(out.data_ptr<scalar_t>(), in.data_ptr<scalar_t>(), in.numel());
    });
}
"""


@pytest.mark.toolchain
@pytest.mark.parametrize("type_", ["half", "nv_bfloat16"])
def test_torch_extensions_are_predicted_without_torch(tmp_path, type_):
    file = tmp_path / "twice.cu"
    file.write_text(SOURCE, encoding="utf-8")
    found = warpwatt.predict(
        str(file), gpu="h100", kernel=f"twice<{type_}>", grid=[256], block=[256],
        args={"out": "f16[65536]", "in": "f16[65536]", "n": "65536"},
    )  # fmt: skip
    assert found.case.workload.l1.read == 2 * 65536


@pytest.mark.toolchain
def test_functions_whose_marker_is_a_macro_of_a_header_are_kept(tmp_path):
    (tmp_path / "common.h").write_text("#define DEV __device__ __forceinline__\n", encoding="utf-8")
    file = tmp_path / "k.cu"
    file.write_text(
        '#include "common.h"\nDEV float twice(float x) { return 2.f * x; }\n'
        'extern "C" __global__ void k(float *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }\n',
        encoding="utf-8",
    )
    made = compile_nvrtc(read_source(file), "sm_90", toolchain.installed(), CompileOptions())
    assert ".entry k" in made.ptx
