"""What sources use that CUDA 13 no longer has: ``warpwatt_removed.h`` brings it back where asked to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

FEATURES = {
    "WARPWATT_REMOVED_PROPERTIES": re.compile(
        rb"\b(clockRate|memoryClockRate|deviceOverlap|kernelExecTimeoutEnabled|computeMode|maxTexture1DLinear"
        rb"|singleToDoublePrecisionPerfRatio|cooperativeMultiDeviceLaunch)\b"
    ),
    "WARPWATT_TEXTURE_REFERENCES": re.compile(rb"\btexture\s*<"),
}
"""What the header is told -> what in a source asks for it."""
_INCLUDE = re.compile(rb"^\s*#\s*include\s*[\"<]([^\">]+)", re.MULTILINE)


def removed_features(sources: Iterable[Path]) -> list[str]:
    """Return flags of the compiler for what sources, and files that they include from beside them, use.

    >>> removed_features([Path("no such file.cu")])
    []
    """
    texts = [path.read_bytes() for path in _with_includes(sources)]
    return [f"-D{name}" for name, found in FEATURES.items() if any(found.search(text) for text in texts)]


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
