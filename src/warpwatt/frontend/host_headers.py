"""Stand-ins for host headers under NVRTC: most are empty, some (``headers/``) hold constants of device code.

Values are those of the C standard's limits for NVIDIA's 64-bit data model (CUDA C++ Programming Guide,
"Built-in types"; ISO C, 5.2.4.2).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).with_name("headers")


def _read() -> dict[str, str]:
    """Return the text of each header under its name in C and in C++, ``math.h`` and ``cmath``."""
    texts = dict.fromkeys((_FOLDER / "empty.txt").read_text(encoding="utf-8").split(), "#pragma once\n")
    for file in _FOLDER.rglob("*.h"):
        name = file.relative_to(_FOLDER).as_posix()
        texts[name] = texts[f"c{name.removesuffix('.h')}"] = file.read_text(encoding="utf-8")
    return texts


HOST_HEADERS = _read()
"""Text of every header that NVRTC gets from us instead of from the system."""


@dataclass(frozen=True, slots=True)
class _Library:
    """A library's headers: the wheel that holds them, and what device code may take from them."""

    wheel: str
    headers: list[str]
    includes: list[str]
    declares: str = ""


@cache
def _library(header: str) -> _Library | None:
    """Return the library that a header belongs to."""
    data = tomllib.loads((_FOLDER / "libraries.toml").read_text(encoding="utf-8"))
    rows = (_Library(**row) for row in data.values())
    names = {header, header.partition("/")[0] + "/"}
    return next((row for row in rows if names & set(row.headers)), None)


def wheel_of(header: str) -> str:
    """Return the wheel that holds a header of a library; empty if none is known.

    >>> wheel_of("cublas_v2.h"), wheel_of("ATen/cuda/CUDAContext.h"), wheel_of("mine.h")
    ('nvidia-cublas', 'torch', '')
    """
    library = _library(header)
    return library.wheel if library else ""


def stand_in(header: str) -> str:
    r"""Return what to take for a header that is missing: nothing, or what a library's gives device code.

    >>> stand_in("cusparse.h")
    '#include <cuComplex.h>\n#include <library_types.h>\n'
    """
    library = _library(header)
    if library is None:
        return ""
    return "".join(f"#include <{name}>\n" for name in library.includes) + library.declares
