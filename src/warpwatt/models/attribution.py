"""From shares per instruction to costs per source line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from warpwatt.core.case import Case, Power, Timing
from warpwatt.core.prediction import LineCost, LineWait
from warpwatt.core.program import SourceLine
from warpwatt.core.warps import Stall

Place = tuple[str, int]
"""File and line."""


def line_costs(case: Case, timing: Timing, power: Power) -> tuple[LineCost, ...]:
    """Return one :class:`LineCost` per source line that executes anything, in source order.

    An inlined instruction counts for its line in the kernel's own file, or for that which calls it (see
    :attr:`~warpwatt.core.program.SourceLine.home`). Instructions without line
    information are left out; their shares are missing from the sums.
    """
    execution = case.workload.execution
    by_line: dict[tuple[str, int], list[int]] = defaultdict(list)
    for instruction in execution.program.instructions:
        if instruction.line is not None and execution.counts[instruction.index]:
            outer = instruction.line.home
            by_line[outer.file, outer.line].append(instruction.index)
    waits = _waits(case, timing)
    return tuple(
        _line_cost(case, timing, power, place, indices, waits.get(place, ()))
        for place, indices in sorted(by_line.items())
    )


def _line_cost(
    case: Case, timing: Timing, power: Power, place: Place, indices: list[int], waits: tuple[LineWait, ...]
) -> LineCost:
    execution, (file, line) = case.workload.execution, place
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
        stalls=_stalls(timing, indices),
        waits=waits,
    )


def _stalls(timing: Timing, indices: list[int]) -> dict[Stall, float]:
    """Return stall name to its share of all warp time, of some instructions, largest first."""
    if timing.warps is None or not timing.warps.total:
        return {}
    sums = (timing.warps.cycles[indices].sum(axis=0) / timing.warps.total).tolist()
    pairs = zip(timing.warps.reasons, sums, strict=True)
    return dict(sorted(((stall, share) for stall, share in pairs if share > 0), key=lambda pair: -pair[1]))


def _waits(case: Case, timing: Timing) -> dict[Place, tuple[LineWait, ...]]:
    """Return file and line to what they wait for, instructions of one line and opcode together."""
    if timing.warps is None or not timing.warps.total:
        return {}
    instructions, warps = case.workload.execution.program.instructions, timing.warps
    sums: dict[Place, dict[tuple[Place, str, Stall], float]] = defaultdict(lambda: defaultdict(float))
    for consumer, producer, column, cycles in warps.waits.tolist():
        waiting, made = instructions[int(consumer)].line, instructions[int(producer)]
        if waiting is not None and made.line is not None:
            kind = _place(made.line), made.opcode.partition(".")[0], warps.reasons[int(column)]
            sums[_place(waiting)][kind] += cycles / warps.total
    return {place: _longest_first(of) for place, of in sums.items()}


def _longest_first(sums: Mapping[tuple[Place, str, Stall], float]) -> tuple[LineWait, ...]:
    return tuple(
        LineWait(SourceLine(*place), opcode, stall, share)
        for (place, opcode, stall), share in sorted(sums.items(), key=lambda item: -item[1])
    )


def _place(line: SourceLine) -> Place:
    outer = line.home
    return outer.file, outer.line


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
