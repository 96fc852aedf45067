"""Both compilers and the cache in front of them, on one small file."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from warpwatt.core.errors import CompileError, InputError, ToolchainError
from warpwatt.frontend import compilation, cuda, nvrtc, toolchain
from warpwatt.frontend.compilation import assemble_ptx, compile_cuda
from warpwatt.frontend.compiled import Compiled, Source
from warpwatt.frontend.options import CompileOptions, Compiler
from warpwatt.frontend.toolkits import ToolkitChoice, for_target

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.toolchain
COMPILERS = [Compiler.NVCC, Compiler.NVRTC]


@pytest.fixture
def choice() -> ToolkitChoice:
    return for_target("sm_90")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_ptx_cubin_resources_and_names(saxpy_source: Source, choice: ToolkitChoice, compiler: Compiler):
    made = compile_cuda(saxpy_source, choice, CompileOptions(compiler=compiler))
    assert made.cubin.startswith(b"\x7fELF")
    assert ".target sm_90" in made.ptx
    assert "saxpy.cu" in made.ptx  # line information
    assert made.toolkit == choice.toolkit.version
    assert len(made.resources) == 2
    assert made.parameters == {"saxpy": ("n", "a", "x", "y"), "total": ("pair", "in", "out")}
    total = next(r for name, r in made.resources.items() if "total" in name)
    assert (total.static_shared, total.max_threads, total.barriers) == (512, 128, 1)
    assert 0 < total.registers < 64


@pytest.mark.parametrize("compiler", COMPILERS)
def test_options_reach_the_compiler(tmp_path: Path, choice: ToolkitChoice, compiler: Compiler):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "size.h").write_text("#define SIZE 96\n")
    body = b"__shared__ NAME s[SIZE]; s[threadIdx.x] = x[0]; x[1] = s[3];"
    text = b"#include <size.h>\n__global__ void k(NAME *x) { " + body + b" }"
    source = Source("k.cu", text, tmp_path / "k.cu")
    (tmp_path / "k.cu").write_bytes(text)
    options = CompileOptions(
        defines=("NAME=double",),
        include=(str(tmp_path / "far"),),
        flags=("--use_fast_math",),
        compiler=compiler,
    )
    made = compile_cuda(source, choice, options)
    assert [r.static_shared for r in made.resources.values()] == [96 * 8]
    assert any("size.h" in file for file in made.dependencies)


MANY_VALUES = b"""
__global__ void k(float *x) {
    float a[64];
    for (int i = 0; i < 64; ++i) a[i] = x[i * 9];
    __syncthreads();
    for (int i = 0; i < 64; ++i) x[i * 7] = a[63 - i] * a[i];
}
"""


def test_register_limit(choice: ToolkitChoice):
    free = compile_cuda(Source("k.cu", MANY_VALUES), choice, CompileOptions())
    tight = compile_cuda(Source("k.cu", MANY_VALUES), choice, CompileOptions(max_registers=24))
    assert next(iter(free.resources.values())).registers > 24
    (resources,) = tight.resources.values()
    assert resources.registers <= 24
    assert resources.spill_stores > 0
    assert resources.local > 0


@pytest.mark.parametrize("compiler", COMPILERS)
def test_errors_name_the_line(tmp_path: Path, choice: ToolkitChoice, compiler: Compiler):
    file = tmp_path / "bad.cu"
    file.write_text(
        "__global__ void ok() {}\n\n__global__ void bad(int *x) { x[0] = nothing; }\nint main() {}\n"
    )
    with pytest.raises(CompileError, match='identifier "nothing" is undefined') as caught:
        compile_cuda(Source("bad.cu", file.read_bytes(), file), choice, CompileOptions(compiler=compiler))
    assert (caught.value.file, caught.value.line) == ("bad.cu", 3)
    assert "x[0] = nothing" in caught.value.details
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_missing_header_is_named(choice: ToolkitChoice, compiler: Compiler):
    source = Source("<stdin>", b'#include "no_such.h"\n__global__ void k(Thing x) {}')
    with pytest.raises(CompileError, match=r"no_such\.h") as caught:
        compile_cuda(source, choice, CompileOptions(compiler=compiler))
    assert caught.value.line == 1
    assert "-I" in caught.value.hint


def test_the_users_own_architecture_flag(choice: ToolkitChoice):
    source = Source(
        "k.cu", b"__global__ void k(int *x) {\n#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n*x = 1;\n#endif\n}"
    )
    for compiler in COMPILERS:
        options = CompileOptions(flags=("-arch=sm_90a",), compiler=compiler)
        made = compile_cuda(source, choice, options)
        assert made.target == "sm_90a"
        assert "st.global" in made.ptx
    with pytest.raises(InputError, match="does not fit sm_90"):
        compile_cuda(source, choice, CompileOptions(flags=("-arch=sm_80",)))


def test_nvrtc_says_what_it_leaves_out(choice: ToolkitChoice):
    source = Source("k.cu", b"__global__ void k() {}")
    options = CompileOptions(flags=("-O3", "-Xcompiler=-Wall", "-std=c++20"), compiler=Compiler.NVRTC)
    warnings = compile_cuda(source, choice, options).warnings
    assert "NVRTC does not know -O3 -Xcompiler=-Wall: left out" in warnings


def test_flags_the_compiler_does_not_know(choice: ToolkitChoice):
    with pytest.raises(CompileError, match="no-such"):
        compile_cuda(Source("k.cu", b"__global__ void k() {}"), choice, CompileOptions(flags=("--no-such",)))


def test_time_limit(saxpy_source: Source, choice: ToolkitChoice):
    with pytest.raises(ToolchainError, match="did not finish"):
        compile_cuda(saxpy_source, choice, CompileOptions(timeout=0.01))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the compilations that really ran."""
    ran: list[str] = []
    real = cuda.compile_nvcc

    def count(source: Source, *rest: object) -> Compiled:
        ran.append(source.name)
        return real(source, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(cuda, "compile_nvcc", count)
    return ran


def test_the_cache_returns_the_same(saxpy_source: Source, choice: ToolkitChoice, counted: list[str]):
    first = compile_cuda(saxpy_source, choice, CompileOptions())
    second = compile_cuda(saxpy_source, choice, CompileOptions())
    assert counted == ["saxpy.cu"]
    assert (first.ptx, first.cubin, first.resources) == (second.ptx, second.cubin, second.resources)
    assert (first.parameters, first.toolkit) == (second.parameters, second.toolkit)
    compile_cuda(saxpy_source, choice, CompileOptions(cached=False))
    assert len(counted) == 2


def test_a_strangers_source_is_compiled_once_in_a_process(
    saxpy_source: Source, choice: ToolkitChoice, monkeypatch: pytest.MonkeyPatch
):
    """A request names the kernels of its source one by one; another source, or option, is another."""
    ran, real = [], nvrtc.compile_nvrtc

    def counted(*given: object) -> Compiled:
        ran.append(given)
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(nvrtc, "compile_nvrtc", counted)
    options = CompileOptions(untrusted=True, cached=False)
    text = f"{saxpy_source.text}// {os.urandom(8).hex()}".encode()
    for data, asked in ((text, options), (text, options), (text + b"\n", options)):
        compile_cuda(Source("kernel.cu", data), choice, asked)
    assert len(ran) == 2
    compile_cuda(Source("kernel.cu", text), choice, replace(options, defines=("X=1",)))
    assert len(ran) == 3
    assert len(compilation._ONCE) <= compilation.MOST_ONCE


def test_whatever_matters_is_part_of_the_key(saxpy_source: Source, choice: ToolkitChoice):
    def key(**changed: object) -> str:
        options = CompileOptions(**changed)  # type: ignore[arg-type]
        return compilation._key("cuda", Compiler.NVCC, saxpy_source, choice, options)

    keys = [
        key(),
        key(compiler=Compiler.NVCC),
        key(defines=("A",)),
        key(include=("a",)),
        key(flags=("-G",)),
        key(max_registers=8),
    ]
    other = Source("saxpy.cu", saxpy_source.data + b"\n", saxpy_source.path)
    keys += [
        compilation._key("cuda", Compiler.NVCC, other, choice, CompileOptions()),
        compilation._key("cuda", Compiler.NVRTC, saxpy_source, choice, CompileOptions()),
        compilation._key("cuda", Compiler.NVCC, saxpy_source, for_target("sm_80"), CompileOptions()),
    ]
    assert len(set(keys)) == len(keys)
    assert key(timeout=1.0, memory=2**30) == key()


def test_an_edited_header_invalidates(tmp_path: Path, choice: ToolkitChoice, counted: list[str]):
    header, file = tmp_path / "inner.cuh", tmp_path / "k.cu"
    (tmp_path / "outer.cuh").write_text('#include "inner.cuh"\n')
    header.write_text("#define SIZE 32\n")
    kernel = "__global__ void k(int *x) { __shared__ int s[SIZE]; s[*x] = 1; x[1] = s[x[2]]; }"
    file.write_text(f'#include "outer.cuh"\n{kernel}')
    source, sizes = Source("k.cu", file.read_bytes(), file), []
    status = header.stat()
    for text in ("#define SIZE 32\n", "#define SIZE 64\n", "#define SIZE 64\n"):
        header.write_text(text)
        os.utime(header, ns=(status.st_atime_ns, status.st_mtime_ns))  # same size, same time: content decides
        made = compile_cuda(source, choice, CompileOptions())
        sizes += [r.static_shared for r in made.resources.values()]
    assert sizes == [128, 256, 256]
    assert len(counted) == 2
    header.unlink()
    with pytest.raises(CompileError):
        compile_cuda(source, choice, CompileOptions())


def test_nvrtc_takes_over_without_a_host_compiler(
    fresh_tools, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, saxpy_source: Source
):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    made = compile_cuda(saxpy_source, for_target("sm_90"), CompileOptions())
    assert len(made.resources) == 2
    assert "host code left out" in made.warnings[0]


HEADER_WITH_HOST_CODE = """\
#pragma once
#include <iostream>
#include <map>
inline void print(const std::map<int, int> &m) { std::cout << m.size(); }
std::map<int, int> table;
__device__ float twice(float x) { return 2 * x; }
"""


def test_nvrtc_leaves_host_code_out_of_headers_too(tmp_path: Path, choice: ToolkitChoice):
    (tmp_path / "util.h").write_text(HEADER_WITH_HOST_CODE)
    text = b'#include "util.h"\n#include <cuda_runtime.h>\n__global__ void k(float *x) { *x = twice(*x); }\n'
    made = nvrtc.compile_nvrtc(
        Source("k.cu", text, tmp_path / "k.cu"), "sm_90", choice.toolkit, CompileOptions()
    )
    assert list(made.resources) == ["_Z1kPf"]


def test_nvrtcs_headers_that_include_each_other_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Those that know NVRTC are left to it, but what they include is looked through."""
    read: list[str] = []

    def device_words(text: str) -> set[str]:
        read.append(text)
        assert len(read) < 9, "read again and again"
        return set()

    monkeypatch.setattr("warpwatt.frontend.hostcode.device_words", device_words)
    (tmp_path / "include").mkdir()
    for name, other in (("a.h", "../include/b.h"), ("b.h", "../include/a.h")):
        (tmp_path / "include" / name).write_text(f'#ifdef __CUDACC_RTC__\n#endif\n#include "{other}"\n')
    source = Source("k.cu", b'#include "include/a.h"\n__global__ void k() {}', tmp_path / "k.cu")
    texts = nvrtc._read(source, CompileOptions())
    assert (list(texts.texts), texts.headers) == ([str(tmp_path / "k.cu")], {})


def test_nvrtc_takes_missing_headers_for_empty(choice: ToolkitChoice):
    text = b'#include "gui.h"\n#include <GL/no_such.h>\n__global__ void k(float *x) { *x = 1; }\n'
    options = CompileOptions(compiler=Compiler.NVRTC)
    made = compile_cuda(Source("k.cu", text), choice, options)
    assert "header gui.h not found: taken for empty" in made.warnings
    with pytest.raises(CompileError, match=r"gui\.h"):  # the cause, not what follows from it
        compile_cuda(Source("k.cu", text + b"__global__ void g(Gui *x) {}"), choice, options)


WITH_CUBLAS = b"""\
#include <cublas_v2.h>
static cublasHandle_t handle;
typedef __nv_bfloat16 real;
__global__ void k(real *x) { *x = real(M_PI * float(*x)); }
void multiply() { cublasCreate(&handle); }
"""


def test_a_file_that_uses_cublas_compiles_without_it(choice: ToolkitChoice):
    made = compile_cuda(Source("k.cu", WITH_CUBLAS), choice, CompileOptions())
    assert list(made.resources) == ["_Z1kP13__nv_bfloat16"]
    if any("host code refused" in text for text in made.warnings):  # where its wheel is not installed
        assert "header cublas_v2.h not found: taken for empty" in made.warnings


def test_a_flag_that_nvcc_asks_for_is_given(choice: ToolkitChoice):
    text = b"constexpr int twice(int x) { return 2 * x; }\n__global__ void k(int *x) { *x = twice(*x); }\n"
    made = compile_cuda(Source("k.cu", text), choice, CompileOptions(compiler=Compiler.NVCC))
    assert list(made.resources) == ["_Z1kPi"]
    assert "compiled with --expt-relaxed-constexpr, which nvcc asks for" in made.warnings


@pytest.mark.parametrize("compiler", [Compiler.NVCC, Compiler.NVRTC])
def test_code_for_nvcc_is_compiled_as_such(choice: ToolkitChoice, compiler: Compiler):
    text = b"#ifdef __NVCC__\n__global__ void k(int *x) { *x = 1; }\n#endif\n"
    made = compile_cuda(Source("k.cu", text), choice, CompileOptions(compiler=compiler))
    assert list(made.resources) == ["_Z1kPi"]


@pytest.mark.parametrize("first", [0, 1])
def test_integer_types_of_the_host_and_of_cuda_agree_in_any_order(choice: ToolkitChoice, first: int):
    headers = ["#include <stdint.h>\n", "#include <cuda/std/cstdint>\n"]
    text = headers[first] + headers[1 - first] + "__global__ void k(uint64_t *x) { *x = INT64_MAX; }\n"
    made = compile_cuda(Source("k.cu", text.encode()), choice, CompileOptions(compiler=Compiler.NVRTC))
    assert list(made.resources) == ["_Z1kPy"]
    assert not [line for line in made.warnings if "INT64_MAX" in line]


def test_a_header_that_turns_up_later_is_read(tmp_path: Path, choice: ToolkitChoice):
    file = tmp_path / "k.cu"
    file.write_text('#include "late.h"\n__global__ void k(int *x) {\n#ifdef LATE\n*x = 1;\n#endif\n}\n')
    source, options = Source("k.cu", file.read_bytes(), file), CompileOptions(compiler=Compiler.NVRTC)
    assert "st.global" not in compile_cuda(source, choice, options).ptx
    (tmp_path / "late.h").write_text("#define LATE\n")
    assert "st.global" in compile_cuda(source, choice, options).ptx


@pytest.mark.parametrize("compiler", [Compiler.NVCC, Compiler.NVRTC])
def test_a_header_that_is_found_earlier_is_read(tmp_path: Path, choice: ToolkitChoice, compiler: Compiler):
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
    (folders[1] / "size.h").write_text("#define SIZE 32\n")
    file = tmp_path / "k.cu"
    file.write_text('#include "size.h"\n__global__ void k(int *x) { x[SIZE] = 1; }\n')
    source = Source("k.cu", file.read_bytes(), file)
    options = CompileOptions(compiler=compiler, include=tuple(map(str, folders)))
    assert "+128]" in compile_cuda(source, choice, options).ptx
    (folders[0] / "size.h").write_text("#define SIZE 64\n")
    assert "+256]" in compile_cuda(source, choice, options).ptx
    (tmp_path / "size.h").write_text("#define SIZE 128\n")
    assert "+512]" in compile_cuda(source, choice, options).ptx


def test_nvrtc_makes_named_instances(choice: ToolkitChoice):
    source = Source("k.cu", b"template <class T> __global__ void k(T *x) { *x = T(1); }")
    options = CompileOptions(instantiate=("k<float>", "k<double>"))
    made = nvrtc.compile_nvrtc(source, "sm_90", choice.toolkit, options)
    assert sorted(made.resources) == ["_Z1kIdEvPT_", "_Z1kIfEvPT_"]
    with pytest.raises(CompileError):
        nvrtc.compile_nvrtc(source, "sm_90", choice.toolkit, CompileOptions(instantiate=("nothing<int>",)))


def test_a_crash_of_nvrtc_is_an_error(tmp_path: Path, choice: ToolkitChoice):
    broken = tmp_path / "libnvrtc.so.13"
    broken.write_bytes(b"not a library")
    toolkit = toolchain.Toolkit("13.0.0", tmp_path, nvrtc=broken)
    with pytest.raises(ToolchainError, match="NVRTC 13"):
        nvrtc.compile_nvrtc(Source("k.cu", b"__global__ void k() {}"), "sm_90", toolkit, CompileOptions())


def test_ptx_that_ptxas_refuses_has_no_resources(choice: ToolkitChoice):
    ptx = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { no.such.thing; ret; }\n"
    made = assemble_ptx(Source("k.ptx", ptx), choice, CompileOptions())
    assert made.cubin == b""
    assert made.resources == {}
    assert "assumed" in made.warnings[0]
    good = assemble_ptx(Source("k.ptx", ptx.replace(b"no.such.thing; ", b"")), choice, CompileOptions())
    assert list(good.resources) == ["k"]
    assert good.warnings == ()


def test_broken_host_code_does_not_hide_the_kernels(choice: ToolkitChoice):
    text = b"__global__ void k(float *x) { *x = 1; }\nint main() { cudaThreadSynchronize(); }\n"
    made = compile_cuda(Source("old.cu", text), choice, CompileOptions())
    assert list(made.resources) == ["_Z1kPf"]
    assert made.warnings[0].startswith("host code refused: old.cu:2:")
    with pytest.raises(CompileError):
        compile_cuda(Source("old.cu", text), choice, CompileOptions(compiler=Compiler.NVCC))


VALUES = {
    "1 + 2": 3,
    "(1 + 2) * 3": 9,
    "(int)sizeof(float)": 4,
    "Pair<int, float>::value": 2,
    "'A'": 65,
    "length(\"a 'b', c\")": 9,
    r'length("\"\\")': 3,
    "5 // $HOME `id` $(id)": 5,
    "1 << 4 | 3 & 1": 17,
    "": 0,
}
"""Values of definitions, as a C preprocessor takes them, and what each with ``+ 0`` behind it comes to."""
OF_DEFINES = """\
template <typename T, typename U> struct Pair { enum { value = 2 }; };
template <int N> __device__ constexpr int length(const char (&)[N]) { return N; }
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_definitions_reach_the_preprocessor_as_they_are(choice: ToolkitChoice, compiler: Compiler):
    defines = [f"V{number}={value}" for number, value in enumerate(VALUES)]
    kernels = [f"__global__ void k{i}(int *x) {{ *x = V{i} + 0; }}\n" for i in range(len(VALUES))]
    text = OF_DEFINES + "".join(kernels) + "__global__ void m(int *x) { *x = SUM(P, 1); }\n"
    options = CompileOptions(defines=(*defines, "P", "SUM(a, b)=((a) + (b))"), compiler=compiler)
    made = compile_cuda(Source("k.cu", text.encode()), choice, options)
    stored = [int(found) for found in re.findall(r"mov\.[bu]32\s+%r\d+, (\d+);", made.ptx)]
    assert stored == [*VALUES.values(), 2]
