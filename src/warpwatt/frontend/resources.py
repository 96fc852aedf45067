"""Resources of every kernel, read from what ``ptxas -v`` prints and from the PTX's own directives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warpwatt.core.program import Resources

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENTRY = re.compile(r"Compiling entry function '([^']+)' for")
_PROPERTIES = re.compile(r"Function properties for '?([^'\s]+)")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_DIRECTIVES = re.compile(r"\.entry\s+([\w$.]+)\s*(?:\([^)]*\))?([^{;]*)\{")
_MAX_THREADS = re.compile(r"\.(?:maxntid|reqntid)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")


def read_report(report: str, ptx: str = "") -> dict[str, Resources]:
    """Return the resources of every entry that ``ptxas -v`` reports.

    ``ptx`` adds ``max_threads``, which ptxas does not print.

    >>> text = '''ptxas info    : Compiling entry function 'f' for 'sm_90'
    ... ptxas info    : Function properties for f
    ...     8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
    ... ptxas info    : Used 10 registers, used 1 barriers, 1024 bytes smem, 380 bytes cmem[0]'''
    >>> read_report(text)["f"]
    Resources(registers=10, static_shared=1024, local=8, spill_stores=4, spill_loads=12,
              constant=380, barriers=1, max_threads=None, assumed=False)
    """
    limits = max_threads(ptx)
    return {name: _resources(name, lines, limits.get(name)) for name, lines in _sections(report)}


def max_threads(ptx: str) -> dict[str, int]:
    """Return the largest block of each entry that limits it (``.maxntid``, ``.reqntid``).

    >>> max_threads(".entry f() .maxntid 16, 4, 1 { }")
    {'f': 64}
    """
    limits = {}
    for entry in _DIRECTIVES.finditer(ptx):
        if found := _MAX_THREADS.search(entry[2]):
            x, y, z = (int(extent or 1) for extent in found.groups())
            limits[entry[1]] = x * y * z
    return limits


def _sections(report: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each entry's name and its lines of the report."""
    name, lines = "", list[str]()
    for line in report.splitlines():
        if entry := _ENTRY.search(line):
            if name:
                yield name, lines
            name, lines = entry[1], []
        lines.append(line)
    if name:
        yield name, lines


def _resources(name: str, lines: list[str], limit: int | None) -> Resources:
    frame, owner, used = (0, 0, 0), "", ""
    for line in lines:
        if found := _PROPERTIES.search(line):
            owner = found[1]
        elif (found := _FRAME.search(line)) and owner == name:
            frame = (int(found[1]), int(found[2]), int(found[3]))
        elif _REGISTERS.search(line) and not used:
            used = line
    registers = _REGISTERS.search(used)
    return Resources(
        registers=int(registers[1]) if registers else 0,
        static_shared=_amount(used, r"(\d+) bytes smem"),
        local=max(frame[0], _amount(used, r"(\d+) bytes cumulative stack size")),
        spill_stores=frame[1],
        spill_loads=frame[2],
        constant=sum(int(size) for size in re.findall(r"(\d+) bytes cmem\[\d+\]", used)),
        barriers=_amount(used, r"used (\d+) barriers"),
        max_threads=limit,
        assumed=registers is None,
    )


def _amount(line: str, pattern: str) -> int:
    found = re.search(pattern, line)
    return int(found[1]) if found else 0
