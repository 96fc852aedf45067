"""What came of a run, read from the machine's tables."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.launch import WARP_SIZE
from warpwatt.emulate.native.records import CODES, REQUEST_SUMS
from warpwatt.emulate.run import AccessCounts, Fault, Run, Stop, Trace
from warpwatt.native import ADDRESS, INT, addresses, function

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from warpwatt.emulate.native.machine import Machine
    from warpwatt.emulate.native.routine_text import RoutineText

    Array = NDArray[Any]

_STOPS = {code: Stop(name) for name, code in CODES["stop"].items()}
_FAULTS = {code: reason for reason, code in CODES["fault"].items()}
_SUMMED = (
    "requests", "lanes", "sectors", "lines", "tag_passes", "wavefronts", "ideal", "collisions", "uniform",
)  # fmt: skip
_IRREGULAR = np.iinfo(np.int64).min


def results(machine: Machine, stop: int) -> Run:
    """Return what a run did."""
    executions, lanes = _instructions(machine)
    uncovered = machine.text.routine.uncovered
    return Run(
        stop=_STOPS[stop],
        executions=executions,
        lanes=lanes,
        accesses=_accesses(machine),
        blocks=machine.blocks,
        trace=_trace(machine) if machine.text.record else None,
        fault=_fault(machine, _STOPS[stop]),
        unknown={i: opcode for i, opcode in uncovered.items() if executions[i]},
    )


def _instructions(machine: Machine) -> tuple[Array, Array]:
    """Return executions and lanes by program instruction."""
    text = machine.text
    executions, lanes = np.zeros((2, len(text.routine.program.instructions)), np.int64)
    ranges, guarded = _tables(text)
    tables = addresses(ranges, guarded, executions, lanes)
    _count_instructions()(machine.address, len(ranges), tables[0], len(guarded), *tables[1:])
    return executions, lanes


@lru_cache(maxsize=64)
def _tables(text: RoutineText) -> tuple[Array, Array]:
    """Return the instructions of each basic block (first, behind the last) and of each guard."""
    held = [(block.instructions.start, block.instructions.stop) for block in text.routine.blocks]
    return np.array(held, np.int64), np.array(text.guarded, np.int64)


def _accesses(machine: Machine) -> AccessCounts:
    """Return the sums by instruction and space."""
    operations = len(machine.text.operations)
    rows = np.empty(machine.counters.size, REQUEST_SUMS)
    rows = rows[: _sum_requests()(machine.address, operations, *addresses(rows))]
    regular = rows["counters.stride_state"] == CODES["stride"]["regular"]
    return AccessCounts(
        instruction=rows["instruction"].copy(),
        space=rows["space"].copy(),
        stride=np.where(regular, rows["counters.stride"], _IRREGULAR),
        slot=rows["counters.slot"].copy(),
        **{name: rows[f"counters.{name}"].copy() for name in _SUMMED},
    )


def _trace(machine: Machine) -> Trace:
    """Return the events of the run, warp by warp."""
    record = machine.record
    warps = len(machine.blocks) * int(record["launch.warps_per_block"])
    steps, accesses, lines = (int(record[f"trace.{name}_count"]) for name in ("step", "request", "line"))
    arrays: dict[str, Array] = {
        "step_start": np.empty(warps + 1, np.int64),
        "step_block": np.empty(steps, np.int32),
        "step_mask": np.empty(steps, np.uint32),
        "access_start": np.empty(warps + 1, np.int64),
        "access_instruction": np.empty(accesses, np.int32),
        "access_mask": np.empty(accesses, np.uint32),
        "access_wavefronts": np.empty(accesses, np.uint8),
        "access_step": np.empty(accesses, np.int64),
        "line_start": np.empty(accesses + 1, np.int64),
        "lines": np.empty(lines, np.uint64),
    }
    _sort_trace()(machine.address, warps, *addresses(*arrays.values()))
    return Trace(**arrays, complete=not record["trace.dropped"])


def _fault(machine: Machine, stop: Stop) -> Fault | None:
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
    return function("count_instructions", None, ADDRESS, INT, ADDRESS, INT, *[ADDRESS] * 3)


@cache
def _sum_requests() -> Callable[..., int]:
    return function("sum_requests", INT, ADDRESS, INT, ADDRESS)


@cache
def _sort_trace() -> Callable[..., None]:
    return function("sort_trace", None, ADDRESS, INT, *[ADDRESS] * 10)
