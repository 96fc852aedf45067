"""Period toolkits (``--toolkit 12.3``) in the user's cache folder, and the toolkit to use for a target.

Wheels before version 13 hold no nvcc: NVRTC makes PTX, ptxas assembles it and reports registers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from warpwatt.core.errors import InputError, UnsupportedGpuError
from warpwatt.core.folders import cache_directory
from warpwatt.frontend import toolchain
from warpwatt.frontend.toolchain import Toolkit
from warpwatt.storage.private import check_private

OLDEST_TARGET = 75
"""The oldest architecture that nvcc 13 compiles for."""
FOR_PASCAL = "12.9"
"""The newest toolkit that still compiles for sm_50 to sm_72 (CUDA 13.0 release notes)."""
FOR_KEPLER = "11.8"
"""The newest toolkit that still compiles for sm_35 and sm_37 (CUDA 12.0 release notes)."""

# First toolkit release -> oldest target it compiles for (CUDA Toolkit release notes 11.0, 12.0, 13.0).
_OLDEST = (((13, 0), 75), ((12, 0), 50), ((11, 0), 35))
# First toolkit release -> newest target (release notes 11.0, 11.1, 11.8, 12.8, 12.9, 13.0).
_NEWEST = (((12, 8), 120), ((11, 8), 90), ((11, 1), 86), ((11, 0), 80))


@dataclass(frozen=True, slots=True)
class ToolkitChoice:
    """A toolkit and the target to compile for; ``assumed`` where that is not the target asked for."""

    toolkit: Toolkit
    target: str
    assumed: bool = False
    warnings: tuple[str, ...] = ()


def for_target(target: str, requested: str = "") -> ToolkitChoice:
    """Return the toolkit for a target, and the nearest newer target where it does not cover that one.

    Parameters
    ----------
    target
        Such as ``sm_61``.
    requested
        Version such as ``12.3`` (installed if it is not there yet), or empty: the wheels beside us, whatever
        period toolkits the cache holds.

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
    toolkit = period(requested) if requested else toolchain.installed()
    oldest, newest = _span(toolkit)
    if newest is not None and number > newest:
        raise UnsupportedGpuError(
            f"CUDA toolkit {toolkit.version} does not know {target}",
            hint="leave out --toolkit, or name a newer one",
        )
    if oldest <= number:
        return ToolkitChoice(toolkit, target)
    better, reached = (FOR_PASCAL, number) if number >= 50 else (FOR_KEPLER, max(number, 35))
    advice = f"; --toolkit {better} compiles for sm_{reached}" if reached < oldest else ""
    warning = (
        f"toolkit {toolkit.version} has no compiler for {target}: compiled for sm_{oldest} instead, "
        f"registers are assumed{advice}"
    )
    return ToolkitChoice(toolkit, f"sm_{oldest}", assumed=True, warnings=(warning,))


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
    release = release_of(version)
    current = toolchain.installed() if release[0] >= 13 else None
    if current is not None and current.release == release:
        return current
    folder = toolkits_directory() / f"{release[0]}.{release[1]}"
    if not folder.is_dir():
        from warpwatt.frontend.install import install

        install(release, folder)
    return describe_period(folder)


def release_of(version: str) -> tuple[int, int]:
    """Return major and minor version.

    >>> release_of("12.3.107")
    (12, 3)
    """
    found = re.fullmatch(r"(\d+)\.(\d+)(?:\.\d+)?", version)
    if found is None or int(found[1]) < 11:
        raise InputError(f"not a toolkit version: {version!r}", hint="write it like 12.3; the oldest is 11.7")
    return int(found[1]), int(found[2])


def describe_period(folder: Path) -> Toolkit:
    """Return the toolkit in a folder that pip filled with wheels of version 11 or 12.

    Raises
    ------
    InputError
        If another user may have filled it.
    """
    check_private(folder)
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
