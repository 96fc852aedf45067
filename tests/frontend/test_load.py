from __future__ import annotations

import io
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from warpwatt.core.errors import CompileError, InputError, KernelSelectionError, ParseError, ToolchainError
from warpwatt.core.program import Level
from warpwatt.frontend import compilation, toolchain
from warpwatt.frontend import load as load_module
from warpwatt.frontend.disassembly import Disassembly, disassemble
from warpwatt.frontend.load import load, load_kernel
from warpwatt.frontend.options import CompileOptions, Compiler
from warpwatt.frontend.toolchain import Toolkit
from warpwatt.isa import sass
from warpwatt.isa.sass import lower, with_architecture

if TYPE_CHECKING:
    from pathlib import Path

    from warpwatt.frontend.compiled import Compiled, Source
    from warpwatt.frontend.toolkits import ToolkitChoice

pytestmark = pytest.mark.toolchain
PTX_ONLY = CompileOptions(levels=frozenset({Level.PTX}))

TWO = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry good(.param .u64 p, .param .u32 n)
{
    .reg .b32 %r<9>;
    mov.u32 %r1, %tid.x;
    ret;
}
.visible .entry bad()
.maxntid 64, 2, 1
{
    BODY
    ret;
}
"""

PRODUCT = """
#include <mma.h>
using namespace nvcuda::wmma;
__global__ void product(const half *a, const half *b, float *c) {
    fragment<matrix_a, 16, 16, 16, half, row_major> x;
    fragment<matrix_b, 16, 16, 16, half, col_major> y;
    fragment<accumulator, 16, 16, 16, float> z;
    fill_fragment(z, 0.0f);
    load_matrix_sync(x, a, 16);
    load_matrix_sync(y, b, 16);
    mma_sync(z, x, y, z);
    store_matrix_sync(c, z, 16, mem_row_major);
}
"""


def test_a_cuda_file(saxpy: Path):
    kernels = load(saxpy, "sm_90")
    total, axpy = sorted(kernels, key=lambda kernel: kernel.demangled)
    assert total.demangled == "ns::total(Pair, float const*, float*)"
    assert axpy.demangled == "void saxpy<float, 2>(int, float, float const*, float*)"
    assert [p.source_name for p in total.ptx.parameters] == ["pair", "in", "out"]
    assert [p.size for p in total.ptx.parameters] == [16, 8, 8]
    assert [p.source_name for p in axpy.ptx.parameters] == ["n", "a", "x", "y"]
    for kernel in kernels:
        assert kernel.target == "sm_90"
        assert kernel.source == saxpy
        assert kernel.toolkit == toolchain.installed().version
        assert kernel.warnings == ()
        assert not kernel.resources.assumed
        assert {line.line.line for line in kernel.ptx.instructions if line.line} <= set(range(1, 30))
        assert kernel.sass.level is Level.SASS
        assert kernel.sass.unknown == 0
    again = load(saxpy, "sm_90")
    assert [k.resources for k in again] == [k.resources for k in kernels]
    assert [k.sass.instructions for k in again] == [k.sass.instructions for k in kernels]


def test_one_kernel_by_name(saxpy: Path):
    assert load_kernel(saxpy, "sm_90", PTX_ONLY, "saxpy").resources.static_shared == 0
    assert load_kernel(saxpy, "sm_90", PTX_ONLY, "ns::total").resources.static_shared == 512
    with pytest.raises(KernelSelectionError):
        load_kernel(saxpy, "sm_90", PTX_ONLY)


def test_standard_input(monkeypatch: pytest.MonkeyPatch, saxpy: Path):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(saxpy.read_bytes())))
    kernel = load_kernel("-", "sm_80", PTX_ONLY, "total")
    assert kernel.source is None
    assert kernel.sass is None
    assert kernel.resources.registers > 0


def test_a_ptx_file_is_assembled(tmp_path: Path):
    file = tmp_path / "two.ptx"
    file.write_text(TWO.replace("BODY", ""))
    good, bad = load(file, "sm_90")
    assert (good.name, bad.name) == ("good", "bad")
    assert good.resources.registers > 0
    assert not good.resources.assumed
    assert bad.resources.max_threads == 128
    assert good.sass is not None
    assert good.target == "sm_90"


@pytest.mark.parametrize("target", ["sm_90", "sm_75"])
def test_ptx_that_ptxas_refuses_still_loads(tmp_path: Path, target: str):
    """Once for an instruction no assembler knows, once for PTX newer than the target."""
    file = tmp_path / "two.ptx"
    file.write_text(TWO.replace("BODY", "no.such.instruction;" if target == "sm_90" else ""))
    kernel = load_kernel(file, target, name="bad")
    assert kernel.resources.assumed
    assert kernel.resources.registers > 0
    assert kernel.resources.max_threads == 128
    assert kernel.sass is None
    assert any("assumed" in warning for warning in kernel.warnings)


def test_only_the_kernel_asked_for_is_translated(tmp_path: Path):
    file = tmp_path / "two.ptx"
    file.write_text(TWO.replace("BODY", "mov.u32 {{{;"))
    with pytest.raises(ParseError):
        load(file, "sm_90")
    file.write_text(TWO.replace("BODY", "mov.u32 %undeclared, ;"))
    assert load_kernel(file, "sm_90", PTX_ONLY, "good").ptx.instructions


def test_architecture_features_of_ptx_are_kept(tmp_path: Path):
    file = tmp_path / "two.ptx"
    file.write_text(TWO.replace("BODY", "").replace("sm_80", "sm_90a"))
    kernels = load(file, "sm_90", PTX_ONLY)
    assert not any(kernel.resources.assumed for kernel in kernels)
    assert {kernel.target for kernel in kernels} == {"sm_90"}
    assert load(file, "sm_100", PTX_ONLY)[0].resources.assumed


def test_an_old_target_gets_a_stand_in(saxpy: Path):
    kernel = load_kernel(saxpy, "sm_61", name="total")
    assert (kernel.target, kernel.ptx.target) == ("sm_61", "sm_75")
    assert kernel.resources.assumed
    assert kernel.resources.static_shared == 512
    assert kernel.sass.target == "sm_75"
    assert "--toolkit 12.9" in kernel.warnings[0]


def test_machine_code_nobody_reads_is_replaced_by_that_of_the_oldest_readable_target(
    saxpy: Path, monkeypatch: pytest.MonkeyPatch
):
    """As with toolkit 12.9, which compiles for sm_61 what nvdisasm then refuses."""
    real = compilation.compile_cuda

    def for_pascal(source: Source, choice: ToolkitChoice, options: CompileOptions) -> Compiled:
        return replace(real(source, choice, options), target="sm_61", cubin=b"machine code of sm_61")

    monkeypatch.setattr(load_module, "compile_cuda", for_pascal)
    kernel = load_kernel(saxpy, "sm_61", name="total")
    assert kernel.sass.target == "sm_75"
    assert load_kernel(saxpy, "sm_61", PTX_ONLY, name="total").sass is None


@pytest.fixture
def for_volta(monkeypatch: pytest.MonkeyPatch):
    """As toolkit 12.9, which compiles for sm_70; here to code for sm_75, whose words are the same."""
    real = compilation.compile_cuda

    def compile_for_volta(source: Source, choice: ToolkitChoice, options: CompileOptions) -> Compiled:
        made = real(source, choice, options)
        return replace(made, target="sm_70", cubin=with_architecture(made.cubin, 70))

    monkeypatch.setattr(load_module, "compile_cuda", compile_for_volta)


@pytest.mark.usefixtures("for_volta")
@pytest.mark.parametrize("tables", [True, False])
def test_machine_code_of_volta_is_read_as_that_of_turing(
    saxpy: Path, monkeypatch: pytest.MonkeyPatch, *, tables: bool
):
    turing = load_kernel(saxpy, "sm_75", replace(PTX_ONLY, levels=frozenset(Level)), name="total")
    if not tables:
        monkeypatch.setattr(sass, "known_program", lambda _kernel, _target: None)
    volta = load_kernel(saxpy, "sm_70", CompileOptions(cached=False), name="total")
    assert volta.sass.target == "sm_70"
    assert volta.sass.instructions == turing.sass.instructions
    assert volta.warnings == load_kernel(saxpy, "sm_70", PTX_ONLY, name="total").warnings


@pytest.mark.usefixtures("for_volta")
def test_turing_stands_in_for_the_tensor_cores_of_volta(tmp_path: Path):
    file = tmp_path / "product.cu"
    file.write_text(PRODUCT)
    assert load_kernel(file, "sm_70").sass.target == "sm_75"


def test_missing_refusing_and_crashing_disassembler(tmp_path: Path):
    with pytest.raises(ToolchainError, match="does not start"):
        disassemble(b"", tmp_path / "nvdisasm", PTX_ONLY, 1)
    with pytest.raises(ToolchainError, match="nvdisasm fails"):
        disassemble(b"garbage", toolchain.installed().require("nvdisasm"), PTX_ONLY, 1)
    crash = tmp_path / "crash"
    crash.write_text("#!/bin/sh\nkill -SEGV $$\n")
    crash.chmod(0o755)
    with pytest.raises(ToolchainError, match="nvdisasm fails"):
        disassemble(b"", crash, PTX_ONLY, 1)


def test_targets_whose_machine_code_cannot_be_read_are_warned_about():
    old = Disassembly(b"machine code", "sm_61", CompileOptions())
    assert old.program("k") is None
    assert old.warnings == ("no SASS: that of sm_61 cannot be read",)


def test_without_nvdisasm_there_is_the_machine_code_that_tables_have(
    saxpy: Path, monkeypatch: pytest.MonkeyPatch
):
    real = toolchain.installed()
    bare = Toolkit(real.version, real.root, nvcc=real.nvcc, ptxas=real.ptxas, nvrtc=real.nvrtc)
    monkeypatch.setattr(toolchain, "installed", lambda: bare)
    kernel = load_kernel(saxpy, "sm_90", name="total")
    assert kernel.sass.instructions[-1].opcode == "EXIT"
    assert kernel.warnings == ()


def test_without_nvdisasm_and_tables_there_is_ptx_and_a_warning(saxpy: Path, monkeypatch: pytest.MonkeyPatch):
    real = toolchain.installed()
    bare = Toolkit(real.version, real.root, nvcc=real.nvcc, ptxas=real.ptxas, nvrtc=real.nvrtc)
    monkeypatch.setattr(toolchain, "installed", lambda: bare)
    monkeypatch.setattr(lower, "decode", lambda kernel, sm: None)
    kernel = load_kernel(saxpy, "sm_86", name="total")
    assert kernel.sass is None
    assert any("nvdisasm is missing" in warning for warning in kernel.warnings)
    assert load_kernel(saxpy, "sm_86", PTX_ONLY, "total").warnings == ()


TEMPLATE = """
template <uint BS, typename T = float> __global__ void axpy(T *x) { x[blockIdx.x * BS + threadIdx.x] += 1; }
"""


@pytest.mark.parametrize("compiler", [Compiler.NVCC, Compiler.NVRTC])
def test_a_template_is_compiled_for_the_instance_that_is_named(tmp_path: Path, compiler: Compiler):
    file = tmp_path / "k.cuh"
    file.write_text(TEMPLATE)
    options = CompileOptions(compiler=compiler)
    assert load_kernel(file, "sm_90", options, "axpy<64>").demangled == "void axpy<64u, float>(float*)"
    assert "axpy<32u, double>" in load_kernel(file, "sm_90", options, "axpy<32, double>").demangled
    (tmp_path / "named.cu").write_text(f"namespace {{ namespace mine {{ {TEMPLATE} }} }}")
    assert (
        "mine::axpy<16u, int>"
        in load_kernel(tmp_path / "named.cu", "sm_90", options, "axpy<16,int>").demangled
    )
    missing = tmp_path / "missing.cu"  # which the kernel does not need, and a word on it would not help
    missing.write_text(f'#include "nowhere.h"\n{TEMPLATE}')
    for source in (file, missing)[: 2 if compiler is Compiler.NVRTC else 1]:
        with pytest.raises(CompileError, match=f"--kernel axpy<64, 3>: (?i:.*{compiler})") as refusal:
            load_kernel(source, "sm_90", options, "axpy<64, 3>")
        assert "template <uint BS, typename T = float> axpy(T *x)" in refusal.value.details
        assert "--kernel 'axpy<BS,float>'" in refusal.value.hint


def test_a_file_without_kernels(tmp_path: Path):
    file = tmp_path / "none.cu"
    file.write_text("template <class T> __global__ void k(T x) {}\nint main() {}\n")
    with pytest.raises(InputError, match="no kernel") as caught:
        load(file, "sm_90")
    assert "template" in caught.value.hint
