"""Device code of files that include libraries which are not there: stand-ins declare what it uses."""

import pytest

import warpwatt

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
