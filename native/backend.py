"""The package's build backend: scikit-build-core, and a compiler from the index where there is none."""

from __future__ import annotations

import base64
import hashlib
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from compiling import ROOT, build_in_place, choose_compiler, find_compiler
from scikit_build_core import build
from scikit_build_core.build import build_sdist, get_requires_for_build_sdist

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]


def get_requires_for_build_wheel(settings: Any = None) -> list[str]:
    """Return the wheels that building needs."""
    return [*build.get_requires_for_build_wheel(settings), *([] if find_compiler() else ["ziglang>=0.15"])]


def build_wheel(directory: str, settings: Any = None, metadata: str | None = None) -> str:
    """Build a wheel with the library in it."""
    choose_compiler()
    return build.build_wheel(directory, settings, metadata)


def get_requires_for_build_editable(settings: Any = None) -> list[str]:
    """Return the wheels that an editable installation needs."""
    return ["cmake>=3.15", *get_requires_for_build_wheel(settings)]


def build_editable(
    directory: str,
    settings: Any = None,
    metadata: str | None = None,  # noqa: ARG001 - PEP 660's signature
) -> str:
    """Build the library into the source tree, and a wheel that is a path to it.

    The builder's own editable wheel imports through a hook, which would win over ``PYTHONPATH``, and so over
    other checkouts and copies of the source.
    """
    build_in_place()
    with tempfile.TemporaryDirectory() as folder:
        name = build.prepare_metadata_for_build_editable(folder, settings)
        (Path(folder) / "warpwatt.pth").write_text(f"{ROOT / 'src'}\n")
        wheel = f"{name.removesuffix('.dist-info')}-py3-none-any.whl"
        _write_wheel(Path(directory) / wheel, Path(folder), name)
    return wheel


def _write_wheel(wheel: Path, folder: Path, info: str) -> None:
    """Write the files of a folder as a wheel, with the record of their digests that its format asks for."""
    rows = []
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            name, data = path.relative_to(folder).as_posix(), path.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(data)}\n")
            archive.writestr(name, data)
        archive.writestr(f"{info}/RECORD", "".join([*rows, f"{info}/RECORD,,\n"]))
