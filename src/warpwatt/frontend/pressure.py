"""What a kernel needs where no compiler reports it: registers by the PTX's register pressure, its directives.

ptxas reorders, so that the truth may be lower or higher; on public kernels it stayed within a factor of two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from warpwatt.core.program import Program, Resources, Space

ABI_REGISTERS = 6
"""Registers ptxas keeps for itself in the smallest kernels (stack pointer, return address, alignment)."""
MAX_REGISTERS = 255
GRANULARITY = 2
_DIRECTIVES = re.compile(r"\.entry\s+([\w$.]+)\s*(?:\([^)]*\))?([^{;]*)\{")
_MAX_THREADS = re.compile(r"\.(?:maxntid|reqntid)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")


def assumed_resources(program: Program, max_threads: int | None = None) -> Resources:
    """Return resources with registers from register pressure and shared memory from the declarations.

    A value is taken to live from its first to its last mention, and through every loop it enters alive;
    64-bit values (``%rd``, ``%fd``) take two registers, predicates none.
    """
    pressure = max(_pressure(program), default=0) + ABI_REGISTERS
    rounded = -(-pressure // GRANULARITY) * GRANULARITY
    shared = sum(v.size for v in program.variables if v.space is Space.SHARED and not v.external)
    local = sum(v.size for v in program.variables if v.space is Space.LOCAL)
    return Resources(
        registers=min(rounded, MAX_REGISTERS),
        static_shared=shared,
        local=local,
        max_threads=max_threads,
        assumed=True,
    )


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


def _pressure(program: Program) -> Iterator[int]:
    """Yield the number of registers alive at each instruction."""
    change = [0] * (len(program.instructions) + 1)
    for name, (first, last) in _lifetimes(program).items():
        change[first] += _width(name)
        change[last] -= _width(name)
    alive = 0
    for step in change:
        alive += step
        yield alive


def _lifetimes(program: Program) -> dict[str, tuple[int, int]]:
    """First and last mention of every register, extended to the end of loops it enters alive."""
    spans: dict[str, tuple[int, int]] = {}
    for instruction in program.instructions:
        for name in (*instruction.writes, *instruction.reads):
            first = spans.get(name, (instruction.index, 0))[0]
            spans[name] = first, instruction.index
    for head, tail in sorted(_loops(program), key=lambda loop: loop[1]):
        for name, (first, last) in spans.items():
            if first < head <= last < tail:
                spans[name] = first, tail
    return spans


def _loops(program: Program) -> Iterator[tuple[int, int]]:
    """Positions of the head and of the jump of every backward jump."""
    for instruction in program.instructions:
        for label in instruction.targets:
            head = program.labels.get(label, instruction.index + 1)
            if head <= instruction.index:
                yield head, instruction.index


def _width(name: str) -> int:
    """32-bit registers a PTX register takes, by the compilers' naming; special registers take none."""
    stem = name.lstrip("%").rstrip("0123456789")
    if stem in {"rd", "fd"}:
        return 2
    return 0 if stem == "p" or "." in name or stem in {"SP", "SPL", "laneid", "clock"} else 1
