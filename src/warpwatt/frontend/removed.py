"""What sources use that CUDA 13 no longer has: ``warpwatt_removed.h`` brings it back where asked to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

HEADERS = Path(__file__).with_name("removed_headers")
"""What CUDA 13 no longer declares, and a header that its wheels lack."""
_CUB_OPERATORS = re.compile(rb"\bcub::(Max|Min|Sum|Equality|Inequality|Difference|Division)\b")
FEATURES = {
    "WARPWATT_REMOVED_PROPERTIES": (
        re.compile(rb"\bcuda(DeviceProp|GetDeviceProperties)\b"),
        re.compile(
            rb"\b(clockRate|memoryClockRate|deviceOverlap|kernelExecTimeoutEnabled|computeMode|maxTexture1DLinear"
            rb"|singleToDoublePrecisionPerfRatio|cooperativeMultiDeviceLaunch)\b"
        ),
    ),
    "WARPWATT_TEXTURE_REFERENCES": (re.compile(rb"\btexture\s*<"),),
    "WARPWATT_CUB_OPERATORS": (_CUB_OPERATORS,),
    "WARPWATT_THRUST_BASES": (re.compile(rb"\bthrust::(unary|binary)_function\b"),),
}
"""What the header is told -> what asks for it, all of it somewhere in the sources."""
HEADER = "warpwatt_removed.h"
_TUPLES = re.compile(rb"\bthrust::(make_tuple|tuple|get|tie)\b")
"""Thrust's other headers brought these before CUDA Core Compute Libraries 3: ``thrust/tuple.h`` has them."""
_NVTX = re.compile(rb"^\s*#\s*include\s*<nvtx3/nvToolsExt.h>", re.MULTILINE)
_NVTX_HEADERS = Path(__file__).with_name("nvtx")
"""Ours, in a folder of its own: where it is found, CUDA Core Compute Libraries want all of NVTX."""
_FUNCTIONS = re.compile(rb"\bcudaThread[A-Z]\w*\s*\(")
_INCLUDE = re.compile(rb"^\s*#\s*include\s*[\"<]([^\">]+)", re.MULTILINE)


def removed_features(sources: Iterable[Path]) -> list[str]:
    """Return flags of the compiler for what sources, and files that they include from beside them, use.

    >>> removed_features([Path("no such file.cu")])
    ['-include', 'warpwatt_removed.h']
    """
    given = list(sources)
    texts = [path.read_bytes() for path in _with_includes(given)]
    used = [f"-D{name}" for name, needs in FEATURES.items() if all(any(map(n.search, texts)) for n in needs)]
    if any(map(_TUPLES.search, texts)):
        used += ["-include", "thrust/tuple.h"]
    if any(map(_NVTX.search, texts)):
        used += [f"-I{_NVTX_HEADERS}", "-DCCCL_DISABLE_NVTX"]
    # host code may have its own idea of CUDA's types, where it loads the driver itself
    if used or any(path.suffix == ".cu" for path in given) or any(map(_FUNCTIONS.search, texts)):
        return ["-include", HEADER, *used]
    return []


def _with_includes(sources: Iterable[Path]) -> Iterator[Path]:
    """Yield the sources that are there, and what they include from beside them, each once."""
    waiting, seen = list(sources), set[Path]()
    while waiting:
        path = waiting.pop().absolute()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        yield path
        names = _INCLUDE.findall(path.read_bytes())
        waiting += [path.parent / name.decode(errors="replace") for name in names]
