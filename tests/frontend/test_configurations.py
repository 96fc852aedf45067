"""Configurations are compiled by the quicker compiler where it makes the same machine code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from warpwatt.core.errors import CompileError
from warpwatt.frontend import configurations
from warpwatt.frontend.compilation import compile_cuda
from warpwatt.frontend.compiled import Compiled, Source
from warpwatt.frontend.configurations import COMPARED, compile_configuration, same_code
from warpwatt.frontend.options import CompileOptions, Compiler
from warpwatt.frontend.toolkits import for_target

TARGET = "sm_90"
TEXT = "__global__ void f(float* x) { for (int i = 0; i < N; ++i) x[threadIdx.x] += i; }"


def asked(
    monkeypatch: pytest.MonkeyPatch, times: int, *, same: bool, refuses: bool = False
) -> tuple[list[str], list[Compiled]]:
    """Return which compilers were asked for some configurations of one source, and what was returned."""
    monkeypatch.setattr(configurations, "_FAMILIES", {})
    monkeypatch.setattr(configurations, "same_code", lambda *_: same)
    choice, calls = for_target(TARGET, ""), list[str]()

    def nvcc() -> Compiled:
        calls.append("nvcc")
        return Compiled(TARGET, "nvcc")

    def nvrtc() -> Compiled:
        calls.append("nvrtc")
        if refuses:
            raise CompileError("no")
        return Compiled(TARGET, "nvrtc")

    found = [
        compile_configuration(Source("x.cu", b""), choice, CompileOptions(defines=(f"N={n}",)), nvcc, nvrtc)
        for n in range(times)
    ]
    return calls, found


def test_nvrtc_is_trusted_when_it_made_the_same(monkeypatch: pytest.MonkeyPatch):
    calls, found = asked(monkeypatch, COMPARED + 2, same=True)
    assert calls == ["nvrtc", "nvcc"] * COMPARED + ["nvrtc"] * 2
    assert [one.toolkit for one in found] == ["nvcc"] * COMPARED + ["nvrtc"] * 2
    assert "NVRTC" in found[-1].warnings[0]


def test_nvcc_compiles_where_they_differ(monkeypatch: pytest.MonkeyPatch):
    calls, found = asked(monkeypatch, 3, same=False)
    assert calls == ["nvrtc", "nvcc", "nvcc", "nvcc"]
    assert {one.toolkit for one in found} == {"nvcc"}


def test_nvcc_compiles_what_nvrtc_refuses(monkeypatch: pytest.MonkeyPatch):
    calls, _ = asked(monkeypatch, 3, same=True, refuses=True)
    assert calls == ["nvrtc", "nvcc", "nvcc", "nvcc"]


@pytest.mark.toolchain
def test_machine_code_is_compared_kernel_by_kernel():
    source = Source("f.cu", TEXT.encode(), None)
    choice = for_target(TARGET, "")
    options = CompileOptions(defines=("N=3",), compiler=Compiler.NVRTC)
    three = compile_cuda(source, choice, options)
    named = Source("f.cu", b"// a comment more\n" + TEXT.encode(), None)
    assert same_code(three.cubin, compile_cuda(named, choice, options).cubin)
    four = compile_cuda(source, choice, replace(options, defines=("N=4",)))
    assert not same_code(three.cubin, four.cubin)


@pytest.mark.toolchain
def test_a_configuration_has_the_code_of_nvcc(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(configurations, "_FAMILIES", {})
    monkeypatch.setattr(configurations, "COMPARED", 1)
    source, choice = Source("f.cu", TEXT.encode(), None), for_target(TARGET, "")
    for number in range(2):
        options = CompileOptions(defines=(f"N={number + 2}",), compiler=Compiler.CONFIGURATION)
        found = compile_cuda(source, choice, options)
    exact = compile_cuda(source, choice, replace(options, compiler=Compiler.AUTO))
    assert "NVRTC" in found.warnings[0]
    assert same_code(exact.cubin, found.cubin)
    assert found.resources == exact.resources
