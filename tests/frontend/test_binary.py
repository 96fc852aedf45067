"""Binaries: the right code for the target is chosen, and damage is told."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warpwatt.core.errors import InputError, ParseError, UnsupportedGpuError
from warpwatt.frontend import toolchain
from warpwatt.frontend.binary import extract
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.load import load

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
__global__ void first(int *x) { x[threadIdx.x] = 1; }
template <typename T> __global__ void second(T *x) { x[threadIdx.x] += 2; }
int main() { first<<<1, 1>>>(nullptr); second<float><<<1, 1>>>(nullptr); }
"""
NAMES = {"first(int*)", "void second<float>(float*)"}
CODE = ["-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=[sm_90,compute_90]"]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory):
    """Return a function: flags and file name -> what nvcc makes of the source."""
    folder = tmp_path_factory.mktemp("binaries")
    (folder / "two.cu").write_text(SOURCE)

    def make(name: str, *flags: str) -> Path:
        file = folder / name
        if not file.exists():
            nvcc = toolchain.installed().require("nvcc")
            subprocess.run(
                [nvcc, *flags, "-o", file, "two.cu"], cwd=folder, env=toolchain.environment(), check=True
            )
        return file

    return make


@pytest.fixture(scope="module")
def fatbin(build):
    return build("two.fatbin", "-fatbin", *CODE)


@pytest.mark.parametrize(
    ("name", "flags"), [("two.fatbin", ["-fatbin"]), ("two.o", ["-c"]), ("two", ["-cudart=none"])]
)
def test_every_container(build, name, flags):
    if name == "two":
        flags = ["-shared", "-Xcompiler=-fPIC", "-cudart=none"]
    kernels = load(build(name, *flags, *CODE), "sm_90")
    assert {k.demangled for k in kernels} == NAMES
    for kernel in kernels:
        assert kernel.sass.target == "sm_90"
        assert [(p.type, p.pointer) for p in kernel.sass.parameters] == [("u64", True)]
        assert kernel.ptx is not None  # embedded for the same architecture
        assert kernel.resources.registers > 0
        assert not kernel.warnings


def test_bare_cubin(build):
    kernels = load(build("two.cubin", "-cubin", "-arch=sm_90"), "sm_90")
    assert {k.demangled for k in kernels} == NAMES
    assert all(k.ptx is None and k.sass is not None for k in kernels)


def test_machine_code_of_the_same_major_version_runs_with_a_warning(fatbin):
    for kernel in load(fatbin, "sm_89"):
        assert kernel.sass.target == "sm_80"
        assert kernel.target == "sm_89"
        assert "sm_80" in kernel.warnings[0]


def test_ptx_is_compiled_where_no_machine_code_runs(fatbin):
    for kernel in load(fatbin, "sm_120"):
        assert kernel.sass.target == "sm_120"
        assert kernel.ptx is not None
        assert any("compute_90" in w for w in kernel.warnings)


def test_too_old_a_target_lists_what_there_is(fatbin):
    with pytest.raises(UnsupportedGpuError, match="sm_80, sm_90, PTX of compute_90") as caught:
        load(fatbin, "sm_75")
    assert "-gencode arch=compute_75" in caught.value.hint


def test_unlinked_objects_are_warned_about(build):
    kernels = load(build("unlinked.o", "-dc", "-arch=sm_90"), "sm_90")
    assert all("device-linked" in k.warnings[0] for k in kernels)


def test_host_files_hold_no_device_code():
    with pytest.raises(InputError, match="no CUDA device code"):
        load(sys.executable, "sm_90")


def test_garbage_is_told(tmp_path):
    file = tmp_path / "x.fatbin"
    file.write_bytes(b"\x50\xed\x55\xba" + bytes(range(256)))
    with pytest.raises(ParseError, match=r"x\.fatbin: the file is truncated or damaged") as caught:
        load(file, "sm_90")
    assert caught.value.hint


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damage_never_escapes(fatbin, data):
    content = bytearray(fatbin.read_bytes())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(8, len(content) - 1))]
    for at in data.draw(st.lists(st.integers(4, len(content) - 1), max_size=5)):
        content[at] ^= data.draw(st.integers(1, 255))
    errors = []
    try:
        extract(Source("damaged.fatbin", bytes(content)))
    except InputError as error:
        errors.append(error)
    assert all(e.file == "damaged.fatbin" for e in errors)
