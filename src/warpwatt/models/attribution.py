"""From shares per instruction to costs per source line."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.prediction import LineCost

if TYPE_CHECKING:
    from warpwatt.core.case import Case, Power, Timing


def line_costs(case: Case, timing: Timing, power: Power) -> tuple[LineCost, ...]:
    """Return one :class:`LineCost` per source line that executes anything, in source order.

    An inlined instruction counts for the line of the kernel it was inlined into. Instructions without line
    information are left out; their shares are missing from the sums.
    """
    execution = case.workload.execution
    by_line: dict[tuple[str, int], list[int]] = defaultdict(list)
    for instruction in execution.program.instructions:
        if instruction.line is not None and execution.counts[instruction.index]:
            outer = instruction.line.outermost
            by_line[outer.file, outer.line].append(instruction.index)
    return tuple(
        _line_cost(case, timing, power, file, line, indices)
        for (file, line), indices in sorted(by_line.items())
    )


def _line_cost(
    case: Case, timing: Timing, power: Power, file: str, line: int, indices: list[int]
) -> LineCost:
    execution = case.workload.execution
    threads = {i: execution.counts[i] * execution.lanes[i] for i in indices}
    instructions = execution.program.instructions
    time_share = sum(timing.shares[i] for i in indices) if timing.shares else 0.0
    return LineCost(
        file=file,
        line=line,
        text=source_text(file, line),
        time_share=time_share,
        energy_share=sum(power.shares[i] for i in indices) if power.shares else time_share,
        warp_instructions=sum(execution.counts[i] for i in indices),
        flops=sum(instructions[i].flops * threads[i] for i in indices),
        bytes=sum(m.bytes * threads[i] for i in indices if (m := instructions[i].memory) is not None),
        accesses=tuple((i, execution.accesses[i]) for i in indices if i in execution.accesses),
    )


def source_text(file: str, line: int) -> str:
    """Return a line of a source file without its newline, empty if it cannot be read."""
    lines = _lines(file)
    return lines[line - 1] if 0 < line <= len(lines) else ""


@lru_cache(maxsize=32)
def _lines(file: str) -> tuple[str, ...]:
    try:
        return tuple(Path(file).read_text(encoding="utf-8", errors="replace").splitlines())
    except OSError:
        return ()
