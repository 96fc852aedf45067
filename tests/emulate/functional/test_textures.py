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
from warpwatt.emulate.lift import lift
from warpwatt.emulate.run import Stop
from warpwatt.emulate.textures import AddressMode, ChannelKind, Texture
from warpwatt.frontend.load import load
from warpwatt.isa.ptx import lower, parse
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


@lru_cache(maxsize=8)
def one_fetch(instruction: str):
    """A kernel with one fetch: coordinates x, y and z, four channels to ``out``."""
    parameters = ", ".join(f".param .u64 {name}" for name in ("out", "t", "x", "y", "z"))
    loads = "".join(
        f"ld.param.u64 %a, [{axis}]; add.s64 %a, %a, %l; ld.global.f32 %{axis}, [%a];\n" for axis in "xyz"
    )
    text = (
        f".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k({parameters}) {{\n"
        ".reg .b64 %a, %l, %t; .reg .b32 %i; .reg .f32 %x, %y, %z, %c<4>;\n"
        "mov.u32 %i, %tid.x; mul.wide.u32 %l, %i, 4; ld.param.u64 %t, [t];\n"
        f"{loads}{instruction}\n"
        "ld.param.u64 %a, [out]; mul.wide.u32 %l, %i, 16; add.s64 %a, %a, %l;\n"
        "st.global.v4.f32 [%a], {%c0, %c1, %c2, %c3}; ret; }\n"
    )
    program = lower(parse(text), "k")
    return lift(program), program.parameters


def fetched(instruction, array, where, **options):
    """What one warp fetches with an instruction: four channels of each lane."""
    routine, parameters = one_fetch(instruction)
    names = ("x", "y", "z")[: len(where)]
    given = parse_arguments(["out=f32[128]:zeros", "t=1", *(f"{name}=f32[32]:zeros" for name in "xyz")])
    arrays = {name: np.array(values, np.float32) for name, values in zip(names, where, strict=True)}
    launch = Launch(Dim3(1), Dim3(32), arguments=given)
    context, memory = load_launch(bind(routine.program, launch, parameters), arrays=arrays)
    memory.textures[1] = Texture(memory.place("texture", array), **options)
    assert execute(routine, context, memory).stop is Stop.DONE
    return memory.array("out").reshape(32, 4)


INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32")
FETCHES = {
    1: "tex.1d.v4.f32.f32 {%c0, %c1, %c2, %c3}, [%t, {%x}];",
    2: "tex.2d.v4.f32.f32 {%c0, %c1, %c2, %c3}, [%t, {%x, %y}];",
    3: "tex.3d.v4.f32.f32 {%c0, %c1, %c2, %c3}, [%t, {%x, %y, %z, %z}];",
}


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
        np.array([random.uniform(-1.5, 2.5) * (1 if normalized else n) for _ in range(32)], np.float32)
        for n in extents
    ]
    width, height, depth = (*extents, 1, 1)[:3]
    found = fetched(
        FETCHES[dimensions], array, where, width=width, height=height, depth=depth,
        pitch=array.strides[-2] if dimensions > 1 else 0,
        slice_pitch=array.strides[0] if dimensions > 2 else 0,
        address_modes=(mode,) * 3, border=(7.0,) * 4, linear_filter=linear, normalized_coordinates=normalized,
    )  # fmt: skip
    for lane in range(32):
        at = [float(x[lane]) for x in where]
        wanted = expected(array, at, mode, linear=linear, normalized=normalized, border=7.0)
        assert found[lane, 0] == pytest.approx(wanted)


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
    gather = "tld4.r.2d.v4.f32.f32 {%c0, %c1, %c2, %c3}, [%t, {%x, %y}];"
    found = fetched(gather, image, [[2.0] * 32, [1.0] * 32], width=4, height=4, pitch=16)
    assert found[0].tolist() == [image[1, 1], image[1, 2], image[0, 2], image[0, 1]]


@pytest.mark.parametrize(
    "kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32"]
)
def test_channels_of_every_type(kind):
    """Integers as parts of the greatest one (same guide, "Texture Fetching"), the least not below -1."""
    dtype = np.dtype(kind)
    values = np.array([0, 1, -1 if dtype.kind != "u" else 3, 100] * 2, dtype)
    kinds = {"i": ChannelKind.SIGNED, "u": ChannelKind.UNSIGNED, "f": ChannelKind.FLOAT}
    found = fetched(
        FETCHES[1], values, [np.arange(32) + 0.5], width=4, channel_bits=(8 * dtype.itemsize,) * 2,
        channel_kind=kinds[dtype.kind], normalized_float=True,
    )  # fmt: skip
    greatest = 1 if dtype.kind == "f" else np.iinfo(dtype).max
    wanted = values.reshape(4, 2) / greatest
    assert found[:4, :2] == pytest.approx(np.maximum(wanted, -1), rel=1e-6)
    assert not found[:4, 2:].any()


def test_faces_of_a_cube():
    """The directions of the axes lead to the middles of the faces (same guide, "Cubemap Textures")."""
    faces = np.repeat(np.arange(6, dtype=np.float32), 9).reshape(6, 3, 3)
    axes = np.concatenate([sign * np.eye(3)[axis : axis + 1] for axis in range(3) for sign in (1, -1)])
    fetch = "tex.cube.v4.f32.f32 {%c0, %c1, %c2, %c3}, [%t, {%x, %y, %z, %z}];"
    where = [np.resize(axes[:, axis], 32) for axis in range(3)]
    found = fetched(
        fetch, faces, where, width=3, height=3, depth=6, pitch=12, slice_pitch=36,
        normalized_coordinates=True,
    )  # fmt: skip
    assert found[:6, 0].tolist() == [0, 1, 2, 3, 4, 5]
