"""Triton functions compiled without a GPU; Triton's own binder is the oracle of the specialisation."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

import pytest

import warpwatt
from warpwatt.core.errors import ArgumentError, CompileError, UnsupportedGpuError, UsageError
from warpwatt.request.triton import compiled, is_function, specialised, unwrapped

kernels = pytest.importorskip("tests.integrations.triton_kernels", reason="Triton is not installed")
pytestmark = [pytest.mark.toolchain, pytest.mark.filterwarnings("ignore:.*FP_FUSION.*")]

ADD = {"x": "f32[n]", "y": "f32[n]", "out": "f32[n]", "n": 2**20, "BLOCK": 1024}
MATMUL = {"a": "f16[M*K]", "b": "f16[K*N]", "c": "f16[M*N]", "M": 1024, "N": 1024, "K": 1024}
TILED = {**MATMUL, "BM": 64, "BN": 64, "BK": 32}
WORDS = dict.fromkeys(("x", "y", "out"), "f32[64]")


def test_functions_are_recognised_without_importing_triton():
    assert is_function(kernels.add)
    assert is_function(kernels.tuned_matmul)
    assert is_function(kernels.with_heuristics)
    assert not is_function(SimpleNamespace(asm={}))
    assert not is_function(len)


@pytest.mark.parametrize("whole", [1, 0, 8, 15, 16, -16, 2**31 - 1, 2**31, 2**40, 2**63, True])
@pytest.mark.parametrize("share", [0.5, 1.0, 16])
def test_specialisation_is_tritons_own(whole, share):
    """The same types, constants and alignments as Triton's binder finds for a real launch."""
    jit, compiler = import_module("triton.runtime.jit"), import_module("triton.compiler.compiler")
    backend = compiler.make_backend(import_module("triton.backends.compiler").GPUTarget("cuda", 80, 32))
    function = kernels.specialised
    values = {"whole": whole, "odd": whole, "plain": whole, "share": share, "flag": False}
    values |= {"wide": 32, "half": 1.0, "none": None, "C": 7}
    binder = jit.create_function_from_signature(function.signature, function.params, backend)
    tensor = jit.MockTensor("fp32")
    _, found, _ = binder(pointer=tensor, near=tensor, **values)
    expected = {p.name: (kind, key) for p, (kind, key) in zip(function.params, found, strict=True)}
    signature, constants, attributes = specialised(
        function, {**values, "pointer": "f32[64]", "near": "f32[64]"}
    )
    assert signature == {name: kind for name, (kind, _) in expected.items()}
    aligned = {p.name for p in function.params if (p.num,) in attributes}
    named = {name for name, (kind, key) in expected.items() if kind != "constexpr" and key == "D"}
    assert aligned == named
    for name in constants:
        assert signature[name] == "constexpr"
    assert backend.parse_attr("D") == attributes[(0,)]


def test_buffers_of_eight_bit_floats_are_tritons_types():
    tensor = SimpleNamespace(dtype="torch.float8_e4m3fn", shape=(64,))
    values = {**ADD, "x": "e5m2[64]", "y": tensor, "n": 64}
    signature, _, _ = specialised(kernels.add, values)
    assert (signature["x"], signature["y"], signature["out"]) == ("*fp8e5", "*fp8e4nv", "*fp32")


