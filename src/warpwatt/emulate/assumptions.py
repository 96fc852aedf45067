"""What emulation takes for granted: the sample, opcodes without semantics, how long waits take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arguments import Buffer, DType
from warpwatt.core.execution import Assumption
from warpwatt.core.launch import Launch
from warpwatt.core.program import Instruction, Program, Space
from warpwatt.isa.sass.products import is_product, product_of
from warpwatt.program.reasons import place
from warpwatt.program.system_calls import system_calls
from warpwatt.program.waits import SLEEP_SPREAD, polls, retries, sleeping_polls, sleeps

if TYPE_CHECKING:
    from warpwatt.core.execution import Execution
    from warpwatt.emulate.run import Run
    from warpwatt.emulate.sampling import Sample
    from warpwatt.emulate.scaling import GridRun

NOTICED_SPREAD = 0.002
"""Relative standard errors below this are not worth a word."""
UNCOVERED = "opcodes without semantics"
"""Parameter of the assumption that results of some executed instructions are unknown."""
CUT_SPREAD = 0.2
"""Standard deviation of the logarithm of the time where sampled blocks did not fit in the budget."""
TRACED = 0.9
"""Share of accesses off the chip from which on a trace holds nearly all."""
LOOKED_AT = 1 << 20
"""Numbers of a data file that are searched for NaN."""
PRODUCT_SPREAD = 0.3
"""The same where products in tensor memory are of a size that is not known."""
TEXTURE_SPREAD = 0.1
"""The same where what is read lies in memory in an order that is not known."""
POLL_SPREAD = 0.3
"""The same where blocks wait for what others write."""
HEAP_SPREAD = 1.0
"""The same where threads call ``malloc``, which may take longer than all else that they do (Winter et al.,
*Are dynamic memory managers on GPUs slow?*, PPoPP 2021)."""
RETRY_SPREAD = 0.3
"""The same, at least, where threads repeat a compare-and-swap that another one's has undone."""
MOST_WARPS = 1 << 13
"""That the largest GPUs hold at once, about."""
RETRIED = 1.2
"""Rounds of such a loop, on average, from which on threads are in each other's way."""
_UNTIMED = {
    "malloc": (
        "malloc and free",
        "the device's heap",
        HEAP_SPREAD,
        "how the device keeps its heap is not documented",
    ),
    "vprintf": (
        "printf's arguments",
        "the device's printf",
        HEAP_SPREAD,
        "how they reach the host is not documented",
    ),
}
"""Of functions of the system: how assumptions say that they are not timed, and its spread."""
LONGEST_WAIT = 3.0
"""The same, at most, where they take a lock: one after the other, so that it may be as often as long."""
WITHIN_80 = 1.2816
"""Standard deviations of a normal distribution within which 80 % of it lies."""
_OFF_CHIP = frozenset({Space.GLOBAL, Space.GENERIC, Space.LOCAL})
_FLOATS = frozenset({DType.F16, DType.F32, DType.F64})


def sampling_assumptions(
    taken: Sample, units: Sequence[int], spread: float, *, cut: bool
) -> Iterator[Assumption]:
    """Yield what scaling from a sample takes for granted, if blocks differ."""
    run, all_ = sum(len(taken.units[k]) for k in units), taken.grid.count
    if spread > NOTICED_SPREAD:
        message = f"blocks differ: {run} of {all_} were run and scaled"
        yield Assumption(message, "sampled blocks", spread)
    if cut:
        message = f"a sampled block took more than the budget and was left out; {run} of {all_} were run"
        yield Assumption(message, "budget of emulation", CUT_SPREAD)


