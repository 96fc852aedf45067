"""Textures and surfaces in kernels against the formulas of the CUDA C++ Programming Guide, lane by lane."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest

from warpwatt.core.arguments import parse_arguments
from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.functional import execute, routine_of
from warpwatt.emulate.run import Stop
from warpwatt.emulate.textures import AddressMode, ChannelKind, Texture, fetch, gather
from warpwatt.frontend.load import load
from warpwatt.program.binding import bind

SOURCE = """
extern "C" __global__ void sample(float *out, cudaTextureObject_t t, const float *x, const float *y) {
    int i = threadIdx.x;
    out[i] = tex2D<float>(t, x[i], y[i]);
}
extern "C" __global__ void colours(float *out, cudaTextureObject_t t, int *raw) {
    int i = threadIdx.x;
    float4 c = tex1D<float4>(t, i + 0.5f);
    out[i] = c.x + 2 * c.y + 4 * c.z + 8 * c.w;
    raw[i] = tex1Dfetch<float4>(t, i).y * 255;
}
extern "C" __global__ void layers(float *out, cudaTextureObject_t t) {
    int i = threadIdx.x;
    out[i] = tex2DLayered<float>(t, i % 4 + 0.5f, i / 4 + 0.5f, i & 1);
}
extern "C" __global__ void shift(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    float v;
    surf2Dread(&v, from, threadIdx.x * 4, threadIdx.y, cudaBoundaryModeZero);
    surf2Dwrite(v + 1, to, (threadIdx.x + 1) * 4, threadIdx.y, cudaBoundaryModeZero);
}
"""


@lru_cache(maxsize=1)
def _kernels(path: Path):
    return {kernel.name: kernel for kernel in load(path, "sm_90")}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    path = tmp_path_factory.mktemp("textures") / "textures.cu"
    path.write_text(SOURCE, encoding="utf-8")
    return _kernels(path)


def launch(kernel, arguments, textures, arrays, block):
    """Execute one block; ``textures`` are functions of the device, by handle."""
    routine = routine_of(kernel)
    given = Launch(Dim3(1), Dim3(*block), arguments=parse_arguments(arguments))
    context, memory = load_launch(bind(routine.program, given, kernel.ptx.parameters), arrays=arrays)
    for handle, (array, options) in textures.items():
        memory.textures[handle] = Texture(memory.place(f"texture {handle}", array), **options)
    outcome = execute(routine, context, memory)
    assert outcome.stop is Stop.DONE
    assert not outcome.unknown
    return memory


def index(i: int, n: int, mode: AddressMode, normalized: bool) -> int | None:
    """The element that an index means; None: the border."""
    if mode is AddressMode.BORDER:
        return i if 0 <= i < n else None
    if normalized and mode is AddressMode.WRAP:
        return i % n
    if normalized and mode is AddressMode.MIRROR:
        return i % n if (i // n) % 2 == 0 else n - 1 - i % n
    return min(max(i, 0), n - 1)


def expected(array, where, mode, *, linear, normalized, border=0.0):
    """The guide's formulas for one thread; the array's last axis is x."""
    extents = array.shape[::-1]
    scaled = [x * n if normalized else x for x, n in zip(where, extents, strict=True)]

    def element(at):
        places = [index(i, n, mode, normalized) for i, n in zip(at, extents, strict=True)]
        return border if None in places else float(array[tuple(places[::-1])])

    if not linear:
        return element([math.floor(x) for x in scaled])
    total = 0.0
    for corner in product((0, 1), repeat=len(where)):
        share, at = 1.0, []
        for x, step in zip(scaled, corner, strict=True):
            low = math.floor(x - 0.5)
            part = round((x - 0.5 - low) * 256) / 256
            share *= part if step else 1 - part
            at.append(low + step)
        total += share * element(at)
    return total


@pytest.mark.parametrize("mode", list(AddressMode))
@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_fetches_follow_the_guide(mode, linear, normalized, dimensions):
    random = Random(dimensions)
    shape = (3, 5, 4)[:dimensions][::-1]
    array = np.array([random.random() for _ in range(math.prod(shape))], np.float32).reshape(shape)
    extents = array.shape[::-1]
    where = [
        np.array([random.uniform(-1.5, 2.5) * (1 if normalized else n) for _ in range(40)]) for n in extents
    ]
    width, height, depth = (*extents, 1, 1)[:3]
    texture = Texture(
        0, width, height, depth, pitch=array.strides[-2] if dimensions > 1 else 0,
        slice_pitch=array.strides[0] if dimensions > 2 else 0, address_modes=(mode,) * 3, border=(7.0,) * 4,
        linear_filter=linear, normalized_coordinates=normalized,
    )  # fmt: skip
    found = fetch(texture, array.reshape(-1).view(np.uint8), where)[0]
    for lane in range(40):
        at = [float(x[lane]) for x in where]
        assert found[lane] == pytest.approx(
            expected(array, at, mode, linear=linear, normalized=normalized, border=7.0)
        )


@pytest.mark.toolchain
def test_a_kernel_samples_a_filtered_image(kernels):
    random = Random(1)
    image = np.array([random.random() for _ in range(48)], np.float32).reshape(6, 8)
    x, y = (np.array([random.uniform(-2, 10) for _ in range(32)], np.float32) for _ in range(2))
    options = {"width": 8, "height": 6, "pitch": 32, "linear_filter": True}
    arguments = ["out=f32[32]", "t=5", "x=f32[32]", "y=f32[32]"]
    memory = launch(kernels["sample"], arguments, {5: (image, options)}, {"x": x, "y": y}, (32,))
    wanted = [
        expected(image, [float(a), float(b)], AddressMode.CLAMP, linear=True, normalized=False)
        for a, b in zip(x, y, strict=True)
    ]
    assert memory.array("out") == pytest.approx(np.array(wanted), rel=1e-5)


@pytest.mark.toolchain
def test_bytes_are_read_as_parts_of_one(kernels):
    pixels = np.arange(64, dtype=np.uint8)
    options = {
        "width": 16, "channel_bits": (8,) * 4, "channel_kind": ChannelKind.UNSIGNED, "normalized_float": True,
    }  # fmt: skip
    arguments = ["out=f32[20]", "t=9", "raw=i32[20]"]
    memory = launch(kernels["colours"], arguments, {9: (pixels, options)}, {}, (20,))
    rows = pixels.reshape(16, 4)[np.minimum(np.arange(20), 15)] / 255
    assert memory.array("out") == pytest.approx(rows @ [1, 2, 4, 8], rel=1e-6)
    assert memory.array("raw")[:16].tolist() == pixels.reshape(16, 4)[:, 1].tolist()
    assert not memory.array("raw")[16:].any()


@pytest.mark.toolchain
def test_layers_lie_one_behind_the_other(kernels):
    image = np.arange(32, dtype=np.float32).reshape(2, 4, 4)
    options = {"width": 4, "height": 4, "depth": 2, "pitch": 16, "slice_pitch": 64}
    memory = launch(kernels["layers"], ["out=f32[16]", "t=1"], {1: (image, options)}, {}, (16,))
    i = np.arange(16)
    assert (memory.array("out") == image[i & 1, i // 4, i % 4]).all()


@pytest.mark.toolchain
def test_surfaces_are_read_and_written_within_their_edges(kernels):
    first, second = np.arange(32, dtype=np.float32).reshape(4, 8), np.zeros((4, 8), np.float32)
    options = {"width": 8, "height": 4, "pitch": 32}
    textures = {3: (first, options), 4: (second, options)}
    memory = launch(kernels["shift"], ["from=3", "to=4"], textures, {}, (10, 5))
    wanted = np.zeros((4, 8), np.float32)
    wanted[:, 1:] = first[:, :-1] + 1
    assert (memory.array("texture 4").reshape(4, 8) == wanted).all()


def test_gathers_give_the_four_neighbours():
    image = np.arange(16, dtype=np.float32).reshape(4, 4)
    texture = Texture(0, 4, 4, pitch=16)
    found = gather(texture, image.reshape(-1).view(np.uint8), [np.array([2.0]), np.array([1.0])], 0, None)
    assert found[:, 0].tolist() == [image[1, 1], image[1, 2], image[0, 2], image[0, 1]]
