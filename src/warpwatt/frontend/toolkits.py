"""Period toolkits (``--toolkit 12.3``) in the user's cache folder, and the toolkit to use for a target.

Wheels before version 13 hold no nvcc: NVRTC makes PTX, ptxas assembles it and reports registers.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError, ToolchainError, UnsupportedGpuError
from warpwatt.frontend import toolchain
from warpwatt.frontend.paths import cache_directory
from warpwatt.frontend.toolchain import Toolkit

if TYPE_CHECKING:
    from collections.abc import Iterator

PERIOD_WHEELS = ("nvidia-cuda-nvcc", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-cuda-cccl")
FOR_PASCAL = "12.9"
"""The newest toolkit that still compiles for sm_50 to sm_72 (CUDA 13.0 release notes)."""
FOR_KEPLER = "11.8"
"""The newest toolkit that still compiles for sm_35 and sm_37 (CUDA 12.0 release notes)."""

# First toolkit release -> oldest target it compiles for (CUDA Toolkit release notes 11.0, 12.0, 13.0).
_OLDEST = (((13, 0), 75), ((12, 0), 50), ((11, 0), 35))
# First toolkit release -> newest target (release notes 11.0, 11.1, 11.8, 12.8, 12.9, 13.0).
_NEWEST = (((12, 8), 120), ((11, 8), 90), ((11, 1), 86), ((11, 0), 80))


@dataclass(frozen=True, slots=True)
class Choice:
    """A toolkit and the target to compile for; ``assumed`` where that is not the target asked for."""

    toolkit: Toolkit
    target: str
    assumed: bool = False
    warnings: tuple[str, ...] = ()


def for_target(target: str, requested: str = "") -> Choice:
    """Return the toolkit for a target, and the nearest newer target where none covers it.

    Parameters
    ----------
    target
        Such as ``sm_61``.
    requested
        Version such as ``12.3`` (installed if it is not there yet), or empty: the wheels beside us from
        sm_75 on, else an installed period toolkit.

    Raises
    ------
    ToolchainError
        If no compiler is installed, or the requested one cannot be.
    UnsupportedGpuError
        If the requested toolkit is older than the target.
    InputError
        If ``target`` or ``requested`` is malformed.
    """
    number = target_number(target)
    if requested:
        candidates = [period(requested)]
    else:
        candidates = [toolchain.installed()]
        candidates += installed_periods() if number < _span(candidates[0])[0] else []
    for toolkit in candidates:
        oldest, newest = _span(toolkit)
        if oldest <= number and (newest is None or number <= newest):
            return Choice(toolkit, target)
    return _substitute(target, number, candidates)


def _substitute(target: str, number: int, candidates: list[Toolkit]) -> Choice:
    """Fall back on the oldest target any candidate compiles for, if that is newer than the one asked for."""
    toolkit = min(candidates, key=lambda t: _span(t)[0])
    nearest = _span(toolkit)[0]
    if nearest < number:
        raise UnsupportedGpuError(
            f"CUDA toolkit {toolkit.version} does not know {target}", hint="leave out --toolkit, or name a newer one"
        )
    better, reached = (FOR_PASCAL, number) if number >= 50 else (FOR_KEPLER, max(number, 35))
    advice = f"; --toolkit {better} compiles for sm_{reached}" if reached < nearest else ""
    warning = (
        f"toolkit {toolkit.version} has no compiler for {target}: compiled for sm_{nearest} instead, "
        f"registers are assumed{advice}"
    )
    return Choice(toolkit, f"sm_{nearest}", assumed=True, warnings=(warning,))


def target_number(target: str) -> int:
    """Return the number of a target.

    >>> target_number("sm_90a")
    90
    """
    found = re.fullmatch(r"sm_(\d{2,3})[af]?", target)
    if found is None:
        raise InputError(f"not a target: {target!r}", hint="write it like sm_90")
    return int(found[1])


def _span(toolkit: Toolkit) -> tuple[int, int | None]:
    """Oldest and newest target; None: no newer one is known."""
    release = toolkit.release
    oldest = next((number for first, number in _OLDEST if release >= first), 20)
    newest = None if release >= (13, 0) else next((n for first, n in _NEWEST if release >= first), 75)
    return oldest, newest


def toolkits_directory() -> Path:
    """Return the folder of the period toolkits."""
    return cache_directory() / "toolkits"


def installed_periods() -> list[Toolkit]:
    """Return the installed period toolkits, newest first."""
    folder = toolkits_directory()
    found = [describe_period(path) for path in folder.glob("[0-9]*.[0-9]*") if path.is_dir()]
    return sorted((t for t in found if t.version), key=lambda t: t.release, reverse=True)


def period(version: str) -> Toolkit:
    """Return the period toolkit of that version (``12.3``), installing it first where it is missing."""
    release = _release(version)
    current = toolchain.installed() if release[0] >= 13 else None
    if current is not None and current.release == release:
        return current
    folder = toolkits_directory() / f"{release[0]}.{release[1]}"
    if not folder.is_dir():
        install(version)
    return describe_period(folder)


def install(version: str) -> Path:
    """Download the wheels of a toolkit version into the cache and return their folder.

    The newest patch version is taken. Safe when several processes ask at once: one installs, the others
    wait; an interrupted installation leaves nothing behind that would be used.

    Raises
    ------
    ToolchainError
        If pip is missing or fails; ``details`` holds its last lines.
    """
    major, minor = _release(version)
    folder = toolkits_directory() / f"{major}.{minor}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.parent / f".{major}.{minor}.lock"):
        if folder.is_dir():
            return folder
        scratch = Path(tempfile.mkdtemp(prefix=f".{major}.{minor}-", dir=folder.parent))
        try:
            _pip_install(period_requirements(version), scratch)
            scratch.rename(folder)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return folder


def period_requirements(version: str) -> list[str]:
    """Return what pip installs for a version.

    >>> period_requirements("12.3")[0]
    'nvidia-cuda-nvcc-cu12==12.3.*'
    """
    major, minor = _release(version)
    suffix = f"-cu{major}" if major < 13 else ""
    return [f"{wheel}{suffix}=={major}.{minor}.*" for wheel in PERIOD_WHEELS]


def _release(version: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)\.(\d+)(?:\.\d+)?", version)
    if found is None or int(found[1]) < 11:
        raise InputError(f"not a toolkit version: {version!r}", hint="write it like 12.3; the oldest is 11.7")
    return int(found[1]), int(found[2])


def _pip_install(requirements: list[str], folder: Path) -> None:
    """Install with pip, or uv where this environment has no pip; both see the user's own configuration."""
    uv = shutil.which("uv")
    if importlib.util.find_spec("pip") is not None:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    elif uv:
        command = [uv, "pip", "install", "--quiet", "--python", sys.executable]
    else:
        raise ToolchainError("pip is missing", hint=f"{sys.executable} -m ensurepip")
    command += ["--no-deps", "--target", str(folder), *requirements]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    if outcome.returncode:
        raise ToolchainError(
            f"pip cannot install {' '.join(requirements)}",
            hint="see which versions exist: pip index versions " + requirements[0].split("==")[0],
            details="\n".join(outcome.stderr.strip().splitlines()[-12:]),
        )


def describe_period(folder: Path) -> Toolkit:
    """Return the toolkit in a folder that pip filled with wheels of version 11 or 12."""
    root = folder / "nvidia"
    if any(root.glob("cu[0-9]*")):  # wheels of 13 share one folder
        return toolchain.describe(next(root.glob("cu[0-9]*")))
    names = [info.name for info in sorted(folder.glob("nvidia_cuda_nvcc_cu*.dist-info"))]
    version = re.search(r"-([\d.]+?)(?:\.post\d+)?\.dist-info", names[-1]) if names else None
    include = tuple(root / p / "include" for p in ("cuda_runtime", "cuda_nvcc", "cuda_cccl"))
    return Toolkit(
        version=version[1] if version else "",
        root=folder,
        ptxas=toolchain.executable(root / "cuda_nvcc" / "bin" / "ptxas"),
        nvrtc=toolchain.library(root / "cuda_nvrtc" / "lib", "libnvrtc.so.*"),
        include=tuple(path for path in include if path.is_dir()),
    )


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Hold an exclusive lock; the system releases it if the process dies."""
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
