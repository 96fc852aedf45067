"""Find NVIDIA's compilers in Python wheels, and the host compiler beside them.

Only wheels count: nothing is taken from PATH (except the host compiler) nor from CUDA_HOME, so that the
same package versions give the same result on every machine.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import sys
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from warpwatt.core.errors import ToolchainError

WHEELS = {
    "nvcc": "nvidia-cuda-nvcc",
    "ptxas": "nvidia-cuda-nvcc",
    "nvdisasm": "nvidia-cuda-nvdisasm",
    "nvrtc": "nvidia-cuda-nvrtc",
    "cuda_runtime.h": "nvidia-cuda-runtime",
    "cccl": "nvidia-cuda-cccl",
}
"""The wheel that holds each piece."""
RELEASES = ">=13.2,<14"
"""Releases of the wheels that work together (``pyproject.toml``)."""

KEPT_ENVIRONMENT = ("PATH", "HOME", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT")
"""All that compilers see of the user's environment: CUDA_HOME, NVCC_PREPEND_FLAGS, CPATH and their like
would change results silently."""


@dataclass(frozen=True, slots=True)
class Toolkit:
    """One set of NVIDIA's compilers.

    ``version`` is the compiler's (``13.5.37``). Tools are None where the wheels lack them: toolkits before
    13 have no ``nvcc`` and no ``nvdisasm`` wheel. ``include`` is in search order.
    """

    version: str
    root: Path
    nvcc: Path | None = None
    ptxas: Path | None = None
    nvdisasm: Path | None = None
    nvrtc: Path | None = None
    include: tuple[Path, ...] = ()

    @property
    def release(self) -> tuple[int, int]:
        """Major and minor version.

        >>> Toolkit("12.9.86", Path()).release
        (12, 9)
        """
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)

    def require(self, tool: str) -> Path:
        """Return the path of ``nvcc``, ``ptxas``, ``nvdisasm`` or ``nvrtc``.

        Raises
        ------
        ToolchainError
            If the toolkit lacks it; the hint is the command that installs it.
        """
        path: Path | None = getattr(self, tool)
        if path is None:
            raise ToolchainError(
                f"{tool} is missing from CUDA toolkit {self.version or '(not installed)'}",
                hint=install_command(WHEELS[tool]),
            )
        return path


def install_command(*wheels: str) -> str:
    """Return the pip command that installs wheels beside us, in this interpreter: releases known to work."""
    words = (f"{name}{RELEASES}" if name in WHEELS.values() else name for name in dict.fromkeys(wheels))
    return f"{sys.executable} -m pip install {shlex.join(words)}"


@lru_cache(maxsize=1)
def installed() -> Toolkit:
    """Return the newest toolkit among the wheels of the running environment; pieces may be missing.

    Raises
    ------
    ToolchainError
        If no compiler wheel of version 13 or later is installed at all.
    """
    roots = [root for place in _nvidia_packages() for root in place.glob("cu[0-9]*") if root.is_dir()]
    roots.sort(key=lambda root: int(re.sub(r"\D", "", root.name) or 0), reverse=True)
    for root in roots:
        toolkit = describe(root)
        if toolkit.ptxas or toolkit.nvrtc:
            return replace(toolkit, include=(*toolkit.include, *_library_headers()))
    raise ToolchainError(
        "no CUDA compiler is installed in this Python environment", hint=install_command(*WHEELS.values())
    )


def _library_headers() -> list[Path]:
    """Return the folders of headers of libraries that have wheels of their own, such as NCCL."""
    folders = (p for place in _nvidia_packages() for p in sorted(place.glob("*/include")))
    return [p for p in folders if not re.match(r"cu\d|cuda_", p.parent.name)]


def describe(root: Path) -> Toolkit:
    """Return the toolkit in a folder laid out as the wheels of version 13 are (``bin lib include``)."""
    include = tuple(p for p in (root / "include", root / "include" / "cccl") if p.is_dir())
    tools = {name: executable(root / "bin" / name) for name in ("nvcc", "ptxas", "nvdisasm")}
    return Toolkit(
        version=_wheel_version(root),
        root=root,
        nvrtc=library(root / "lib", "libnvrtc.so.*"),
        include=include,
        **tools,
    )


def executable(path: Path) -> Path | None:
    """Return the path if it is an executable file, else None."""
    return path if path.is_file() and os.access(path, os.X_OK) else None


def library(folder: Path, pattern: str) -> Path | None:
    """Return the first library of that name pattern in a folder, or None."""
    return next(iter(sorted(folder.glob(pattern))), None)


def _nvidia_packages() -> list[Path]:
    """Folders of the ``nvidia`` namespace package, in import order."""
    spec = importlib.util.find_spec("nvidia")
    places = spec.submodule_search_locations if spec is not None else None
    return [Path(place) for place in places or ()]


def _wheel_version(root: Path) -> str:
    """Read the compiler's version off the dist-info folders beside the package (no import needed)."""
    site = root.parent.parent
    for wheel in ("nvidia_cuda_nvcc", "nvidia_cuda_nvrtc"):
        for info in sorted(site.glob(f"{wheel}-*.dist-info"), reverse=True):
            return info.name.removeprefix(f"{wheel}-").removesuffix(".dist-info")
    return ""


@lru_cache(maxsize=1)
def host_compiler() -> Path | None:
    """Return the host C++ compiler (``$CXX``, else g++ or clang++ on PATH), or None."""
    chosen = os.environ.get("CXX", "").split()
    for name in (*chosen[:1], "g++", "clang++"):
        found = which(name)
        if found:
            return Path(found)
    return None


def environment() -> dict[str, str]:
    """Return the environment compilers run in: a few harmless variables, messages in English."""
    kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    return {"PATH": os.defpath, **kept, "LC_ALL": "C"}


def is_system(file: str, toolkit: Toolkit) -> bool:
    """Whether a header belongs to the toolkit or to the system."""
    return file.startswith((f"{toolkit.root}/", "/usr/include/", "/usr/lib/"))


def which(name: str) -> str | None:
    """Return the path of a program on PATH, or None."""
    import shutil

    return shutil.which(name)


def system_toolkits() -> tuple[str, ...]:
    """Return where a system CUDA toolkit shows itself; for information, it is never used."""
    seen = [f"{name}={os.environ[name]}" for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    nvcc = which("nvcc")
    seen += [nvcc] if nvcc else []
    seen += [str(path) for path in sorted(Path("/usr/local").glob("cuda*")) if path.is_dir()]
    return tuple(seen)
