from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from warpwatt.core.errors import InputError, ToolchainError, UnsupportedGpuError
from warpwatt.frontend import install, toolchain
from warpwatt.frontend.toolkits import (
    ToolkitChoice,
    for_target,
    installed_periods,
    period,
    target_number,
    toolkits_directory,
)

if TYPE_CHECKING:
    from pathlib import Path


def lay_period(version: str, patch: str = "1") -> Path:
    """A folder as pip leaves it for wheels of version 11 or 12, tools empty."""
    major = version.split(".", maxsplit=1)[0]
    folder = toolkits_directory() / version
    (folder / f"nvidia_cuda_nvcc_cu{major}-{version}.{patch}.dist-info").mkdir(parents=True)
    tools = folder / "nvidia" / "cuda_nvcc" / "bin"
    tools.mkdir(parents=True)
    (tools / "ptxas").write_text("#!/bin/sh\n")
    (tools / "ptxas").chmod(0o755)
    library = folder / "nvidia" / "cuda_nvrtc" / "lib"
    library.mkdir(parents=True)
    (library / f"libnvrtc.so.{major}").touch()
    (folder / "nvidia" / "cuda_runtime" / "include").mkdir(parents=True)
    return folder


def described(choice: ToolkitChoice) -> tuple[tuple[int, int], str, bool]:
    return choice.toolkit.release, choice.target, choice.assumed


def test_new_targets_take_the_wheels_beside_us():
    lay_period("12.9")
    for target in ("sm_75", "sm_90", "sm_90a", "sm_120"):
        choice = for_target(target)
        assert choice == ToolkitChoice(toolchain.installed(), target)


@pytest.mark.parametrize("in_cache", [(), ("12.3", "12.9"), ("11.8", "12.9")])
def test_the_toolkit_for_an_old_target_does_not_depend_on_the_cache(in_cache: tuple[str, ...]):
    for version in in_cache:
        lay_period(version)
    for target, better in (
        ("sm_61", "--toolkit 12.9 compiles for sm_61"),
        ("sm_20", "--toolkit 11.8 compiles for sm_35"),
    ):
        choice = for_target(target)
        assert described(choice) == (toolchain.installed().release, "sm_75", True)
        assert better in choice.warnings[0]


def test_a_requested_toolkit_covers_old_targets():
    lay_period("12.9")
    lay_period("11.8")
    assert described(for_target("sm_61", "12.9")) == ((12, 9), "sm_61", False)
    assert described(for_target("sm_37", "12.9")) == ((12, 9), "sm_50", True)
    assert described(for_target("sm_37", "11.8")) == ((11, 8), "sm_37", False)
    oldest = for_target("sm_20", "11.8")
    assert described(oldest) == ((11, 8), "sm_35", True)
    assert "--toolkit" not in oldest.warnings[0]


def test_a_requested_toolkit_is_used_or_refused():
    lay_period("12.3", "107")
    choice = for_target("sm_80", "12.3")
    assert choice.toolkit.version == "12.3.107"
    assert choice.toolkit.nvcc is None
    assert [path.name for path in choice.toolkit.include] == ["include"]
    with pytest.raises(UnsupportedGpuError, match="does not know sm_120"):
        for_target("sm_120", "12.3")


def test_the_wheels_beside_us_answer_to_their_own_version():
    beside = toolchain.installed()
    assert period(".".join(map(str, beside.release))) is beside


@pytest.mark.parametrize("version", ["12", "twelve", "10.2", "12.3; rm", ""])
def test_malformed_versions(version: str):
    with pytest.raises(InputError):
        period(version)


@pytest.mark.parametrize("target", ["90", "compute_90", "sm_9", "sm_90x", ""])
def test_malformed_targets(target: str):
    with pytest.raises(InputError, match="not a target"):
        target_number(target)


def test_installation_is_atomic_and_happens_once(monkeypatch: pytest.MonkeyPatch):
    calls = []

    def pretend(requirements: list[str], folder: Path) -> None:
        calls.append(requirements)
        (folder / "nvidia_cuda_nvcc_cu12-12.4.131.dist-info").mkdir()

    monkeypatch.setattr(install, "_pip_install", pretend)
    assert period("12.4").version == "12.4.131"
    assert period("12.4").version == "12.4.131"
    assert calls == [["nvidia-cuda-nvcc-cu12==12.4.*", "nvidia-cuda-nvrtc-cu12==12.4.*",
                      "nvidia-cuda-runtime-cu12==12.4.*", "nvidia-cuda-cccl-cu12==12.4.*"]]  # fmt: skip


def test_the_oldest_toolkit_has_no_wheel_of_cccl():
    names = [requirement.partition("==")[0] for requirement in install.period_requirements((11, 7))]
    assert names == ["nvidia-cuda-nvcc-cu11", "nvidia-cuda-nvrtc-cu11", "nvidia-cuda-runtime-cu11"]
    assert any("cccl" in requirement for requirement in install.period_requirements((11, 8)))


def test_a_failed_installation_leaves_nothing(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 1, "", "ERROR: no network\n")

    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(ToolchainError, match="pip cannot install") as caught:
        period("12.4")
    assert caught.value.details == "ERROR: no network"
    assert installed_periods() == []
    assert [path.name for path in toolkits_directory().iterdir()] == [".12.4.lock"]


INSTALLER = """
import sys, time
from pathlib import Path
from warpwatt.frontend import install
from warpwatt.frontend.toolkits import toolkits_directory
def pretend(requirements, folder):
    print("installing", flush=True)
    time.sleep(0.5)
    (folder / "done").touch()
install._pip_install = pretend
folder = toolkits_directory() / "12.4"
install.install((12, 4), folder)
assert (folder / "done").exists()
"""


def test_parallel_runs_install_once():
    runs = [subprocess.Popen([sys.executable, "-c", INSTALLER], stdout=subprocess.PIPE) for _ in range(4)]
    output = b"".join(run.communicate()[0] for run in runs)
    assert [run.returncode for run in runs] == [0] * 4
    assert output.count(b"installing") == 1
