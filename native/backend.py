"""The package's build backend: scikit-build-core, and a compiler from the index where there is none."""

from __future__ import annotations

from typing import Any

from compiling import build_in_place, choose_compiler, find_compiler
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


def build_editable(directory: str, settings: Any = None, metadata: str | None = None) -> str:
    """Build the library into the source tree, and a wheel that points there."""
    build_in_place()
    return build.build_editable(directory, settings, metadata)
