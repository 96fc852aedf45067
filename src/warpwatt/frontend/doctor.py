"""Look at everything WarpWatt needs on this machine, and how to install what is missing."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from warpwatt.core.errors import WarpWattError
from warpwatt.core.version import __version__
from warpwatt.frontend import process, toolchain, toolkits
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.cuda import compile_nvcc
from warpwatt.frontend.nvrtc import compile_nvrtc
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.toolchain import WHEELS, Toolkit, install_command
from warpwatt.storage.cache import Cache, answer_cache, default_cache, execution_cache

OLDEST_PYTHON = (3, 11)
PROBE_TARGET = "sm_75"
PROBE = Source("<probe>", b"__global__ void probe(float *x) { x[threadIdx.x] += 1.0f; }\n")


class Status(StrEnum):
    """How a check went."""

    GOOD = "good"
    MISSING = "missing"
    """Something WarpWatt needs; ``fix`` says how to get it."""
    NOTE = "note"
    """For information, or optional."""


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report: what was looked at, what was found, the command that fixes it."""

    what: str
    status: Status
    found: str
    fix: str = ""


def examine() -> tuple[Check, ...]:
    """Return every check, in the order a newcomer would fix them. Nothing is changed or installed."""
    toolkit = _toolkit()
    return (
        Check("WarpWatt", Status.GOOD, __version__),
        _python(),
        *(_tool(toolkit, name) for name in ("nvcc", "ptxas", "nvrtc", "nvdisasm")),
        _machine_code(),
        _header(toolkit, "cuda_runtime.h", "cuda_runtime.h"),
        _header(toolkit, "cccl", "cuda/std/cstdint"),
        _host_compiler(),
        _compiles("NVRTC compiles a kernel", toolkit, compile_nvrtc),
        _compiles("nvcc compiles a kernel", toolkit, compile_nvcc),
        _cache(),
        _kept("answers", answer_cache, "{} answers of the command line"),
        _kept("executions", execution_cache, "what {} launches do"),
        _periods(),
        _system_toolkits(),
        _driver(),
    )


def _toolkit() -> Toolkit:
    try:
        return toolchain.installed()
    except WarpWattError:
        return Toolkit("", Path())


def _python() -> Check:
    good = sys.version_info >= OLDEST_PYTHON
    fix = "" if good else f"install Python {'.'.join(map(str, OLDEST_PYTHON))} or later"
    return Check("Python", Status.GOOD if good else Status.MISSING, platform.python_version(), fix)


def _tool(toolkit: Toolkit, name: str) -> Check:
    path: Path | None = getattr(toolkit, name)
    if path is None:
        return Check(name, Status.MISSING, "not installed", install_command(WHEELS[name]))
    if name == "nvrtc":
        return Check(name, Status.GOOD, toolkit.version)
    try:
        lines = process.run([path, "--version"], timeout=30).messages.split("\n")
    except WarpWattError as error:
        return Check(name, Status.MISSING, error.message, install_command("--force-reinstall", WHEELS[name]))
    version = next((line.rpartition(" V")[2] for line in lines if " V" in line), "")
    if not version:
        return Check(name, Status.MISSING, "does not run", install_command("--force-reinstall", WHEELS[name]))
    return Check(name, Status.GOOD, version)


def _machine_code() -> Check:
    from warpwatt.isa.sass.decoding.encodings import TABLES

    targets = ", ".join(f"sm_{sm}" for sm in sorted(TABLES))
    return Check("machine code", Status.GOOD, f"read without nvdisasm, known forms, for {targets}")


def _header(toolkit: Toolkit, name: str, file: str) -> Check:
    folder = next((folder for folder in toolkit.include if (folder / file).is_file()), None)
    if folder is None:
        return Check(f"headers ({name})", Status.MISSING, "not installed", install_command(WHEELS[name]))
    return Check(f"headers ({name})", Status.GOOD, "found")


def _host_compiler() -> Check:
    path = toolchain.host_compiler()
    if path is None:
        found = "none on PATH: whole .cu files are compiled with NVRTC, host code left out"
        return Check("host compiler", Status.NOTE, found, "install g++ or clang++, or set CXX")
    try:
        version = process.run([path, "--version"], timeout=30).messages.split("\n")[0]
    except WarpWattError as error:
        return Check("host compiler", Status.NOTE, error.message, "set CXX to a working compiler")
    return Check("host compiler", Status.GOOD, version)


def _compiles(what: str, toolkit: Toolkit, compiler: Callable[..., object]) -> Check:
    """Really compile a kernel."""
    if compiler is compile_nvcc and toolchain.host_compiler() is None:
        return Check(what, Status.NOTE, "skipped: no host compiler")
    try:
        compiler(PROBE, PROBE_TARGET, toolkit, CompileOptions(timeout=60.0))
    except WarpWattError as error:
        return Check(what, Status.MISSING, str(error), error.hint or install_command(*WHEELS.values()))
    return Check(what, Status.GOOD, f"for {PROBE_TARGET}")


def _cache() -> Check:
    try:
        cache = default_cache()
        size = cache.size()
    except WarpWattError as error:
        return Check("cache", Status.MISSING, str(error), error.hint)
    found = f"{cache.folder}: {size / 2**20:.1f} of {cache.limit / 2**20:.0f} MiB"
    existing = next(path for path in (cache.folder, *cache.folder.parents) if path.exists())
    if not os.access(existing, os.W_OK):
        return Check(
            "cache", Status.NOTE, f"{found}; not writable", "set WARPWATT_CACHE_DIR to a folder of yours"
        )
    return Check("cache", Status.GOOD, found)


def _kept(what: str, open_cache: Callable[[], Cache], counted: str) -> Check:
    """Say how much of what is kept on disk there is."""
    try:
        kept = open_cache()
    except WarpWattError as error:
        return Check(what, Status.MISSING, str(error), error.hint)
    size, limit = kept.size() / 2**20, kept.limit / 2**20
    said = counted.format(kept.count())
    return Check(what, Status.GOOD, f"{kept.folder}: {said}, {size:.1f} of {limit:.0f} MiB")


def _periods() -> Check:
    found = ", ".join(toolkit.version for toolkit in toolkits.installed_periods())
    fix = "" if found else f"for sm_50 to sm_72 add --toolkit {toolkits.FOR_PASCAL} (downloads wheels once)"
    return Check("period toolkits", Status.NOTE, found or "none", fix)


def _system_toolkits() -> Check:
    found = ", ".join(toolchain.system_toolkits())
    return Check("system CUDA", Status.NOTE, f"{found} (not used)" if found else "none (none is needed)")


def _driver() -> Check:
    """Look for the driver's version file; none is needed for predictions."""
    try:
        line = Path("/proc/driver/nvidia/version").read_text().split("\n")[0]
    except OSError:
        return Check("GPU driver", Status.NOTE, "none (none is needed to predict)")
    return Check("GPU driver", Status.NOTE, line.removeprefix("NVRM version: ").strip())