def trace_assumptions(runs: Sequence[Run], program: Program) -> Iterator[Assumption]:
    """Yield that the order of some accesses was not kept, where the trace was cut short before many."""
    if all(run.trace is not None and run.trace.complete for run in runs):
        return
    made = held = 0.0
    off_chip = np.array([_is_off_chip(i) for i in program.instructions])
    for run in runs:
        made += float(run.accesses.requests[off_chip[run.accesses.instruction]].sum())
        if run.trace is not None:
            held += float(off_chip[run.trace.access_instruction].sum())
    if made and held < TRACED * made:
        message = (
            f"{1 - held / made:.0%} of the accesses to memory come after the end of the trace: what caches"
        )
        message += " keep of them is taken to be as before it"
        yield Assumption(message, "accesses not traced", CUT_SPREAD * (1 - held / made))


def _is_off_chip(instruction: Instruction) -> bool:
    return instruction.memory is not None and instruction.memory.space in _OFF_CHIP


def uncovered_assumptions(runs: Sequence[Run], program: Program, grid: GridRun) -> Iterator[Assumption]:
    """Yield the opcodes that were executed but have no semantics: their results are unknown."""
    unknown = {index: opcode for run in runs for index, opcode in run.unknown.items()}
    if not unknown:
        return
    share = sum(float(grid.executions[i]) for i in unknown) / max(1.0, float(grid.executions.sum()))
    names = sorted(set(unknown.values()))
    listed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    first = program.instructions[min(unknown)].line
    message = f"results of {len(unknown)} instructions are not emulated ({listed}): zero is taken"
    yield Assumption(message, UNCOVERED, min(1.0, 0.1 + share), first)


def product_assumptions(program: Program, grid: GridRun) -> Iterator[Assumption]:
    """Yield that sizes of products in tensor memory are taken, where their descriptors are no constants."""
    instructions = program.instructions
    open_ = [
        i.index
        for i in instructions
        if is_product(i.opcode) and grid.executions[i.index] and product_of(instructions, i.index) is None
    ]
    if open_:
        message = f"{len(open_)} products in tensor memory are taken to have 128 rows a block and 256 columns"
        yield Assumption(message, "sizes of products", PRODUCT_SPREAD, instructions[open_[0]].line)


def wait_assumptions(execution: Execution) -> Iterator[Assumption]:
    """Yield what of the program's waiting is not known: how long it sleeps, when others let it go on."""
    instructions, counts = execution.program.instructions, execution.counts
    asked = {i: seconds for i, seconds in sleeps(execution.program).items() if counts[i]}
    for line, places in groupby(asked, key=lambda i: instructions[i].line):
        first = min(places)
        known, where = asked[first], place(line, first)
        takes = "as long as it asks for" if known else "no time, since what it asks for is not a constant"
        message = f"__nanosleep ({where}) takes {takes}; it may take nothing, or twice as long"
        yield Assumption(message, "nanosleep", 0.0 if known else SLEEP_SPREAD, line and line.outermost)
    yield from _waits_within_blocks(execution)
    for poll in polls(execution.program):
        if not counts[poll.index]:
            continue
        line = instructions[poll.index].line
        does = "takes a lock" if poll.locks else "looks until another thread has written"
        message = f"waits for other blocks are not timed: {place(line, poll.index)} {does}"
        most = math.log(max(1, execution.launch.grid.count)) / WITHIN_80
        spread = min(LONGEST_WAIT, most) if poll.locks else POLL_SPREAD
        yield Assumption(message, "waits for other blocks", spread, line and line.outermost, one_sided=True)


def retry_assumptions(execution: Execution) -> Iterator[Assumption]:
    """Yield that compare-and-swaps are repeated as often as threads of one warp are in each other's way.

    Warps are emulated one after the other: what they undo of each other's is not seen. Each that succeeds may
    undo those of all other warps at its address (a sum of 262,144 threads on an RTX 3080: 966 times as long).
    """
    trips = {loop.header: loop.trips for loop in execution.loops if loop.trips > RETRIED}
    for swap, header in retries(execution.program).items():
        if header not in trips or not execution.counts[swap]:
            continue
        line = execution.program.instructions[swap].line
        message = f"a compare-and-swap ({place(line, swap)}) is tried {trips[header]:.3g} times, as the"
        message += " threads of one warp make it; others may make it more"
        crowd = min(MOST_WARPS, _lanes_at_one_address(execution, swap) / trips[header])
        spread = max(RETRY_SPREAD, math.log(max(1.0, crowd)) / WITHIN_80)
        yield Assumption(message, "compare-and-swap", spread, line and line.outermost, one_sided=True)


