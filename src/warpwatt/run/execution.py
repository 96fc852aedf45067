"""Kernels really computed: whole grids, in the memory that the program sees, within a budget."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError, reason
from warpwatt.emulate.context import load_parameters
from warpwatt.emulate.failures import MISALIGNED, fault_error
from warpwatt.emulate.functional import Outcome, execute, routine_of
from warpwatt.emulate.layout import relaid
from warpwatt.emulate.run import Stop
from warpwatt.frontend.select import short_name
from warpwatt.program.binding import bind
from warpwatt.run.effects import Effects, Versions, allocations_of, effects
from warpwatt.run.memory import device_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpwatt.core.program import Kernel
    from warpwatt.emulate.arena import ArenaMemory
    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.run import Context
    from warpwatt.emulate.system_caller import ChildLaunch
    from warpwatt.run.launches import Request
    from warpwatt.run.memory import Allocations, Arena
    from warpwatt.run.modules import Module


THREADS, OPERATIONS = 1 << 16, 1e7
"""Threads of a launch, operations of a call, up to which times alone do not keep us from computing."""
MOMENT = 0.25
"""Seconds of CPU time after which such a launch is given up."""
NAME_WIDTH = 60
"""Columns of a kernel's name in messages."""
TIMES_ALONE = "for times alone (--timing-only)"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a launch did not end well: the runtime's error code, and what to tell the user."""

    code: int
    message: str


