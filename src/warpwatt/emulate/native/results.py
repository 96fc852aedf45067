"""What came of a run, read from the machine's tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.launch import WARP_SIZE
from warpwatt.emulate.native.records import CODES, REQUEST_SUMS
from warpwatt.emulate.run import AccessCounts, Fault, Hazard, Run, Stop, Trace
from warpwatt.native import ADDRESS, INT, addresses, function

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.native.machine import Machine

    Array = NDArray[Any]

STOPS = {code: Stop(name) for name, code in CODES["stop"].items()}
_FAULTS = {code: reason for reason, code in CODES["fault"].items()}
_HAZARDS = {code: kind for kind, code in CODES["hazard"].items() if kind != "most"}
_COLUMNS = tuple(name.rpartition(".")[2] for name in REQUEST_SUMS.names or ())
LARGE = 1 << 17
"""Elements of all arrays together from which on each gets memory of its own."""
_IRREGULAR = np.iinfo(np.int64).min


def results(machine: Machine, stop: int) -> Run:
    """Return what a run did."""
    executions, lanes = _instructions(machine)
    uncovered = machine.tables.routine.uncovered
    return Run(
        stop=STOPS[stop],
        executions=executions,
        lanes=lanes,
        accesses=_accesses(machine),
        blocks=machine.blocks,
        trace=trace_of(machine, len(machine.blocks)) if machine.tables.record else None,
        fault=fault_of(machine, STOPS[stop]),
        hazards=tuple(hazards_of(machine)),
        unknown={i: opcode for i, opcode in uncovered.items() if executions[i]},
    )


def hazards_of(machine: Machine) -> Iterator[Hazard]:
    """Yield what was found; of barriers, the instructions behind them."""
    blocks = machine.tables.routine.blocks
    for found in machine.hazards[: int(machine.record["check.hazard_count"])]:
        kind, first, second = _HAZARDS[int(found["kind"])], int(found["first"]), int(found["second"])
        if kind == "divergent barrier":
            first, second = (blocks[block].instructions.start for block in (first, second))
        yield Hazard(kind, first, second)


def end_of(machine: Machine, stop: int) -> tuple[Stop, Fault | None]:
    """Return why a run ended, and where it went wrong if it did."""
    return STOPS[stop], fault_of(machine, STOPS[stop])


def _instructions(machine: Machine) -> tuple[Array, Array]:
    """Return executions and lanes by program instruction."""
    counts = np.zeros((2, len(machine.tables.routine.program.instructions)), np.int64)
    (executions,) = addresses(counts)
    _count_instructions()(machine.address, executions, executions + counts.strides[0])
    return counts[0], counts[1]


def _accesses(machine: Machine) -> AccessCounts:
    """Return the sums by instruction and space."""
    rows = np.empty(machine.counters.size, REQUEST_SUMS)
    rows = rows[: _sum_requests()(machine.address, *addresses(rows))]
    return AccessCounts(**columns_of(rows))


def columns_of(rows: Array) -> dict[str, Array]:
    """Return the columns of request sums by the names that they have in :class:`AccessCounts`."""
    table = rows.view(np.int64).reshape(-1, len(_COLUMNS)).T.copy()
    columns = dict(zip(_COLUMNS, table, strict=True))
    columns["stride"][columns.pop("stride_state") != CODES["stride"]["regular"]] = _IRREGULAR
    return columns


def trace_of(machine: Machine, blocks: int) -> Trace:
    """Return the events of the blocks that were run, so many, warp by warp."""
    record = machine.record
    warps = blocks * int(record["launch.warps_per_block"])
    steps, accesses, lines = (int(record[f"trace.{name}_count"]) for name in ("step", "request", "line"))
    barriers: dict[str, tuple[int, type[np.generic]]] = {}
    if record["trace.barrier_events"]:
        barriers = {"access_barrier": (accesses, np.uint32), "access_change": (accesses, np.int64)}
    arrays, places = _allocate(
        step_start=(warps + 1, np.int64),
        step_block=(steps, np.int32),
        step_mask=(steps, np.uint32),
        access_start=(warps + 1, np.int64),
        access_instruction=(accesses, np.int32),
        access_mask=(accesses, np.uint32),
        access_wavefronts=(accesses, np.uint8),
        access_step=(accesses, np.int64),
        line_start=(accesses + 1, np.int64),
        lines=(lines, np.uint64),
        **barriers,
    )
    _sort_trace()(machine.address, warps, *places, *() if barriers else (None, None))
    return Trace(**arrays, complete=not record["trace.dropped"])


def _allocate(**arrays: tuple[int, type[np.generic]]) -> tuple[dict[str, Array], list[int]]:
    """Return arrays of so many elements of a type, and their addresses.

    Small ones lie in one piece of memory: to ask for the address of an array takes longer than to make one.
    Large ones do not: what is freed of one size is used again for the next launch's.
    """
    if sum(count for count, _ in arrays.values()) > LARGE:
        apart = {name: np.empty(count, kind) for name, (count, kind) in arrays.items()}
        return apart, list(addresses(*apart.values()))
    sizes = [count * np.dtype(kind).itemsize for count, kind in arrays.values()]
    starts = list(accumulate((size + -size % 8 for size in sizes), initial=0))
    memory = np.empty(starts[-1], np.uint8)
    (base,) = addresses(memory)
    made = {
        name: memory[start : start + size].view(kind)
        for (name, (_, kind)), start, size in zip(arrays.items(), starts, sizes, strict=False)
    }
    return made, [base + start for start in starts[:-1]]


def fault_of(machine: Machine, stop: Stop) -> Fault | None:
    """Return where the run went wrong, or the first thread that waits for ever."""
    if stop is Stop.DEADLOCK:
        return _stuck(machine)
    if stop is not Stop.FAULT:
        return None
    fields = ("instruction", "block", "thread", "address", "bytes")
    where = {name: int(machine.record[f"fault.{name}"]) for name in fields}
    return Fault(**where, reason=_FAULTS[int(machine.record["fault.reason"])])


def _stuck(machine: Machine) -> Fault | None:
    """Return where the first thread waits that can never go on."""
    record = machine.record
    for place in range(int(record["launch.resident_blocks"]) * int(record["launch.warps_per_block"])):
        warp = machine.warp(place)
        waiting = np.flatnonzero(warp["next"] != CODES["lane"]["exited"])
        if len(waiting):
            lane = int(waiting[0])
            block = machine.routine_block(int(warp["next"][lane]))
            held = block.instructions
            thread = int(warp["index_in_block"]) * WARP_SIZE + lane
            where = held.start if len(held) else block.end.instruction
            return Fault(
                where, machine.block_number(warp), thread, reason="waits for threads that never come"
            )
    return None


@cache
def _count_instructions() -> Callable[..., None]:
    return function("count_instructions", None, *[ADDRESS] * 3)


@cache
def _sum_requests() -> Callable[..., int]:
    return function("sum_requests", INT, ADDRESS, ADDRESS)


@cache
def _sort_trace() -> Callable[..., None]:
    return function("sort_trace", None, ADDRESS, INT, *[ADDRESS] * 12)
