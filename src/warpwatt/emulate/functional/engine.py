"""Running every block of a launch, on several threads."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.functional.access_text import access_text
from warpwatt.emulate.functional.choice import missing
from warpwatt.emulate.functional.text import RUN_TIME, functional_text
from warpwatt.emulate.ir import Memory, Op
from warpwatt.emulate.native.engine import compiled as translated
from warpwatt.emulate.native.engine import written
from warpwatt.emulate.native.llvm import Code, compile_text, load
from warpwatt.emulate.native.machine import Machine
from warpwatt.emulate.native.results import end_of
from warpwatt.emulate.run import Limits, Stop
from warpwatt.native import ADDRESS, INT, address, function

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from warpwatt.emulate.functional.block_text import Tables
    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.native.steps import RoutineSteps
    from warpwatt.emulate.run import Context, Fault
    from warpwatt.emulate.system_caller import ChildLaunch

STACK_BYTES = 256 * 2**20
"""Of a thread: registers that the processor has no room for lie there."""
_MOST_THREADS = 256
"""More than any machine runs launches on at a time; they are made when they are needed."""
_SMALL, _MIDDLE = 2000, 20_000
"""Operations up to which a routine is optimised fully, and at all."""
_MOST_TOGETHER = 4096
"""Blocks that a thread takes at a time, at most."""
_MOST_WAITING = 512
"""Blocks that take turns, at most, where those that have begun seem to wait for others."""
_FIRST_TURN = 16
"""Instructions after which the warps that begin together first take turns: on a GPU all have begun by then,
and some kernels need that, such as those where several warps add to what each has read at its start."""
_PATIENCE = 0.1
"""Seconds between looks at whether the execution is cancelled."""
_SHARES = 8
"""In how many parts a thread's share of the grid is taken, at least."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an execution ended.

    Attributes
    ----------
    stop
        Why. Unless it is ``DONE``, memory holds what blocks did until then.
    warp_instructions
        Executed; a basic block without instructions counts as one. Blocks that were cancelled do not count.
    fault
        Where it went wrong, if it did: in the first of the blocks that were found at fault.
    seconds
        Processor time of all threads, without compiling.
    unknown
        Instructions without semantics that were executed, their results taken as 0 -> opcode.
    printed
        What the kernel has written with ``printf``, and of assertions that failed, block by block.
    launched
        What the kernel has launched, block by block: it is not executed here.
    """

    stop: Stop
    warp_instructions: int
    fault: Fault | None = None
    seconds: float = 0.0
    unknown: Mapping[int, str] = field(default_factory=dict)
    printed: str = ""
    launched: tuple[ChildLaunch, ...] = ()


def execute(
    routine: Routine,
    context: Context,
    memory: DeviceMemory,
    limits: Limits | None = None,
    *,
    blocks: Sequence[int] | None = None,
    threads: int | None = None,
    cancelled: Callable[[], bool] = bool,
) -> Outcome:
    """Execute a launch; ``memory`` is changed as the GPU would change it.

    Blocks run on several threads at a time (``threads``, by default one for each core), each from its start
    to its end and in the order of their numbers; those of a cooperative launch and of a cluster take turns
    on one. Where blocks run for long, which may be waiting, the next ones begin too and take turns. What goes
    wrong in the kernel is said in the result and does not raise.

    Parameters
    ----------
    routine
        The whole kernel (:func:`warpwatt.emulate.lift.lift`), not a slice of it.
    limits
        ``warp_instructions`` bounds the whole launch; by default there is no bound.
    blocks
        Linear numbers of the blocks to execute; by default the whole grid.
    cancelled
        Asked now and then; once it says so, the execution ends as if the limit was reached.
    """
    grid = range(context.launch.grid.count) if blocks is None else blocks
    cores = threads or len(os.sched_getaffinity(0))
    work, workers = _Work(grid, limits), list[_Worker]()
    if steps := written(routine, record=False):
        work.at_a_time = _at_a_time(routine, context, len(grid), threads=1, shares=len(grid))
        workers.append(_Worker(work, _Interpreted(routine, steps, work), context, memory))
        _run(workers, cancelled)
    if work.left and all(worker.stop is Stop.DONE for worker in workers):
        work.at_a_time = _at_a_time(routine, context, work.left, cores)
        made = _Compiled(*_compiled(routine))
        compiled = [_Worker(work, made, context, memory) for _ in range(min(cores, work.parts))]
        _run(compiled, cancelled)
        workers += compiled
    ran = frozenset[int]().union(*(worker.ran for worker in workers))
    unknown = {i: name for i, name in missing(routine).items() if routine.block_of(i) in ran}
    return replace(_outcome(workers), unknown=unknown)


class _Compiled:
    """A routine's machine code."""

    def __init__(self, tables: Tables, code: Code) -> None:
        self.tables, self._dispatch = tables, code.address("dispatch")

    def begin(self, machine: Machine) -> None:
        """Have a machine run it."""
        machine.record["code.dispatch"] = self._dispatch

    def goes_on(self) -> bool:
        """Whether it is to run further blocks."""
        return True


