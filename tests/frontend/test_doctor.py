from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from warpwatt.core.errors import ToolchainError
from warpwatt.frontend import toolchain
from warpwatt.frontend.doctor import Check, Status, examine
from warpwatt.frontend.toolchain import Toolkit

if TYPE_CHECKING:
    from pathlib import Path


def by_name() -> dict[str, Check]:
    return {check.what: check for check in examine()}


@pytest.mark.toolchain
def test_this_environment_is_healthy(own_cache: Path):
    checks = by_name()
    assert all(check.status is not Status.MISSING for check in checks.values())
    assert checks["NVRTC compiles a kernel"].status is Status.GOOD
    assert checks["nvcc compiles a kernel"].status is Status.GOOD
    assert checks["ptxas"].found == toolchain.installed().version
    assert str(own_cache) in checks["cache"].found


def test_every_missing_piece_has_a_command(monkeypatch: pytest.MonkeyPatch):
    def nothing() -> Toolkit:
        raise ToolchainError("none")

    monkeypatch.setattr(toolchain, "installed", nothing)
    checks = examine()
    missing = [check for check in checks if check.status is Status.MISSING]
    assert any(check.status is Status.MISSING for check in checks)
    assert {check.what for check in missing} >= {"nvcc", "ptxas", "nvrtc", "nvdisasm", "headers (cccl)"}
    for check in missing:
        assert shlex.split(check.fix)[:4] == [sys.executable, "-m", "pip", "install"]


def test_a_broken_tool_is_not_good(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "ptxas").write_text("#!/bin/sh\necho Segmentation fault\n")
    (tmp_path / "ptxas").chmod(0o755)
    monkeypatch.setattr(toolchain, "installed", lambda: Toolkit("13.5", tmp_path, ptxas=tmp_path / "ptxas"))
    assert by_name()["ptxas"].status is Status.MISSING


def test_no_host_compiler_is_a_note(fresh_tools, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    checks = by_name()
    assert checks["host compiler"].status is Status.NOTE
    assert checks["NVRTC compiles a kernel"].status is Status.GOOD
    assert all(check.status is not Status.MISSING for check in checks.values())


def test_a_bad_cache_size_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WARPWATT_CACHE_SIZE", "lots")
    assert by_name()["cache"].status is Status.MISSING