def _lanes_at_one_address(execution: Execution, index: int) -> float:
    """Return how many lanes of the launch execute an instruction at one address, 0 if that is not known."""
    memory = execution.program.instructions[index].memory
    growths = execution.reuse.growths if execution.reuse else ()
    reached = sum(growth.total for growth in growths if index in growth.instructions)
    if memory is None or not reached:
        return 0.0
    return execution.lanes[index] * execution.counts[index] * memory.bytes / reached


def system_assumptions(execution: Execution) -> Iterator[Assumption]:
    """Yield that functions of the system (``malloc``, ``printf``) take no time of their own, where called."""
    called: dict[str, Instruction] = {}
    for instruction, name in system_calls(execution.program):
        if execution.counts[instruction.index]:
            called.setdefault("malloc" if name == "free" else name, instruction)
    for name, (what, parameter, spread, why) in _UNTIMED.items():
        if name in called:
            line = called[name].line
            message = f"{what} ({place(line, called[name].index)}) take no time of their own: {why}"
            yield Assumption(message, parameter, spread, line and line.outermost, one_sided=True)


def _waits_within_blocks(execution: Execution) -> Iterator[Assumption]:
    """Yield that threads of a block wait for each other in loops, whose rounds nobody knows.

    Machine code has one round of each left; PTX as many as the long turns of warps in emulation make.
    """
    counts, instructions = execution.counts, execution.program.instructions
    loops = [loop for loop in sleeping_polls(execution.program) if any(counts[i] for i in loop)]
    if not loops:
        return
    first = min(map(min, loops))
    looking = sum(counts[i] for loop in loops for i in loop) / max(1.0, execution.warp_instructions)
    line = instructions[first].line
    message = f"waits for other threads of a block are not timed: {place(line, first)} looks for them"
    spread = max(POLL_SPREAD, -math.log1p(-min(0.99, looking)) / WITHIN_80)
    yield Assumption(message, "waits within blocks", spread, line and line.outermost, one_sided=True)


def texture_assumptions(execution: Execution) -> Iterator[Assumption]:
    """Yield that nobody knows how textures lie in memory, where some are read."""
    fetches = [
        i for i in execution.program.instructions
        if i.memory is not None and i.memory.space is Space.TEXTURE and execution.counts[i.index]
    ]  # fmt: skip
    if fetches:
        line = fetches[0].line
        message = f"textures ({place(line, fetches[0].index)}) are counted as rows of words side by side: "
        message += "how they lie in memory is not documented"
        yield Assumption(message, "layout of textures", TEXTURE_SPREAD, line and line.outermost)


def nan_assumptions(launch: Launch) -> Iterator[Assumption]:
    """Yield the data files that hold NaN: the kernel follows them, which is seldom what was meant."""
    for name, argument in launch.arguments.items():
        if not isinstance(argument, Buffer) or not argument.path or argument.dtype not in _FLOATS:
            continue
        array = np.load(argument.path, mmap_mode="r", allow_pickle=False).reshape(-1)[:LOOKED_AT]
        found = int(np.count_nonzero(np.isnan(array)))
        if found:
            message = f"buffer {name} holds NaN ({found} of {len(array)} numbers of {argument.path}); "
            message += "threads go where comparisons with NaN lead"
            yield Assumption(message, f"NaN in {name}", 0.0, fix=f"--arg {name}=TYPE[SHAPE]:OTHER.npy")