@pytest.mark.parametrize("gpu", ["a100", "t4", "v100", "rtx4090"])
def test_addition_streams(gpu):
    """Three buffers through DRAM, once: never faster than its bandwidth, nowhere near twice as slow."""
    args = {**ADD, "n": 2**24}
    p = warpwatt.predict(kernels.add, gpu=gpu, grid=lambda v: v["n"] // v["BLOCK"], args=args)
    floor = 12 * 2**24 / p.case.gpu.memory_bandwidth
    assert floor < p.time.value < 1.7 * floor
    assert p.case.workload.dram.total == pytest.approx(12 * 2**24, rel=0.05)
    assert p.case.launch.block.count == 128  # four warps, Triton's default


@pytest.mark.parametrize("name", ["softmax", "layer_norm"])
def test_row_kernels_stream(name):
    rows, columns = 4096, 2048
    args: dict[str, object] = {"x": f"f32[{rows}*columns]", "columns": columns, "BLOCK": 2048, "num_warps": 8}
    if name == "softmax":
        args |= {"out": f"f32[{rows}*columns]"}
    else:
        args |= {"y": f"f32[{rows}*columns]", "weight": "f32[columns]", "bias": "f32[columns]", "eps": 1e-5}
    p = warpwatt.predict(getattr(kernels, name), gpu="a100", grid=rows, args=args)
    floor = 8 * rows * columns / p.case.gpu.memory_bandwidth
    assert floor < p.time.value < 1.7 * floor
    assert p.case.launch.block.count == 256


@pytest.mark.parametrize(("gpu", "peak"), [("a100", 312e12), ("h200", 989e12), ("b200", 2250e12)])
def test_matrix_multiplication_by_the_tensor_cores(gpu, peak):
    """By mma, wgmma and tcgen05; peaks of the data sheets: dense FP16 with FP32 accumulation."""
    p = warpwatt.predict(kernels.matmul, gpu=gpu, grid=(16, 16), args=TILED)
    assert p.case.workload.execution.flops == pytest.approx(2 * 1024**3, rel=0.05)
    assert p.time.value > 2 * 1024**3 / peak
    assert p.time.value < 15 * 2 * 1024**3 / peak
    assert not p.warnings


def test_heuristics_are_followed():
    args = {"x": "f32[64*columns]", "out": "f32[64*columns]", "columns": 1000}
    assert unwrapped(kernels.with_heuristics, args)[1]["BLOCK"] == 1024
    p = warpwatt.predict(kernels.with_heuristics, gpu="a100", grid=64, args=args)
    assert p.time.value > 0


def test_a_compiled_kernel_and_its_ptx_give_the_same():
    made = compiled(kernels.add, ADD, "sm_80")
    passed = {name: value for name, value in ADD.items() if name != "BLOCK"}
    one = warpwatt.predict(kernels.add, gpu="a100", grid=1024, args=ADD)
    two = warpwatt.predict(made, gpu="a100", grid=1024, args=passed)
    assert one.time == two.time
    numbered = {"0": "f32[1048576]", "1": "f32[1048576]", "2": "f32[1048576]", "3": 2**20}
    three = warpwatt.predict(made.asm["ptx"], gpu="a100", grid=1024, block=128, args=numbered)
    assert three.time.value == pytest.approx(one.time.value, rel=0.1)  # our ptxas, not Triton's


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        ({**ADD, "BLOK": 3}, ArgumentError, "no parameter 'BLOK'"),
        ({k: v for k, v in ADD.items() if k != "BLOCK"}, ArgumentError, "needs 'BLOCK'"),
        ({**ADD, "n": "many", **WORDS}, ArgumentError, "no type for 'many'"),
        ({**ADD, "x": "f32[m]"}, ArgumentError, "no number is called 'm'"),
        ({**ADD, "BLOCK": 1000}, CompileError, "Triton refuses add"),
        ({**ADD, "x": SimpleNamespace(dtype="torch.complex64", shape=(4,))}, ArgumentError, "complex64"),
    ],
)
def test_mistakes_are_typed(args, error, text):
    with pytest.raises(error, match=text):
        warpwatt.predict(kernels.add, gpu="a100", grid=1024, args=args)


def test_gpus_that_triton_does_not_know():
    with pytest.raises(UnsupportedGpuError, match="does not compile for sm_35"):
        compiled(kernels.add, ADD, "sm_35")


def test_a_tuned_function_needs_its_parameters():
    with pytest.raises(UsageError, match="BM is tuned: 3 configurations"):
        warpwatt.predict(kernels.tuned_matmul, gpu="a100", grid=(16, 16), args=MATMUL)
    assert warpwatt.predict(kernels.tuned_matmul, gpu="a100", grid=(16, 16), args=TILED).time.value > 0


def test_no_grid():
    with pytest.raises(UsageError, match="grid is not known"):
        warpwatt.predict(kernels.add, gpu="a100", args=ADD)
