"""The functions of the CUDA Runtime and Driver APIs that whole programs find, from our runtime's sources."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from docs._pages.text import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SOURCES = Path(__file__).parents[2] / "native" / "runtime"
_FUNCTION = re.compile(r"\b(?:__)?cu(?:da)?[A-Z]\w*(?=\()")
_REFUSED = re.compile(r'REFUSED\("([^"]+)", (\w+)\)')


def pages() -> Mapping[str, str]:
    """Return the page."""
    return {
        "reference/cuda-calls.md": _TEXT.format(
            runtime=_chapters(runtime_functions()),
            runtime_refused=_chapters(refused("refused.inc")),
            driver=_chapters(driver_functions()),
            driver_refused=_chapters(refused("driver/refused.inc")),
        )
    }


def runtime_functions() -> dict[str, list[str]]:
    """Return the Runtime API's functions that are there, by chapter."""
    parts = re.split(r"^// (.*)\.$", (SOURCES / "api.h").read_text("utf-8"), flags=re.MULTILINE)[3:]
    return {chapter: _FUNCTION.findall(text) for chapter, text in zip(parts[::2], parts[1::2], strict=True)}


def driver_functions() -> dict[str, list[str]]:
    """Return the Driver API's functions that are there, by chapter."""
    found = {}
    for path in sorted((SOURCES / "driver").glob("*.cpp")):
        text = path.read_text("utf-8")
        names = [
            re.sub(r"_v\d$", "", name) for name in re.findall(r"^RUNTIME_API CUresult (cu\w+)\(", text, re.M)
        ]
        if head := re.match(r"// Driver API: ([^.]*)\.", text):
            found[_sentence(head[1])] = list(dict.fromkeys(names))
    return {chapter: names for chapter, names in found.items() if names}


def refused(file: str) -> dict[str, list[str]]:
    """Return the functions that say that they are not there, by chapter."""
    found: dict[str, list[str]] = {}
    for chapter, name in _REFUSED.findall((SOURCES / file).read_text("utf-8")):
        found.setdefault(_sentence(chapter), []).append(name)
    return found


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _chapters(functions: Mapping[str, Iterable[str]]) -> str:
    rows = [(chapter, " ".join(f"`{name}`" for name in names)) for chapter, names in functions.items()]
    return table(("chapter", "functions"), rows)


_TEXT = """\
# CUDA calls of whole programs

[`warpwatt run`](../run.md) and `warpwatt nvcc` put a library of ours where a program expects the CUDA runtime
and driver. It has every function of both APIs of CUDA 13. Those that are not done return
`cudaErrorNotSupported` (`CUDA_ERROR_NOT_SUPPORTED`), say so once on stderr with the place that called them,
and are listed in the result.
`clock_gettime`, `gettimeofday` and `clock` of a program see predicted time wherever it waits for the GPU.

Functions with `_ptsz` and `_ptds`, of programs compiled with `--default-stream per-thread`, are there for the
Runtime API's; those without a stream run in the legacy default stream.

## Runtime API: done

{runtime}

## Runtime API: refused

{runtime_refused}

## Driver API: done

{driver}

## Driver API: refused

{driver_refused}
"""
