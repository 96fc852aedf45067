"""Cubins that the tests of the SASS room read, compiled once per session with the wheels' compiler."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warpwatt.frontend import toolchain
from warpwatt.isa.sass import Cubin, programs, read_cubin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.core.program import Program

HERE = Path(__file__).parent
TARGETS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
SPECIAL = {"sm_90a": "hopper.cu", "sm_100a": "blackwell.cu"}


@dataclass(frozen=True)
class Compiled:
    """A cubin, what ``ptxas -v`` said about it, and its programs."""

    file: Path
    report: str

    @property
    def cubin(self) -> Cubin:
        return _read(self.file)

    @property
    def programs(self) -> Mapping[str, Program]:
        return _programs(self.file)

    @property
    def listing(self) -> str:
        """What nvdisasm prints."""
        return _listing(self.file)


@cache
def _read(file: Path) -> Cubin:
    return read_cubin(file.read_bytes())


@cache
def _programs(file: Path) -> Mapping[str, Program]:
    return programs(_read(file), _listing(file))


@cache
def _listing(file: Path) -> str:
    return run("nvdisasm", "-json", file, cwd=file.parent)


def run(tool: str, *arguments: str | Path, cwd: Path) -> str:
    command = [toolchain.installed().require(tool), *arguments]
    done = subprocess.run(
        command, cwd=cwd, env=toolchain.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory):
    """Return a function: target -> :class:`Compiled`."""
    folder = tmp_path_factory.mktemp("sass")

    @cache
    def ptx() -> Path:
        run(
            "nvcc",
            "-ptx",
            "-arch=compute_75",
            "-lineinfo",
            "-o",
            "kernels.ptx",
            HERE / "kernels.cu",
            cwd=folder,
        )
        return folder / "kernels.ptx"

    @cache
    def compile_for(target: str) -> Compiled:
        file = folder / f"{target}.cubin"
        if target in SPECIAL:
            source = HERE / SPECIAL[target]
            report = run(
                "nvcc", "-cubin", f"-arch={target}", "-lineinfo", "-Xptxas=-v", "-o", file, source, cwd=folder
            )
        else:
            report = run("ptxas", f"-arch={target}", "-lineinfo", "-v", "-o", file, ptx(), cwd=folder)
        return Compiled(file, report)

    return compile_for
