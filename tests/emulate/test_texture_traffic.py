"""What texture fetches move: each row of the image once, where it fits in L2."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulate.routines import element, routine
from warpwatt.compose import predict
from warpwatt.core.arguments import parse_arguments
from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate import native
from warpwatt.emulate.builder import Builder
from warpwatt.emulate.ir import Type
from warpwatt.emulate.memory import DeviceMemory
from warpwatt.emulate.run import Context
from warpwatt.emulate.textures import Texture
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
    generator = np.random.default_rng(0)
    x, y = (generator.uniform(0, n, 32).astype(np.float32) for n in (16, 8))
    memory, b = DeviceMemory(), Builder()
    image = memory.place("image", np.zeros((8, 16), np.float32))
    memory.textures[7] = Texture(image, 16, 8, pitch=64, linear_filter=linear)
    given = [b.load("global", element(b, place, Type.I32), Type.I32)[0] for place in (0, 1)]
    found = b.call("texture_rows", ("2d", "f32", 2), (Type.I64, 2), b.const(Type.I64, 7), *given)
    for place, value in enumerate(found):
        b.store("global", element(b, 2 + place, Type.I64), value)
    arrays: dict[str, np.ndarray] = {
        "x": x,
        "y": y,
        "first": np.zeros(32, np.uint64),
        "second": np.zeros(32, np.uint64),
    }
    addresses = [memory.place(name, array) for name, array in arrays.items()]
    banks = {0: b"".join(address.to_bytes(8, "little") for address in addresses)}
    native.run(routine(b), Context(Launch(Dim3(1), Dim3(32)), banks, 0, 0), memory, [0])
    for lane in range(32):
        low = int(np.floor(y[lane] - 0.5 * linear))
        column = min(15, max(0, int(np.floor(x[lane] - 0.5 * linear))))
        wanted = {image + 64 * min(7, max(0, low + step)) + 4 * column for step in range(1 + linear)}
        reads = {int(memory.array(name)[lane]) for name in ("first", "second")}
        assert reads - {0} == wanted
