"""The reference engine: micro-operations interpreted with NumPy, plain and exact rather than fast.

Public name: ``run``. It is the oracle of the native engine, which returns the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.emulate.reference.interpreter import Interpreter
from tests.emulate.reference.schedule import Schedule
from tests.emulate.reference.spaces import FaultError, Spaces
from tests.emulate.reference.state import DONE, Warps
from tests.emulate.reference.statistics import Statistics
from warpwatt.emulate.functions import FUNCTIONS
from warpwatt.emulate.ir import End
from warpwatt.emulate.run import TURN, Fault, Limits, Run, Stop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.run import Context

    Array = NDArray[Any]

__all__ = ["run"]


def run(
    routine: Routine,
    context: Context,
    memory: DeviceMemory,
    blocks: Sequence[int],
    limits: Limits | None = None,
    *,
    record: bool = False,
    warps_at_once: int = 1,
) -> Run:
    """Execute some blocks of a grid, given by their linear numbers, and return what they did.

    Parameters
    ----------
    record
        Also return a trace.
    warps_at_once
        1: warps go one at a time. More: whole blocks with so many warps together, warps that are about to
        execute the same basic block in one step.

    Buffers in ``memory`` change as the blocks write them.
    """
    engine = _Engine(routine, context, memory, limits or Limits(), record=record, at_once=warps_at_once)
    with np.errstate(all="ignore"):
        return engine.run([int(block) for block in blocks])


class _Engine:
    """One run: its counts, its budget, and how it came to its end."""

    def __init__(
        self, routine: Routine, context: Context, memory: DeviceMemory, limits: Limits, *,
        record: bool, at_once: int,
    ) -> None:  # fmt: skip
        self.routine, self.context, self.memory, self.at_once = routine, context, memory, at_once
        count = len(routine.program.instructions)
        self.executions, self.lanes = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.left, self.left_at_start = limits.warp_instructions, limits.warp_instructions
        self.unknown: dict[int, str] = {}
        self.statistics = Statistics(
            local_bytes=context.local, warps_per_block=context.launch.warps_per_block,
            record=record, trace_bytes=limits.trace_bytes,
        )  # fmt: skip

    def run(self, blocks: list[int]) -> Run:
        stop, fault = Stop.DONE, None
        for first, together in self._groups(blocks):
            try:
                stop, fault = self._group(together, first)
            except FaultError as error:
                stop, fault = Stop.FAULT, error.fault
            if stop is not Stop.DONE:
                break
        recorder = self.statistics.recorder
        warps = len(blocks) * self.context.launch.warps_per_block
        return Run(
            stop, self.executions, self.lanes, self.statistics.counts(), tuple(blocks),
            None if recorder is None else recorder.trace(warps), fault, self.unknown,
        )  # fmt: skip

    def _groups(self, blocks: list[int]) -> Iterator[tuple[int, list[int]]]:
        """Yield blocks that are resident together, each group with the ordinal of its first."""
        launch = self.context.launch
        size = max(1, self.at_once // launch.warps_per_block, launch.cluster.count)
        if launch.cooperative:
            size = len(blocks)
        for first in range(0, len(blocks), max(size, 1)):
            yield first, blocks[first : first + size]

    def _group(self, blocks: list[int], first: int) -> tuple[Stop, Fault | None]:
        warps = Warps(self.routine, self.context, blocks, first)
        schedule = Schedule(self.routine, warps)
        schedule.targets = {
            i: b.end.targets[0] for i, b in enumerate(self.routine.blocks) if b.end.end is End.CONVERGE
        }
        spaces = Spaces(self.memory, self.context.banks, warps)
        schedule.parities = spaces.parities
        values = Interpreter(warps, spaces, self.statistics, FUNCTIONS, lambda b, n: schedule.votes[b, n])
        lengths = [max(1, len(b.instructions)) for b in self.routine.blocks]
        turns = _one_by_one(schedule, lengths) if self.at_once == 1 else _together(schedule)
        for place, rows in turns:
            if self.left <= 0:
                return Stop.INSTRUCTIONS, None
            warps.clock = self.left_at_start - self.left
            self._step(schedule, values, place, rows)
        if (warps.status != DONE).any():
            return Stop.DEADLOCK, _stuck(self.routine, warps)
        return Stop.DONE, None

    def _step(self, schedule: Schedule, values: Interpreter, place: int, rows: Array) -> None:
        """Execute one basic block on some warps."""
        block = self.routine.blocks[place]
        active = schedule.active(rows, place)
        self.left -= max(1, len(block.instructions)) * len(rows)
        if self.statistics.recorder is not None:
            self.statistics.recorder.step(schedule.warps.trace_number(rows), place, active)
        indices = slice(block.instructions.start, block.instructions.stop)
        if len(block.instructions):
            self.executions[indices] += len(rows)
            self.lanes[indices] += int(active.sum())
            found = self.routine.uncovered
            self.unknown |= {i: found[i] for i in block.instructions if i in found} if found else {}
        values.block(block, rows, active)
        for instruction, off in values.off.items():
            self.lanes[instruction] -= off
        schedule.end(block.end, rows, active, place, values)


def _one_by_one(schedule: Schedule, lengths: list[int]) -> Iterator[tuple[int, Array]]:
    """Yield (basic block, warp): each warp goes on until it waits, ends or has had its turn."""
    while True:
        runnable = schedule.runnable(schedule.places())
        if not len(runnable):
            return
        for row in runnable:
            rows = np.array([row])
            left = TURN
            while left > 0 and (place := schedule.place_of(int(row))) >= 0:
                left -= lengths[place]
                yield place, rows


def _together(schedule: Schedule) -> Iterator[tuple[int, Array]]:
    """Yield (basic block, warps): all warps that are at the lowest one, now and then at another one."""
    turn = 0
    while True:
        places = schedule.places()
        runnable = schedule.runnable(places)
        if not len(runnable):
            return
        turn += 1
        chosen = runnable[turn // FAIRNESS % len(runnable)] if turn % FAIRNESS == 0 else places.argmin()
        place = int(places[chosen])
        yield place, np.flatnonzero(places == place)


FAIRNESS = 64
"""Every so many steps another warp than one in the lowest basic block goes on, lest it waits for ever."""


def _stuck(routine: Routine, warps: Warps) -> Fault:
    """Return where the first thread waits that can never go on."""
    row, lane = (int(part[0]) for part in np.nonzero(warps.status != DONE))
    place = int(warps.place[row, lane])
    instructions = routine.blocks[place].instructions
    instruction = instructions.start if len(instructions) else routine.blocks[place].end.instruction
    return warps.fault(row, lane, instruction, reason="waits for threads that never come")
