"""Stand-ins for host headers under NVRTC: most are empty, some (``headers/``) hold constants of device code.

Values are those of the C standard's limits for NVIDIA's 64-bit data model (CUDA C++ Programming Guide,
"Built-in types"; ISO C, 5.2.4.2).
"""

from __future__ import annotations

import tomllib
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


@cache
def _libraries() -> dict[str, tuple[str, list[str]]]:
    """Return the wheel of each header of NVIDIA's libraries, and what it includes."""
    data = tomllib.loads((_FOLDER / "libraries.toml").read_text(encoding="utf-8"))
    return {name: (row["wheel"], row["includes"]) for row in data.values() for name in row["headers"]}


def wheel_of(header: str) -> str:
    """Return the wheel that holds a header of NVIDIA's libraries; empty if none is known.

    >>> wheel_of("cublas_v2.h"), wheel_of("mine.h")
    ('nvidia-cublas', '')
    """
    return _libraries().get(header, ("", []))[0]


def stand_in(header: str) -> str:
    r"""Return what to take for a header that is missing: nothing, or what a library's header includes.

    >>> stand_in("cusparse.h")
    '#include <cuComplex.h>\n#include <library_types.h>\n'
    """
    includes = _libraries().get(header, ("", []))[1]
    return "".join(f"#include <{name}>\n" for name in includes)
