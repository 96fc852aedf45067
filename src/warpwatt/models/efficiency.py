"""How well a kernel's accesses fit the memory system: one number each for off-chip and for shared memory."""

from __future__ import annotations

from collections.abc import Iterator

from warpwatt.core.execution import AccessPattern, Execution
from warpwatt.core.program import Space


def coalescing(execution: Execution) -> float | None:
    """Return the least possible sectors over those asked for off chip, 0 to 1; None without such accesses."""
    found = [(p.ideal * n, p.sectors * n) for p, n, shared in _accesses(execution) if not shared]
    return _share(found)


def banking(execution: Execution) -> float | None:
    """Return the least possible wavefronts over those of shared memory, 0 to 1; 1 is without conflicts."""
    found = [(p.ideal * n, p.wavefronts * n) for p, n, shared in _accesses(execution) if shared]
    return _share(found)


def _accesses(execution: Execution) -> Iterator[tuple[AccessPattern, float, bool]]:
    """Yield pattern, executions and whether it is shared memory that serves it."""
    for index, pattern in execution.accesses.items():
        memory = execution.program.instructions[index].memory
        if memory is not None and memory.space not in (Space.CONST, Space.PARAM):
            yield pattern, execution.counts[index], memory.space is Space.SHARED


def _share(found: list[tuple[float, float]]) -> float | None:
    asked = sum(seen for _, seen in found)
    return min(1.0, sum(ideal for ideal, _ in found) / asked) if asked > 0 else None
