"""The ways to find out what a launch does, in the order they are tried: :data:`STRATEGIES`.

Each is a function of a launch at one level, and of why the strategy before it refused. It returns an
execution, or a :class:`Refusal` with its reason, which the next strategy is given; an error that is the
user's to mend is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from warpwatt.core.errors import ArgumentError, EndlessLoopError, InputError
from warpwatt.core.execution import Assumption, Execution
from warpwatt.core.launch import Launch
from warpwatt.core.program import Level, Program, Space
from warpwatt.emulate.run import Limits
from warpwatt.emulate.undecided import (
    check_loop_lines,
    require_known_calls,
    require_known_loops,
    require_narrow,
)
from warpwatt.program.binding import BoundLaunch, bind

if TYPE_CHECKING:
    from warpwatt.emulate.emulation import Emulation, Load
    from warpwatt.emulate.units import Engine
    from warpwatt.program.block_work import BlockWork

LIMITS = Limits(warp_instructions=20_000_000, trace_bytes=32 * 2**20)
"""Bounds of all units of one launch together."""
PARTED_SPREAD = 0.1
"""Standard deviation of the logarithm of the time where lanes go on that others should have met."""
STATIC_SPREAD = 0.2
"""Standard deviation of the logarithm of the time where the emulator could not follow the kernel."""
FAILED_CONTENTS = "contents that fail"
"""Parameter of the assumption that analysis counts right where a run on assumed contents failed."""
FAILED_SPREAD = 0.5
"""The same where assumed contents of buffers made a run fail."""


@dataclass(frozen=True, eq=False)
class LaunchAnalysis:
    """A launch at one level, with what strategies share: made when first asked for, once.

    Attributes
    ----------
    loop_counts
        The user's iterations per entry of loops, by source line.
    limits
        Budget of warp instructions and bytes of trace of all sampled blocks together.
    engine
        Who runs the micro-operations; the native engine where there is one.
    load
        What puts the launch on a device; None: its buffers as they are described.
    ptx
        The same kernel as PTX, which tells how much each block works.
    """

    program: Program
    launch: Launch
    loop_counts: Mapping[int, float] = field(default_factory=dict)
    limits: Limits = LIMITS
    engine: Engine | None = None
    load: Load | None = None
    ptx: Program | None = None

    @property
    def has_ptx(self) -> bool:
        """Whether the kernel is at hand as PTX beside this program, to be tried after it."""
        return self.ptx is not None and self.ptx is not self.program

    @cached_property
    def bound(self) -> BoundLaunch:
        """The launch bound to the program; raises :class:`ArgumentError` where arguments do not match."""
        return bind(self.program, self.launch)

    @cached_property
    def work(self) -> BlockWork | None:
        """How much the blocks of the grid work, None where that is not known or all are alike."""
        from warpwatt.program.block_work import block_work

        try:
            return None if self.ptx is None else block_work(bind(self.ptx, self.launch))
        except ArgumentError:
            return None

    @cached_property
    def counted(self) -> Execution:
        """What static analysis counts; raises :class:`ArgumentError` where an argument is needed."""
        from warpwatt.program.counting import count

        return count(self.bound, self.loop_counts)


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """Why a strategy has no execution to offer."""

    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Stopped(Refusal):
    """A run that failed, or that spent its budget before one block ended.

    ``error`` says so to the user, unless ``assumed``, contents of buffers that nobody described, may be why.
    """

    error: InputError
    emulation: Emulation
    assumed: tuple[Assumption, ...]


Strategy = Callable[[LaunchAnalysis, Refusal], Execution | Refusal]
"""What it is given beside the launch is why the strategy before it refused."""
UNTRIED = Refusal("nothing was tried")


def count_given_loops(analysis: LaunchAnalysis, _: Refusal) -> Execution | Refusal:
    """Count with the iterations that the user gave: emulation would follow the data instead.

    Raises
    ------
    ArgumentError
        If a line that they are given for has no loop.
    UndecidedError
        If another loop's iterations are not known either.
    """
    if not analysis.loop_counts:
        return Refusal("no iterations of loops are given")
    check_loop_lines(analysis.bound.program, analysis.loop_counts)
    return require_known_loops(analysis.counted)


def count_closed_form(analysis: LaunchAnalysis, _: Refusal) -> Execution | Refusal:
    """Count PTX where analysis knows every loop, branch and address: emulation would find the same."""
    if analysis.program.level is not Level.PTX:
        return Refusal("only PTX is counted in closed form")
    if any(i.memory is not None and i.memory.space is Space.TEXTURE for i in analysis.program.instructions):
        return Refusal("analysis does not see what textures move")
    if _lacks_shared(analysis):
        return Refusal("the launch gives no dynamic shared memory")
    counted = analysis.counted
    if counted.assumptions or not all(pattern.known for pattern in counted.accesses.values()):
        return Refusal("control flow or addresses depend on data")
    return counted


def _lacks_shared(analysis: LaunchAnalysis) -> bool:
    """Whether the kernel names ``extern __shared__`` memory that the launch has none of: using it fails."""
    variables = analysis.program.variables
    dynamic = any(v.external and v.space is Space.SHARED for v in variables)
    return dynamic and not analysis.launch.dynamic_shared


def emulate(analysis: LaunchAnalysis, _: Refusal) -> Execution | Refusal:
    """Run sampled blocks and scale them to the grid, if the emulator knows all that they execute."""
    from warpwatt.emulate.emulation import run_sample, scale_to_grid
    from warpwatt.emulate.failures import stuck_in_reconvergence, stuck_in_warp

    try:
        emulation = run_sample(analysis.bound, analysis.limits, analysis.engine, analysis.load, analysis.work)
    except ArgumentError as error:
        return Refusal(error.message)
    if unknown := emulation.unknown_opcodes:
        return Refusal(f"it executes instructions that the emulator does not know ({', '.join(unknown)})")
    if emulation.stopped is not None:
        if stuck_in_warp(emulation.stopped, emulation.bound.program):
            found = _without_waiting(analysis)
            if found is not None:
                return found
        if stuck_in_reconvergence(emulation.stopped, emulation.bound.program):
            return Refusal("lanes of a warp that part do not meet again in the machine code")
        failure, assumed = emulation.failure()
        return Stopped(failure.message, failure, emulation, assumed)
    return scale_to_grid(emulation)


def _without_waiting(analysis: LaunchAnalysis) -> Execution | None:
    """Run machine code again whose lanes wait for others that never come, without those waits.

    Shuffles and votes that name lanes which have gone elsewhere are undefined (CUDA C++ Programming Guide,
    "Warp shuffle functions"), and GPUs go on with those that are there: WARPSYNC becomes a NOP.
    """
    going_on = _going_on(analysis.program)
    found = (
        emulate(replace(analysis, program=going_on), UNTRIED) if going_on is not analysis.program else None
    )
    if not isinstance(found, Execution):
        return None
    message = "lanes of a warp wait for others that have gone elsewhere: they are taken to go on without them"
    assumed = Assumption(message, "lanes that do not meet", PARTED_SPREAD)
    return replace(found, assumptions=(*found.assumptions, assumed))


def _going_on(program: Program) -> Program:
    """Return a program and its functions without waits for lanes of a warp; itself where there are none."""
    functions = {name: _going_on(function) for name, function in program.functions.items()}
    waits = {i.index for i in program.instructions if i.opcode.startswith("WARPSYNC")}
    if not waits and all(functions[name] is program.functions[name] for name in functions):
        return program
    instructions = (
        replace(i, opcode="NOP", operands=(), reads=(), writes=()) if i.index in waits else i
        for i in program.instructions
    )
    return replace(program, instructions=tuple(instructions), functions=functions)


def extrapolate_truncated_run(analysis: LaunchAnalysis, refusal: Refusal) -> Execution | Refusal:
    """Count a block too long for the budget by analysis, with the accesses of the part that was run.

    Refuses where analysis does not know either how often the loop runs that spent the budget.
    """
    if not isinstance(refusal, Stopped) or not isinstance(refusal.error, EndlessLoopError):
        return refusal
    from warpwatt.emulate.truncation import extrapolate

    try:
        found = extrapolate(refusal.emulation, analysis.loop_counts)
    except ArgumentError as error:
        return Refusal(error.message)
    if found is None and analysis.has_ptx:  # whose loops are as they were written
        return Refusal(refusal.reason)
    return found or refusal


def count_past_failure(analysis: LaunchAnalysis, refusal: Refusal) -> Execution | Refusal:
    """Count by analysis where contents of buffers that nobody described may have made the run fail.

    Raises
    ------
    MemoryFaultError, DeadlockError, EndlessLoopError
        If what nobody described has no part in it.
    UndecidedError
        If how often loops run depends on it.
    """
    if not isinstance(refusal, Stopped):
        return refusal
    if not refusal.assumed:
        raise refusal.error
    from warpwatt.program.counting import count, unknown_trips

    try:
        counted = count(refusal.emulation.bound, analysis.loop_counts)
    except ArgumentError as error:
        return Refusal(error.message)
    if unknown_trips(counted) and analysis.has_ptx:
        return Refusal(refusal.reason)
    fixes = tuple(a.fix for a in refusal.assumed)
    require_known_loops(counted, f"random numbers do not tell ({refusal.error})", fixes)
    message = f"emulation failed on contents that are assumed ({refusal.error}): counts are those of analysis"
    first = refusal.assumed[0]
    failed = Assumption(message, FAILED_CONTENTS, FAILED_SPREAD, first.line, first.fix)
    return replace(counted, assumptions=(*counted.assumptions, *refusal.assumed, failed))


def count_with_assumptions(analysis: LaunchAnalysis, refusal: Refusal) -> Execution:
    """Count by static analysis, which takes branches and addresses for granted: the last resort.

    Raises
    ------
    ArgumentError
        If a loop, branch or address depends on an argument that was not given.
    UndecidedError
        If how often loops run depends on data, or so much else does that the counts mean nothing.
    """
    assumption = Assumption(f"not emulated: {refusal.reason}", "no emulation", STATIC_SPREAD)
    counted = require_known_loops(analysis.counted, f"it cannot be emulated: {refusal.reason}")
    counted = require_known_calls(counted, f"it cannot be emulated: {refusal.reason}")
    found = replace(counted, assumptions=(*counted.assumptions, assumption))
    return require_narrow(found, refusal.reason)


EMULATION: tuple[Strategy, ...] = (emulate, extrapolate_truncated_run, count_past_failure)
STRATEGIES: tuple[Strategy, ...] = (count_given_loops, count_closed_form, *EMULATION)
"""Tried for machine code first, then for PTX, or as the time model reads them."""


def attempt(steps: Iterable[tuple[LaunchAnalysis, Strategy]]) -> Execution | Refusal:
    """Return the execution of the first strategy that has one, else why the last one refused."""
    refusal = UNTRIED
    for analysis, strategy in steps:
        found = strategy(analysis, refusal)
        if isinstance(found, Execution):
            return found
        refusal = found
    return refusal
