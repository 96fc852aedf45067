"""What the compiler is asked for, and which programs cannot be run."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from warpwatt.core.errors import CompileError, InputError
from warpwatt.frontend.removed import HEADERS, removed_features
from warpwatt.run.build import check_runtime, compile_program, elf_sections, nvcc_command


def test_linking_takes_our_runtime_and_compiling_does_not():
    words = nvcc_command(["a.cu", "-o", "a", "-cudart", "static", "-lcudart", "-lm"]).words
    assert "-lcudart" not in words
    assert words[words.index("-cudart") + 1] == "shared"
    assert "-lm" in words
    assert not any("cudart" in word for word in nvcc_command(["-c", "a.cu"]).words)
    assert not any("cudart" in word for word in nvcc_command(["--version"]).words)


def test_architectures_that_nvcc_forgot_are_left_out_and_said():
    command = nvcc_command(
        ["-arch=sm_35", "-gencode", "arch=compute_30,code=sm_30", "-arch", "sm_80", "-c", "a.cu"]
    )
    assert command.left_out == ("-arch=sm_35", "-gencode", "arch=compute_30,code=sm_30")
    assert command.words[1:5] == ("-arch", "sm_80", "-c", "a.cu")


def test_headers_that_toolkits_lack_are_found(tmp_path):
    one = tmp_path / "a.cu"
    one.write_text("#include <nvtx3/nvToolsExt.h>\nauto pair() { return thrust::make_tuple(1, 2); }")
    flags = removed_features([one])
    assert flags[2:4] == ["-include", "thrust/tuple.h"]
    (folder,) = (Path(flag[2:]) for flag in flags if flag.startswith("-I"))
    assert (folder / "nvtx3" / "nvToolsExt.h").exists()
    assert "-DCCCL_DISABLE_NVTX" in flags
    assert not (HEADERS / "nvtx3").exists()  # Thrust would use it wherever it finds it
    one.write_text("int main() {}")
    assert removed_features([one]) == ["-include", "warpwatt_removed.h"]


def test_operators_and_base_classes_that_cub_and_thrust_dropped_are_asked_for(tmp_path):
    one = tmp_path / "a.cu"
    (tmp_path / "a.h").write_text("struct S : thrust::unary_function<int, int> {};")
    one.write_text('#include "a.h"\nauto most = cub::Max();')
    assert {"-DWARPWATT_CUB_OPERATORS", "-DWARPWATT_THRUST_BASES"} <= set(removed_features([one]))
    one.write_text("auto most = cub::MaxThings();")
    assert removed_features([one]) == ["-include", "warpwatt_removed.h"]


@pytest.mark.toolchain
def test_functions_of_other_sources_are_named_with_what_to_do(tmp_path):
    one = tmp_path / "a.cu"
    one.write_text("void elsewhere(float *);\nint main() { elsewhere(nullptr); }")
    with pytest.raises(CompileError, match=r"a.cu uses what no source defines") as refused:
        compile_program(one, [], ["sm_90"], tmp_path)
    assert refused.value.details == "  elsewhere(float*)"
    assert "warpwatt run a.cu other.cpp" in refused.value.hint


def elf(**sections: bytes) -> bytes:
    """Return a 64-bit ELF file with sections, names with dots for underscores."""
    names = b"\0" + b"".join(f"{n.replace('_', '.', 1)}\0".encode() for n in [*sections, "_names"])
    contents = [b"", *sections.values(), names]
    data, heads, name = bytearray(64), [], 0
    for k, content in enumerate(contents):
        heads.append(struct.pack("<IIQQQQ", name, 0, 0, 0, len(data), len(content)).ljust(64, b"\0"))
        data += content
        name = names.index(b"\0", name) + 1 if k < len(contents) - 1 else name
    data[:5] = b"\x7fELF\x02"
    struct.pack_into("<Q", data, 0x28, len(data))
    struct.pack_into("<HHH", data, 0x3A, 64, len(heads), len(heads) - 1)
    return bytes(data) + b"".join(heads)


def test_a_runtime_that_is_linked_in_is_refused(tmp_path):
    program = tmp_path / "program"
    message = b"no CUDA-capable device is detected"
    program.write_bytes(elf(_nv_fatbin=b"code", _dynstr=b"\0libc.so.6\0", _rodata=message))
    assert elf_sections(program.read_bytes())[".nv_fatbin"] == b"code"
    with pytest.raises(InputError, match="linked into") as refused:
        check_runtime(program)
    assert "-cudart shared" in refused.value.hint
    program.write_bytes(elf(_nv_fatbin=b"code", _dynstr=b"\0libcudart.so.13\0", _rodata=message))
    check_runtime(program)
    program.write_bytes(elf(_nv_fatbin=b"code", _dynstr=b"\0libc.so.6\0"))  # it loads the driver itself
    check_runtime(program)
    program.write_bytes(elf(_text=b"code"))
    check_runtime(program)


@pytest.mark.toolchain
def test_what_does_not_compile_is_an_error_with_the_compilers_words(tmp_path):
    source = tmp_path / "bad.cu"
    source.write_text("int main() { return x; }\n")
    with pytest.raises(CompileError) as refused:
        compile_program(source, [], ["sm_90"], tmp_path)
    assert '"x" is undefined' in refused.value.details
    with pytest.raises(InputError, match="no such file"):
        compile_program(tmp_path / "none.cu", [], ["sm_90"], tmp_path)


HOPPER = """__global__ void k() { asm volatile("wgmma.fence.sync.aligned;"); }
int main() { k<<<1, 128>>>(); return cudaDeviceSynchronize(); }
"""


@pytest.mark.toolchain
@pytest.mark.parametrize("flags", [[], ["-arch=sm_90a"], ["--gpu-architecture", "sm_90a"]])
def test_a_program_may_need_what_only_its_gpu_has(tmp_path, flags):
    (tmp_path / "a.cu").write_text(HOPPER)
    assert compile_program(tmp_path / "a.cu", flags, ["sm_90"], tmp_path).is_file()


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("flags", "targets", "fix"),
    [
        (["-arch=sm_90"], ["sm_90"], "-arch=sm_90a"),
        ([], ["sm_80"], "sm_80 lacks the instruction"),
        ([], ["sm_90", "sm_100"], "sm_100a lacks the instruction"),
    ],
)
def test_a_gpu_that_lacks_the_instruction_is_named(tmp_path, flags, targets, fix):
    (tmp_path / "a.cu").write_text(HOPPER)
    with pytest.raises(CompileError) as refused:
        compile_program(tmp_path / "a.cu", flags, targets, tmp_path)
    assert fix in refused.value.hint


def test_modes_that_make_one_code_keep_their_architecture():
    for flags in (["-cubin", "-arch=sm_90a", "a.cu"], ["-arch=compute_90a", "-code=sm_90a", "a.cu"]):
        assert nvcc_command(flags).words[1 : 1 + len(flags)] == tuple(flags)
