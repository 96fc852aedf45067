"""Running blocks one after the other within one call, each as if alone, and what came of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import astuple
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.emulate.native.records import REQUEST_SUMS
from warpwatt.emulate.native.results import STOPS, columns_of, fault_of, hazards_of, trace_of
from warpwatt.emulate.run import AccessCounts, Run, Trace
from warpwatt.native import ADDRESS, INT, addresses, function

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.budget import Budget
    from warpwatt.emulate.native.machine import Machine


def run_in_turn(machine: Machine, budget: Budget, on_stack: Callable[[Callable[[], int]], int]) -> list[Run]:
    """Run the machine's blocks until the budget is spent, its room for traces is, or one does not end.

    ``on_stack`` calls what runs them. Hazards are said of the first: those of all.
    """
    count, uncovered = len(machine.blocks), machine.tables.routine.uncovered
    counts = np.zeros((2, count, len(machine.tables.routine.program.instructions)), np.int64)
    ends = np.empty((count, 3), np.int64)
    sums = np.empty(count * machine.counters.size, REQUEST_SUMS)
    taken = np.array(astuple(budget), np.int64)
    given, *made = addresses(taken, ends, counts[0], counts[1], sums)
    ran = on_stack(partial(_run_in_turn(), machine.address, given, counts.shape[2], *made))
    machine.raise_pending()
    stops, dropped, rows = ends[:ran].T.tolist()
    accesses = _accesses(columns_of(sums[: rows[-1]]), rows)
    traces = _parted(trace_of(machine, ran), dropped)
    hazards = tuple(hazards_of(machine))
    return [
        Run(
            STOPS[stop], executions, lanes, access, (block,), trace,
            fault=fault_of(machine, STOPS[stop]),
            hazards=() if place else hazards,
            unknown={i: opcode for i, opcode in uncovered.items() if executions[i]},
        )
        for place, (stop, executions, lanes, access, block, trace) in enumerate(
            zip(stops, *counts, accesses, machine.blocks, traces, strict=False)
        )
    ]  # fmt: skip


def _accesses(columns: dict[str, NDArray[Any]], ends: list[int]) -> Iterator[AccessCounts]:
    """Yield the rows up to each end."""
    for start, end in zip([0, *ends], ends, strict=False):
        yield AccessCounts(**{name: column[start:end] for name, column in columns.items()})


def _parted(whole: Trace, dropped: list[int]) -> Iterator[Trace]:
    """Yield the trace of each block, of which events may have been dropped; all have as many warps."""
    warps = (len(whole.step_start) - 1) // len(dropped)
    steps, accesses = whole.step_start[::warps].tolist(), whole.access_start[::warps].tolist()
    lines = whole.line_start[accesses].tolist()
    for block, lost in enumerate(dropped):
        of = slice(block * warps, (block + 1) * warps + 1)
        step, access = (slice(*ends[block : block + 2]) for ends in (steps, accesses))
        yield Trace(
            step_start=whole.step_start[of] - steps[block],
            step_block=whole.step_block[step],
            step_mask=whole.step_mask[step],
            access_start=whole.access_start[of] - accesses[block],
            access_instruction=whole.access_instruction[access],
            access_mask=whole.access_mask[access],
            access_wavefronts=whole.access_wavefronts[access],
            access_step=whole.access_step[access] - steps[block],
            line_start=whole.line_start[access.start : access.stop + 1] - lines[block],
            lines=whole.lines[lines[block] : lines[block + 1]],
            complete=not lost,
            access_barrier=None if whole.access_barrier is None else whole.access_barrier[access],
            access_change=None if whole.access_change is None else whole.access_change[access],
        )


@cache
def _run_in_turn() -> Callable[..., int]:
    return function("run_in_turn", INT, ADDRESS, ADDRESS, INT, *[ADDRESS] * 4)
