"""Compiling programs with the user's clang: NVIDIA's headers and assembler, our runtime in the link.

Clang wants a folder laid out as a CUDA installation: :func:`cuda_path` makes one of links in the cache.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from warpwatt.core.errors import ToolchainError
from warpwatt.core.folders import cache_directory
from warpwatt.frontend import toolchain, toolkits
from warpwatt.frontend.removed import HEADERS, removed_features
from warpwatt.run.build import OURS, Command, runtime_library

REMOVED = ("curand_mtgp32_kernel.h", "texture_fetch_functions.h")
"""Headers that clang puts in front of every source and the wheels lack. Empty ones do: what they declare is
either not used or clang's own."""
FATBINARY = """\
#!/bin/sh
# clang up to 20 names the images as fatbinary did before CUDA 13
for word; do
  shift
  case $word in
    --image=profile=sm_*) word="--image3=kind=elf,sm=${{word#--image=profile=sm_}}" ;;
    --image=profile=compute_*) word="--image3=kind=ptx,sm=${{word#--image=profile=compute_}}" ;;
  esac
  set -- "$@" "$word"
done
exec '{real}' "$@"
"""
_SOURCES = (".cu", ".cuh")
_HOST_SOURCES = (".c", ".cc", ".cpp", ".cxx")
"""Those that are the host's alone: NVIDIA's headers are found in them, as nvcc finds them."""
_NO_LINK = frozenset({
    "-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--cuda-device-only", "--version", "-v", "-###",
})  # fmt: skip
_ADDED = ("-Wno-unknown-cuda-version", "-D_NV_RSQRT_SPECIFIER=")
"""The version that clang does not know works; the macro is one of the host's libc that clang cannot place."""


def clang_command(flags: Sequence[str], requested: str = "") -> Command:
    """Return clang's command for a user's flags: with NVIDIA's headers and tools of our wheels, our runtime.

    Parameters
    ----------
    flags
        Clang's own.
    requested
        Version of the toolkit whose assembler and device library make the code, such as ``12.6``; empty: the
        wheels beside us. Headers are always those of the wheels: our runtime has their layouts.

    Raises
    ------
    ToolchainError
        If clang, the wheels or our runtime are missing.
    """
    words = [str(clang()), *(flag for flag in flags if flag not in OURS)]
    if any(flag.endswith(_SOURCES) for flag in flags) or "cuda" in flags:
        toolkit = toolchain.installed()
        maker = toolkits.period(requested) if requested else toolkit
        include = [word for folder in toolkit.include for word in ("-isystem", str(folder))]
        words += [f"--cuda-path={cuda_path(toolkit, maker)}", f"-I{HEADERS}", *include, *_ADDED]
        words += removed_features(Path(flag) for flag in flags if flag.endswith(_SOURCES))
    elif any(flag.endswith(_HOST_SOURCES) for flag in flags):
        words += [word for folder in toolchain.installed().include for word in ("-isystem", str(folder))]
    if flags and not _NO_LINK.intersection(flags):
        library = runtime_library()
        words += [f"-L{library}", f"-Wl,-rpath={library}", "-lcudart"]
    return Command(tuple(words))


def clang() -> Path:
    """Return the newest clang++ on PATH.

    Raises
    ------
    ToolchainError
        If there is none.
    """
    plain = toolchain.which("clang++")
    if plain:
        return Path(plain)
    found = sorted(_numbered(), reverse=True)
    if not found:
        raise ToolchainError("there is no clang++ on PATH", hint="install clang with the system's packages")
    return found[0][1]


def _numbered() -> Iterator[tuple[int, Path]]:
    """Yield version and path of every ``clang++-19`` and its like on PATH."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        for path in Path(folder or ".").glob("clang++-*"):
            version = re.fullmatch(r"clang\+\+-(\d+)", path.name)
            if version and toolchain.executable(path):
                yield int(version[1]), path


def cuda_path(toolkit: toolchain.Toolkit, maker: toolchain.Toolkit) -> Path:
    """Return a folder that clang takes for an installation of a toolkit; it is made if it is not there.

    Headers and linkers are ``toolkit``'s, assembler and device library ``maker``'s.
    """
    ptxas = maker.require("ptxas")
    parts = (toolkit.root, toolkit.version, ptxas, maker.version, FATBINARY, REMOVED)
    key = hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:12]
    folder = cache_directory() / "clang" / f"{maker.version}-{key}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
        _lay_out(toolkit.root, ptxas, scratch)
        try:
            scratch.rename(folder)
        except OSError:  # another process was quicker
            shutil.rmtree(scratch)
    return folder


def _lay_out(root: Path, ptxas: Path, folder: Path) -> None:
    """Fill a folder with links to a toolkit's pieces, and with what the wheels lack."""
    for name in ("bin", "include", "lib64"):
        (folder / name).mkdir()
    for header in (root / "include").iterdir():
        (folder / "include" / header.name).symlink_to(header)
    for name in REMOVED:
        path = folder / "include" / name
        if not path.exists():
            path.touch()
    (folder / "nvvm").symlink_to(ptxas.parents[1] / "nvvm")
    (folder / "bin" / "ptxas").symlink_to(ptxas)
    (folder / "bin" / "nvlink").symlink_to(root / "bin" / "nvlink")
    fatbinary = folder / "bin" / "fatbinary"
    fatbinary.write_text(FATBINARY.format(real=root / "bin" / "fatbinary"), encoding="utf-8")
    fatbinary.chmod(0o755)
