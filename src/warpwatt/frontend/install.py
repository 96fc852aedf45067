"""Install a period toolkit: NVIDIA's wheels of one version into a folder of the user's cache."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warpwatt.core.errors import ToolchainError
from warpwatt.core.progress import step

PERIOD_WHEELS = ("nvidia-cuda-nvcc", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-cuda-cccl")
SPLIT_WHEELS = ("nvidia-cuda-crt", "nvidia-nvvm")
"""Pieces that the compiler's wheel leaves to wheels of their own from version 13 on."""
WITHOUT_CCCL = (11, 7)
"""The oldest toolkit there are wheels of has none for these headers."""
LAST_CCCL_MINOR = 3
"""The headers' wheel counts on its own from 13.3 on: ``13.3.5`` belongs to toolkit 13.5."""


def install(release: tuple[int, int], folder: Path) -> None:
    """Download the wheels of a toolkit release into a folder, unless it is there.

    The newest patch version is taken. Safe when several processes ask at once: one installs, the others
    wait; an interrupted installation leaves nothing behind that would be used.

    Raises
    ------
    ToolchainError
        If pip is missing or fails; ``details`` holds its last lines.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.parent / f".{folder.name}.lock"):
        if folder.is_dir():
            return
        scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            with step(f"downloading CUDA {folder.name}"):
                _pip_install(period_requirements(release), scratch)
            scratch.rename(folder)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def period_requirements(release: tuple[int, int]) -> list[str]:
    """Return what pip installs for a release (major, minor).

    >>> period_requirements((12, 3))[0]
    'nvidia-cuda-nvcc-cu12==12.3.*'
    """
    major, minor = release
    if major < 13:
        wheels = PERIOD_WHEELS[:-1] if (major, minor) == WITHOUT_CCCL else PERIOD_WHEELS
        return [f"{wheel}-cu{major}=={major}.{minor}.*" for wheel in wheels]
    minors = {"nvidia-cuda-cccl": min(minor, LAST_CCCL_MINOR)}
    return [f"{wheel}=={major}.{minors.get(wheel, minor)}.*" for wheel in PERIOD_WHEELS + SPLIT_WHEELS]


def _pip_install(requirements: list[str], folder: Path) -> None:
    """Install with pip, or uv where this environment has no pip; both see the user's own configuration."""
    uv = shutil.which("uv")
    if importlib.util.find_spec("pip") is not None:
        pip = "-P -m pip install --quiet --disable-pip-version-check --only-binary=:all:"
        command = [sys.executable, *pip.split()]
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


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Hold an exclusive lock; the system releases it if the process dies."""
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
