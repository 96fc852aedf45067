"""Kernels really computed: whole grids, in the memory that the program sees, within a budget."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.core.errors import WarpWattError
from warpwatt.emulate.context import load_parameters
from warpwatt.emulate.failures import MISALIGNED, fault_error
from warpwatt.emulate.functional import Outcome, execute, routine_of
from warpwatt.emulate.layout import relaid
from warpwatt.emulate.run import Stop
from warpwatt.program.binding import bind
from warpwatt.run.effects import Effects, Versions, effects
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
        Seconds of CPU time for all launches together; past it nothing is executed.
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
    given_up: str = ""
    """The first launch that was not executed and why; what memory holds behind it is unknown."""
    lost: frozenset[int] | None = frozenset()
    """Allocations that would hold something else since then, None: any may."""
    output: list[bytes] = field(default_factory=list)
    versions: Versions = field(default_factory=Versions)
    repeated: int = 0
    """Launches whose results memory held already."""
    postponed: set[int] = field(default_factory=set)
    """Numbers of launches that were begun and left, as nothing has needed their results so far."""
    launched: list[ChildLaunch] = field(default_factory=list)
    """What the last launch has launched itself, in order: it is to be executed next."""
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
        found = effects(routine, _block(kernel, routine, request), self.allocations)
        failure = None
        if self.given_up:
            pass
        elif self.versions.is_done(request.key, found):
            self.repeated += 1
        elif self.cancelled.is_set():
            self._give_up(request, "the program was ended")
        elif self.spent >= self.budget:
            self._give_up(request, f"the budget of {self.budget:g} s is spent (--budget)")
        elif patience == math.inf or request.number not in self.postponed:
            failure = self._attempt(kernel, request, module, found, patience)
        if self.given_up:
            self.lose(found.writes)
        return failure

    def lose(self, allocations: frozenset[int] | None) -> None:
        """Know that nobody computes what is written to some allocations, None: to any."""
        self.lost = None if allocations is None or self.lost is None else self.lost | allocations

    def has_lost(self, allocations: frozenset[int] | None) -> bool:
        """Whether some of these allocations (None: any) may hold something else on a device."""
        if self.lost is None or allocations is None:
            return bool(self.given_up)
        return bool(self.lost & allocations)

    def _attempt(
        self, kernel: Kernel, request: Request, module: Module, found: Effects, patience: float
    ) -> Failure | None:
        """Compute a launch, as far as budget and patience go."""
        self.postponed.discard(request.number)
        begun = time.process_time()
        try:
            return self._run(kernel, request, module, patience if found.may_wait else math.inf)
        except WarpWattError as error:
            self._give_up(request, str(error))
            return None
        finally:
            if request.number not in self.postponed:
                self.versions.computed(request.key, found)
            self.spent += time.process_time() - begun

    def compute(self, name: str, key: tuple[object, ...], found: Effects, body: Callable[[], None]) -> None:
        """Do on the host what a closed library does, unless memory holds it or the budget is spent."""
        if self.given_up:
            self.lose(found.writes)
        elif self.versions.is_done(key, found):
            self.repeated += 1
        elif self.spent >= self.budget:
            self.given_up = f"{name}: the budget of {self.budget:g} s is spent (--budget)"
        else:
            begun = time.process_time()
            body()
            self.versions.computed(key, found)
            self.spent += time.process_time() - begun

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

    def _give_up(self, request: Request, reason: str) -> None:
        self.given_up = f"launch {request.number}, {request.kernel}: {reason}"

    def _run(self, kernel: Kernel, request: Request, module: Module, patience: float) -> Failure | None:
        routine = _routine(kernel)
        bound = bind(routine.program, replace(request.launch, arguments={}))
        memory = device_memory(self.arena.shared, self.allocations, self.memories.get(id(module)))
        self.memories[id(module)] = memory
        context = load_parameters(bound.program, bound.launch, _block(kernel, routine, request), memory)
        outcome = self._compute(routine, context, memory, patience)
        if outcome.unknown:
            names = ", ".join(sorted(set(outcome.unknown.values())))
            self._give_up(request, f"instructions that are not emulated: {names}")
        if self.cancelled.is_set():
            self._give_up(request, "the program was ended")
        elif outcome.stop is Stop.INSTRUCTIONS and patience < self.budget - self.spent:
            self.postponed.add(request.number)
        elif outcome.stop is Stop.INSTRUCTIONS:
            self._give_up(request, f"the budget of {self.budget:g} s is spent (--budget)")
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