class _Interpreted:
    """A routine's steps, which run while that is less work than making machine code.

    After the first blocks the rest is expected to take as many steps each; where that is more than what the
    routine's patience leaves (:data:`~warpwatt.emulate.native.steps.PATIENCE`), machine code is made.
    """

    def __init__(self, routine: Routine, steps: RoutineSteps, work: _Work) -> None:
        self.tables, self._work, self._patience = steps, work, int(steps.patience[0])
        self._translated = partial(translated, routine, record=False)

    def begin(self, machine: Machine) -> None:
        """Have a machine run them; blocks that take far longer than the first go on in machine code."""
        machine.interpret(
            self.tables, address("interpret"), lambda: self._translated()[1].address("dispatch")
        )

    def goes_on(self) -> bool:
        """Whether they are to run further blocks, which then are all that are left."""
        left, taken, rest = int(self.tables.patience[0]), self._work.taken, self._work.left
        if not taken:
            return left >= 0
        self._work.at_a_time = rest
        return not rest or left * taken >= (self._patience - left) * rest


@lru_cache(maxsize=64)
def _compiled(routine: Routine) -> tuple[Tables, Code]:
    """Return a routine's text and machine code; long ones are optimised less."""
    text = functional_text(routine)
    size = sum(len(block.operations) for block in routine.blocks)
    level = 2 if size <= _SMALL else 1 if size <= _MIDDLE else 0
    made = [compile_text(text.text, level, optimise=level > 0)]
    made += [compile_text(access_text(kind), 2, optimise=True) for kind in sorted(text.kinds)]
    return text, load(made, {name: address(name) for name in RUN_TIME})


