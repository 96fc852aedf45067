from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from warpwatt.core.errors import ToolchainError
from warpwatt.frontend import process, toolchain
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.cuda import compile_nvcc
from warpwatt.frontend.nvrtc import compile_nvrtc
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.toolchain import Toolkit

EMPTY = Toolkit("13.5.37", Path("/nowhere"))
SOURCE = Source("k.cu", b"__global__ void k() {}")


def lay(root: Path, *files: str) -> Path:
    for file in files:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    return root


def test_finds_wheels_and_never_the_system(fresh_tools, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    lay(tmp_path, "bin/nvcc", "bin/ptxas")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    toolkit = toolchain.installed()
    for name in ("nvcc", "ptxas", "nvdisasm", "nvrtc"):
        assert "site-packages" in str(toolkit.require(name))
    assert toolkit.release >= (13, 2)
    assert any(str(tmp_path) in seen for seen in toolchain.system_toolkits())


def test_compilers_do_not_see_the_users_variables(
    fresh_tools, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    for name in ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CPATH", "CUDA_HOME", "CPLUS_INCLUDE_PATH"):
        monkeypatch.setenv(name, "--no-such-flag")
    assert not {"CUDA_HOME", "CPATH", "NVCC_APPEND_FLAGS"} & set(toolchain.environment())
    compile_nvcc(SOURCE, "sm_90", toolchain.installed(), CompileOptions())


def test_missing_wheels_name_the_command(fresh_tools, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(toolchain, "_nvidia_packages", lambda: [tmp_path])
    with pytest.raises(ToolchainError) as caught:
        toolchain.installed()
    assert f"{sys.executable} -m pip install 'nvidia-cuda-nvcc>=" in caught.value.hint
    assert caught.value.exit_code == 3


def test_the_newest_complete_toolkit_wins(fresh_tools, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    lay(tmp_path / "nvidia", "cu13/bin/ptxas", "cu14/bin/ptxas", "cu15/include/cuda.h")
    for version in ("13.5.37", "14.0.1"):
        (tmp_path / f"nvidia_cuda_nvcc-{version}.dist-info").mkdir()
    monkeypatch.setattr(toolchain, "_nvidia_packages", lambda: [tmp_path / "nvidia"])
    toolkit = toolchain.installed()
    assert toolkit.root.name == "cu14"
    assert toolkit.version == "14.0.1"
    assert toolkit.nvcc is None


@pytest.mark.parametrize(
    ("tool", "wheel"),
    [("nvcc", "nvidia-cuda-nvcc"), ("ptxas", "nvidia-cuda-nvcc"), ("nvrtc", "nvidia-cuda-nvrtc"),
     ("nvdisasm", "nvidia-cuda-nvdisasm")],
)  # fmt: skip
def test_every_missing_tool_names_its_wheel(tool: str, wheel: str):
    with pytest.raises(ToolchainError, match=f"{tool} is missing") as caught:
        EMPTY.require(tool)
    assert caught.value.hint.endswith(f"pip install '{wheel}>=13.2,<14'")


def test_missing_tools_stop_both_compilers():
    with pytest.raises(ToolchainError, match="nvcc is missing"):
        compile_nvcc(SOURCE, "sm_90", EMPTY, CompileOptions())
    with pytest.raises(ToolchainError, match="nvrtc is missing"):
        compile_nvrtc(SOURCE, "sm_90", EMPTY, CompileOptions())


def test_no_host_compiler(fresh_tools, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert toolchain.host_compiler() is None
    with pytest.raises(ToolchainError, match="host C") as caught:
        compile_nvcc(SOURCE, "sm_90", toolchain.installed(), CompileOptions())
    assert "g++" in caught.value.hint


def test_cxx_chooses_the_host_compiler(fresh_tools, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    lay(tmp_path, "my-cxx")
    monkeypatch.setenv("CXX", f"{tmp_path / 'my-cxx'} -O2")
    assert toolchain.host_compiler() == tmp_path / "my-cxx"


def test_a_broken_tool_is_an_error_not_a_traceback(tmp_path: Path):
    (tmp_path / "nvcc").write_bytes(b"not a program")
    (tmp_path / "nvcc").chmod(0o755)
    with pytest.raises(ToolchainError, match="does not start"):
        process.run([tmp_path / "nvcc"])


def test_time_runs_out_for_children_too(tmp_path: Path):
    mark = tmp_path / "still-alive"
    with pytest.raises(ToolchainError, match="did not finish within"):
        process.run(["sh", "-c", f"(sleep 1; touch {mark}) & wait"], timeout=0.2)
    process.run(["sleep", "1.2"])
    assert not mark.exists()


def test_memory_is_limited():
    outcome = process.run([sys.executable, "-c", "x = bytearray(2**30)"], memory=2**29)
    assert outcome.status
    assert "MemoryError" in outcome.messages
