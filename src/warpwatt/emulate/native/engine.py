"""Running a routine natively: tables and memory for the machine code, then what came of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.native.in_turn import run_in_turn
from warpwatt.emulate.native.machine import Machine, resident
from warpwatt.emulate.native.records import CODES
from warpwatt.emulate.native.results import STOPS, results
from warpwatt.emulate.native.step_values import NoStepError
from warpwatt.emulate.native.steps import RoutineSteps
from warpwatt.emulate.native.textures import FUNCTIONS as TEXTURE_FUNCTIONS
from warpwatt.emulate.run import UNBOUNDED, Each, Limits, Stop
from warpwatt.native import ADDRESS, INT, address, addresses, function

if TYPE_CHECKING:
    from warpwatt.emulate.budget import Budget
    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.native.llvm import Code
    from warpwatt.emulate.native.routine_text import RoutineText
    from warpwatt.emulate.run import Context, Run

_RUN_TIME = (
    "load_lanes", "load_uniform", "store_lanes", "atomic_lanes", "call_function", "match_lanes",
    "record_step", "exit_lanes", "converge_lanes", "converge_waiting_lanes", "arrive_at_barrier",
    "read_barrier_results", "branch_indirect", "trap_lanes", "await_phase", "bulk_copy",
    *TEXTURE_FUNCTIONS,
)  # fmt: skip
LONG_BLOCK, STACK_BYTES = 2000, 256 * 2**20
"""Operations from which a basic block, whose values lie there, may need more stack than threads have."""


def run_time() -> dict[str, int]:
    """Return the addresses of the functions of the native core that generated code calls."""
    return {name: address(name) for name in _RUN_TIME}


@lru_cache(maxsize=64)
def written(routine: Routine, *, record: bool) -> RoutineSteps | None:
    """Return a routine's steps, which run at once; None where some operation has none."""
    try:
        return RoutineSteps(routine, record)
    except NoStepError:
        return None


def translate(routine: Routine, *, record: bool) -> None:
    """Make of a routine what its first run would make, which later ones find made."""
    if written(routine, record=record) is None:
        compiled(routine, record=record)


@lru_cache(maxsize=64)
def compiled(routine: Routine, *, record: bool) -> tuple[RoutineText, Code]:
    """Return a routine's text and machine code."""
    from warpwatt.emulate.native.llvm import compile_text, load  # LLVM is slow to import, and seldom needed
    from warpwatt.emulate.native.routine_text import RoutineText

    text = RoutineText(routine, record)
    return text, load([compile_text(text.text)], run_time())


def run(
    routine: Routine,
    context: Context,
    memory: DeviceMemory,
    blocks: Sequence[int],
    limits: Limits | None = None,
    *,
    record: bool = False,
) -> Run:
    """Run some blocks of a launch and return what they did; ``record`` keeps a trace.

    The device memory is changed. What goes wrong in the kernel is said in the result and does not raise.
    """
    return Session(routine, context, memory, record=record)(blocks, limits or Limits())


class Session:
    """Runs of several groups of blocks of one launch, one after the other; what they share is made once."""

    def __init__(
        self, routine: Routine, context: Context, memory: DeviceMemory, *, record: bool = False
    ) -> None:
        self.context, self.memory = context, memory
        self._steps = written(routine, record=record)
        self._compiled = partial(compiled, routine, record=record)
        self._run_blocks = function("run_blocks", INT, ADDRESS)
        self._long = max(len(block.operations) for block in routine.blocks) > LONG_BLOCK
        self._machine: Machine | None = None

    def __call__(self, blocks: Sequence[int], limits: Limits) -> Run:
        """Run some blocks, as :func:`run`; the trace gets no more room than in the first run."""
        machine = self._ready(tuple(int(block) for block in blocks), limits)
        stop = self._on_stack(partial(self._run_blocks, machine.address))
        machine.raise_pending()
        return results(machine, stop)

    def each(self, blocks: Sequence[int], limits: Limits, total: int = UNBOUNDED) -> Each:
        """Run each block as if alone, within the limits; memory stays as those before left it.

        Those that are left once all together have taken ``total`` warp instructions count as stopped.
        """
        room = Limits(limits.warp_instructions, limits.trace_bytes * len(blocks))
        machine = self._made(tuple(int(block) for block in blocks), room)
        machine.record["launch.resident_blocks"] = machine.record["launch.places"] = 1
        stops = np.full(len(blocks), CODES["stop"][Stop.INSTRUCTIONS], np.int64)
        spent = np.zeros(len(blocks), np.int64)
        run_each = function("run_each_block", INT, ADDRESS, INT, INT, INT, ADDRESS, ADDRESS)
        bounds = limits.warp_instructions, limits.trace_bytes, total
        self._on_stack(partial(run_each, machine.address, *bounds, *addresses(stops, spent)))
        machine.raise_pending()
        found = results(machine, CODES["stop"][Stop.DONE])
        return Each(found, tuple(STOPS[code] for code in stops.tolist()), tuple(spent.tolist()))

    def in_turn(self, units: Sequence[Sequence[int]], budget: Budget) -> Sequence[Run]:
        """Run units as :class:`~warpwatt.emulate.units.InTurn` says: several where each is a single block."""
        blocks = tuple(int(unit[0]) for unit in units)
        if any(len(unit) > 1 for unit in units) or resident(self.context, blocks) > 1:
            return [self(units[0], budget.limits)]
        machine = self._ready(blocks, Limits(budget.instructions, budget.trace_bytes))
        return run_in_turn(machine, budget, self._on_stack)

    def _on_stack(self, run: Callable[[], int]) -> int:
        return _on_large_stack(run) if self._long else run()

    def _ready(self, blocks: tuple[int, ...], limits: Limits) -> Machine:
        """Return a machine before a run."""
        machine = self._machine
        if machine is not None and machine.together == resident(self.context, blocks):
            machine.begin(blocks, limits)
            return machine
        self._machine = self._made(blocks, limits)
        return self._machine

    def _made(self, blocks: tuple[int, ...], limits: Limits) -> Machine:
        steps = self._steps
        if steps is not None and steps.patience[0] >= 0:
            machine = Machine(steps, self.context, self.memory, blocks, limits)
            machine.interpret(steps, address("interpret"), self._dispatch)
            return machine
        machine = Machine(self._compiled()[0], self.context, self.memory, blocks, limits)
        machine.record["code.dispatch"] = self._dispatch()
        return machine

    def _dispatch(self) -> int:
        """Return where the routine's machine code begins."""
        return self._compiled()[1].address("dispatch")


def _on_large_stack(run: Callable[[], int]) -> int:
    """Call in a thread with a large stack; return what it returns."""
    found: list[int] = []
    before = threading.stack_size(STACK_BYTES)
    try:
        thread = threading.Thread(target=lambda: found.append(run()))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    return found[0]