def _at_a_time(routine: Routine, context: Context, blocks: int, threads: int, shares: int = _SHARES) -> int:
    """Return how many blocks a thread takes at a time.

    All that must run together are taken at once; so are those of a small grid that may wait for each other.
    """
    if context.launch.cooperative:
        return blocks
    cluster = context.launch.cluster.count
    shares = 1 if blocks <= _MOST_WAITING and _may_wait(routine) else max(1, shares)
    fair = max(1, min(_MOST_TOGETHER, -(-blocks // (threads * shares))))
    return -(-fair // cluster) * cluster


def _may_wait(routine: Routine) -> bool:
    """Whether blocks can tell each other that they have come somewhere: by atomics on global memory."""
    operations = (o for block in routine.blocks for o in block.operations if o.op is Op.ATOMIC)
    return any(isinstance(o.data, Memory) and o.data.space in ("global", "generic") for o in operations)


class _Work:
    """The blocks that no thread has taken yet, and the instructions left to execute."""

    def __init__(self, blocks: Sequence[int], limits: Limits | None) -> None:
        self._blocks, self.at_a_time, self.taken = blocks, 1, 0
        self._left = limits.warp_instructions if limits is not None else _UNBOUNDED
        self._lock = threading.Lock()

    @property
    def parts(self) -> int:
        """How often blocks can be taken."""
        return -(-self.left // max(1, self.at_a_time))

    @property
    def left(self) -> int:
        """Blocks that nobody has taken."""
        return len(self._blocks) - self.taken

    def take(self, spent: int) -> tuple[Sequence[int], int]:
        """Return the next blocks and the budget left, less what was spent since the last call."""
        with self._lock:
            self._left -= spent
            first, self.taken = self.taken, min(self.taken + self.at_a_time, len(self._blocks))
            return self._blocks[first : self.taken], self._left

    def end(self, spent: int, *, gives_up: bool) -> None:
        """Know what a worker spent that takes no more blocks."""
        with self._lock:
            self._left -= spent
        if gives_up:
            self.give_up()

    def give_up(self) -> None:
        """Leave the remaining blocks alone."""
        with self._lock:
            self.taken = len(self._blocks)


_UNBOUNDED = 1 << 62


class _Worker:
    """One thread's share of the work, and what came of it."""

    def __init__(
        self, work: _Work, made: _Compiled | _Interpreted, context: Context, memory: DeviceMemory
    ) -> None:
        self._work, self._made, self._launch = work, made, (context, memory)
        self._run_blocks = function("run_blocks", INT, ADDRESS)
        self.stop = Stop.DONE
        self.fault: Fault | None = None
        self.warp_instructions, self.seconds = 0, 0.0
        self.error: BaseException | None = None
        self.printed: list[tuple[int, str]] = []
        self.launched: list[tuple[int, ChildLaunch]] = []
        self.ran: set[int] = set()
        """Basic blocks with instructions without semantics that were executed."""
        self._machine_running: Machine | None = None
        self._is_cancelled = False

    def __call__(self) -> None:
        """Run blocks until none are left; an exception is kept."""
        try:
            self._run()
        except BaseException as error:  # noqa: BLE001 - raised by who waits for the thread
            self.error = error
            self._work.give_up()

    def _run(self) -> None:
        machine: Machine | None = None
        spent = 0
        while self.stop is Stop.DONE and self._made.goes_on():
            blocks, left = self._work.take(spent)
            if not blocks:
                self.stop = Stop.INSTRUCTIONS if self._is_cancelled else Stop.DONE
                return
            limits = Limits(max(0, left), 0)
            if machine is None:
                machine = self._machine(tuple(blocks), limits)
            else:
                machine.begin(tuple(blocks), limits)
            self._machine_running = machine
            before = time.thread_time()
            stop = self._run_blocks(machine.address)
            self.seconds += time.thread_time() - before
            machine.raise_pending()
            self.stop, self.fault = end_of(machine, stop)
            self.ran.update(np.flatnonzero(machine.executions).tolist())
            if not self._is_cancelled:
                spent = limits.warp_instructions - int(machine.record["budget"])
                self.warp_instructions += spent
        self._work.end(spent, gives_up=self.stop is not Stop.DONE)

    def cancel(self) -> None:
        """End soon: nothing is left of the budget, unless the native loop writes it at the same time."""
        self._is_cancelled = True
        self._work.give_up()
        if self._machine_running is not None:
            self._machine_running.record["budget"] = 0

    def _machine(self, blocks: tuple[int, ...], limits: Limits) -> Machine:
        spare = min(len(blocks), _MOST_WAITING)
        machine = Machine(self._made.tables, *self._launch, blocks, limits, spare=spare)
        machine.caller.printed, machine.caller.launched = self.printed, self.launched
        machine.access_directly()
        self._made.begin(machine)
        machine.record["launch.first_turn"] = _FIRST_TURN
        return machine


@cache
def _threads() -> ThreadPoolExecutor:
    """Return threads with large stacks, which stay for later launches; a forked process makes its own."""
    return ThreadPoolExecutor(_MOST_THREADS, "warpwatt")


os.register_at_fork(after_in_child=_threads.cache_clear)


def _run(workers: Sequence[_Worker], cancelled: Callable[[], bool]) -> None:
    """Run all workers, each in a thread; an exception here, such as Ctrl-C, ends them."""
    before = threading.stack_size(STACK_BYTES)
    try:
        running = [_threads().submit(worker) for worker in workers]
    finally:
        threading.stack_size(before)
    try:
        _join(running, workers, cancelled)
    except BaseException:
        _join(running, workers, lambda: True)
        raise


def _join(running: Sequence[Future[None]], workers: Sequence[_Worker], cancelled: Callable[[], bool]) -> None:
    """Wait for threads; once cancelled, tell their workers until they end; raise what one has raised."""
    while wait(running, _PATIENCE).not_done:
        if cancelled():
            for worker in workers:
                worker.cancel()
    for worker in workers:
        if worker.error is not None:
            raise worker.error


def _outcome(workers: Sequence[_Worker]) -> Outcome:
    """Return what came of all shares together."""
    instructions = sum(worker.warp_instructions for worker in workers)
    seconds = sum(worker.seconds for worker in workers)
    lines = sorted((line for worker in workers for line in worker.printed), key=lambda line: line[0])
    printed = "".join(text for _, text in lines)
    made = sorted((one for worker in workers for one in worker.launched), key=lambda one: one[0])
    launched = tuple(child for _, child in made)
    stopped = [worker for worker in workers if worker.stop is not Stop.DONE]
    if not stopped:
        return Outcome(Stop.DONE, instructions, seconds=seconds, printed=printed, launched=launched)
    first = min(stopped, key=lambda worker: worker.fault.block if worker.fault else 1 << 62)
    return Outcome(first.stop, instructions, first.fault, seconds, printed=printed)