@dataclass(slots=True)
class Executor:
    """Runs launches in the arena.

    Attributes
    ----------
    budget
        Seconds of CPU time for all launches together; past it nothing is executed. 0: nobody wants results,
        only times.
    spent
        Seconds so far.
    instructions
        Warp instructions executed so far.
    """

    arena: Arena
    allocations: Allocations
    budget: float
    spent: float = 0.0
    instructions: int = 0
    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set by who ends the run: what is being computed ends, and nothing is computed any more."""
    notify: Callable[[str], None] = print
    not_computed: dict[str, str] = field(default_factory=dict)
    """Why launches were not computed -> the first one of which that is so, and why."""
    skipped: int = 0
    """How many were not computed, for that or as they read what others should have written."""
    output: list[bytes] = field(default_factory=list)
    versions: Versions = field(default_factory=Versions)
    repeated: int = 0
    """Launches whose results memory held already."""
    postponed: set[int] = field(default_factory=set)
    """Numbers of launches that were begun and left, as nothing has needed their results so far."""
    launched: list[ChildLaunch] = field(default_factory=list)
    """What the last launch has launched itself, in order: it is to be executed next."""
    timing_only: bool = False
    """Whether only what is small is computed: it may steer launches; large results are seldom asked for."""
    memories: dict[int, ArenaMemory] = field(default_factory=dict)
    """The device as each module sees it: its heap, and variables that the host has not registered."""

    def execute(
        self, kernel: Kernel, request: Request, module: Module, patience: float = math.inf
    ) -> Failure | None:
        """Compute a launch; return what went wrong, None if nothing did or the budget is spent.

        What takes more than ``patience`` seconds is left, to be computed from its start when something needs
        its results (:attr:`postponed`), where that gives the same.
        """
        routine = _routine(kernel)
        block = _block(kernel, routine, request)
        found = effects(routine, block, self.allocations)
        if self.versions.is_done(request.key, found):
            self.repeated += 1
            return None
        failure, why = None, self._why_not(found) or self._too_large(request.launch.threads, THREADS)
        patience = min(patience, MOMENT) if self.timing_only else patience
        if not why and (patience == math.inf or request.number not in self.postponed):
            try:
                failure = self._attempt(kernel, request, module, found, patience)
            except Exception as error:  # noqa: BLE001 - one launch must not end the run of a program
                why = reason(error)
        if self.timing_only and request.number in self.postponed:
            why = f"it takes more than {MOMENT:g} s {TIMES_ALONE}"
        if why:
            self.postponed.discard(request.number)
            reached = allocations_of(routine.program, block, self.allocations) if routine.uncovered else ()
            name = short_name(kernel.display_name, NAME_WIDTH)
            self._lose(f"launch {request.number}, {name}", why, found, *(own for _, own in reached))
        return failure

    @property
    def first_not_computed(self) -> str:
        """The first launch that was not computed, and why; empty if all were."""
        return next(iter(self.not_computed.values()), "")

    def _too_large(self, work: float, most: float) -> str:
        """Return why work is not done where times alone are wanted, empty if it is."""
        return f"its results are not needed {TIMES_ALONE}" if self.timing_only and work > most else ""

    def _why_not(self, found: Effects) -> str:
        """Return why something cannot be computed, empty if it can."""
        if lost := self.allocations.why_lost(found.reads):
            return lost
        if self.cancelled.is_set():
            return "the program was ended"
        return f"the budget of {self.budget:g} s is spent (--budget)" if self.spent >= self.budget else ""

    def _lose(self, what: str, why: str, found: Effects, *reached: frozenset[int]) -> None:
        """Know that something was not computed, and lose what it writes or may have written.

        ``reached`` are the allocations that instructions without semantics may have written.
        """
        self.skipped += 1
        if why not in self.not_computed and why not in self.not_computed.values():
            self.not_computed[why] = f"{what}: {why}"
            self.notify(f"not computed: {self.not_computed[why]}")
        writes = None if found.writes is None else found.writes.union(*reached)
        self.versions.write(writes)
        self.allocations.lose(writes, self.not_computed.get(why, why))

    def _attempt(
        self, kernel: Kernel, request: Request, module: Module, found: Effects, patience: float
    ) -> Failure | None:
        """Compute a launch, as far as patience goes."""
        self.postponed.discard(request.number)
        begun = time.process_time()
        try:
            failure = self._run(kernel, request, module, patience if found.may_wait else math.inf)
        finally:
            self.spent += time.process_time() - begun
        if request.number not in self.postponed:
            self.versions.computed(request.key, found)
        return failure

    def compute(
        self, name: str, key: tuple[object, ...], found: Effects, work: float, body: Callable[[], None]
    ) -> str:
        """Do what a closed library does, unless memory holds it; return why that is not possible.

        ``work`` is how much it computes, in operations.
        """
        if self.versions.is_done(key, found):
            self.repeated += 1
        elif why := self._why_not(found) or self._too_large(work, OPERATIONS):
            self._lose(name, why, found)
            return self.not_computed.get(why, why)
        else:
            begun = time.process_time()
            body()
            self.versions.computed(key, found)
            self.spent += time.process_time() - begun
        return ""

    def skip(self, kernel: Kernel, request: Request) -> None:
        """Know that a launch has written what it writes, without computing it."""
        routine = _routine(kernel)
        found = effects(routine, _block(kernel, routine, request), self.allocations)
        self.versions.computed(request.key, found)

    def _compute(self, routine: Routine, context: Context, memory: ArenaMemory, patience: float) -> Outcome:
        """Execute the whole grid while budget and patience last."""
        end = time.process_time() + min(self.budget - self.spent, patience)

        def is_over() -> bool:
            return self.cancelled.is_set() or time.process_time() > end

        outcome = execute(routine, context, memory, cancelled=is_over)
        self.instructions += outcome.warp_instructions
        self.output.append(outcome.printed.encode())
        self.launched += outcome.launched if outcome.stop is Stop.DONE else ()
        return outcome

    def _run(self, kernel: Kernel, request: Request, module: Module, patience: float) -> Failure | None:
        routine = _routine(kernel)
        bound = bind(routine.program, replace(request.launch, arguments={}))
        memory = device_memory(self.arena.shared, self.allocations, self.memories.get(id(module)))
        self.memories[id(module)] = memory
        context = load_parameters(bound.program, bound.launch, _block(kernel, routine, request), memory)
        outcome = self._compute(routine, context, memory, patience)
        if outcome.unknown:
            names = ", ".join(sorted(set(outcome.unknown.values())))
            raise InputError(f"instructions that are not emulated: {names}")
        if self.cancelled.is_set():
            raise InputError("the program was ended")
        if outcome.stop is Stop.INSTRUCTIONS and patience < self.budget - self.spent:
            self.postponed.add(request.number)
        elif outcome.stop is Stop.INSTRUCTIONS:
            raise InputError(f"the budget of {self.budget:g} s is spent (--budget)")
        if outcome.stop in (Stop.DONE, Stop.INSTRUCTIONS):
            return None
        fault = None if outcome.fault is None else memory.localised_fault(outcome.fault)
        error = fault_error(outcome.stop, fault, bound, memory.buffers)
        return Failure(_code(outcome), f"{kernel.display_name.partition('(')[0]}: {error}")


@lru_cache(maxsize=256)
def _routine(kernel: Kernel) -> Routine:
    """Return what is executed of a kernel."""
    return routine_of(kernel)


def _block(kernel: Kernel, routine: Routine, request: Request) -> bytes:
    """Return a launch's parameters as what is executed reads them."""
    return relaid(request.parameters, kernel.program(), routine.program)


def _code(outcome: Outcome) -> int:
    """Return the error that the runtime has for an execution that failed (``cudaError_t``)."""
    if outcome.stop is not Stop.FAULT or outcome.fault is None:
        return 702  # cudaErrorLaunchTimeout
    if not outcome.fault.bytes:  # a trap: that of an assertion, which is cudaErrorAssert, or the kernel's own
        return 710 if "Assertion `" in outcome.printed else 719
    return 716 if outcome.fault.reason == MISALIGNED else 700  # MisalignedAddress, IllegalAddress
