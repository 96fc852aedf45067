"""What texture fetches move: each row of the image once, where it fits in L2."""

from __future__ import annotations

import numpy as np
import pytest

from warpwatt.compose import predict
from warpwatt.core.arguments import parse_arguments
from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate.textures import Texture, offsets, rows_touched
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.load import load_kernel
from warpwatt.gpus import find

BLUR = b"""
extern "C" __global__ void blur(cudaTextureObject_t t, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float sum = 0;
  for (int dy = 0; dy < 3; ++dy)
    for (int dx = 0; dx < 3; ++dx) sum += tex2D<float>(t, x + dx + 0.5f, y + dy + 0.5f);
  out[y * w + x] = sum;
}
"""


@pytest.mark.toolchain
def test_neighbours_read_an_image_from_dram_once() -> None:
    width, height = 704, 704
    arguments = parse_arguments([f"w={width}", f"h={height}", "t=0", f"out=f32[{width * height}]"])
    launch = Launch(Dim3(44, 44), Dim3(16, 16), arguments=arguments)
    found = predict(load_kernel(Source("<test>", BLUR), "sm_80"), launch, find("a100"))
    assert found.case.workload.dram.read == pytest.approx((width + 2) * (height + 2) * 4, rel=0.1)
    assert found.case.workload.l1.read > 9 * width * height * 4
    assert any("how they lie in memory" in a.message for a in found.assumptions)


@pytest.mark.parametrize("linear", [False, True])
def test_rows_of_a_fetch_are_those_of_its_elements(linear: bool) -> None:
    texture = Texture(0, 16, 8, pitch=64, linear_filter=linear)
    generator = np.random.default_rng(0)
    x, y = generator.uniform(0, 16, 32), generator.uniform(0, 8, 32)
    rows = rows_touched(texture, [x, y])
    for lane in range(32):
        low = int(np.floor(y[lane] - 0.5 * linear))
        column = min(15, max(0, int(np.floor(x[lane] - 0.5 * linear))))
        wanted = {min(7, max(0, low + step)) for step in range(1 + linear)}
        places = {int(offsets(texture, [np.array([column]), np.array([row])])[0]) for row in wanted}
        assert {int(at[lane]) for at, on in rows if on[lane]} == places
