"""Work that a program has asked for, in order: launches predicted, copies and events put on the timelines.

Nothing is computed before something needs it: memory that the host reads, or that steers a later launch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from warpwatt.core.errors import WarpWattError
from warpwatt.core.launch import Launch
from warpwatt.emulate.deciding_parameters import deciding_bytes
from warpwatt.emulate.device_launch import kernel_address
from warpwatt.emulate.layout import parameter_offsets
from warpwatt.emulate.lift import lift
from warpwatt.native.demangle import demangle
from warpwatt.run import codes
from warpwatt.run import protocol as p
from warpwatt.run.effects import LOST
from warpwatt.run.launches import Predicted, Request, pointers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from warpwatt.core.gpu import Gpu
    from warpwatt.core.prediction import Prediction
    from warpwatt.core.program import Kernel, Program
    from warpwatt.run.execution import Executor, Failure
    from warpwatt.run.memory import Allocations, Arena
    from warpwatt.run.modules import Module
    from warpwatt.run.predictions import Predictor
    from warpwatt.run.records import Record
    from warpwatt.run.timeline import Timeline

FROM_HOST = (
    codes.CopyKind.HOST_TO_DEVICE,
    codes.CopyKind.HOST_TO_HOST,
    codes.CopyKind.FILL,
    codes.CopyKind.DEVICE_TO_DEVICE,
)
"""Copies that the program has made, after which device memory may be another."""


MOVED_BYTES = 1 << 20
"""Bytes of the largest copy or fill that is done where times alone are wanted."""


@dataclass(slots=True)
class Function:
    """A kernel that the program has registered, and what it set of it."""

    module: Module
    name: str
    max_dynamic_shared: int | None = None
    carveout: int | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """Work that the program asked for; ``host`` is when, in s. Launches have a request."""

    host: float
    record: Record
    request: Request | None = None
    graph: bool = False
    is_child: bool = False
    """Whether a kernel has launched it, and it has no place on the timelines so far."""


@dataclass(slots=True)
class Work:
    """The queue of one device, the first of ``gpus`` being what the program sees."""

    gpus: Sequence[Gpu]
    arena: Arena
    allocations: Allocations
    executor: Executor
    predictor: Predictor
    timelines: Sequence[Timeline]
    notify: Callable[[str], None]
    functions: dict[int, Function] = field(default_factory=dict)
    """Kernels by the numbers that the program has for them."""
    predicted: list[Predicted] = field(default_factory=list)
    """Of each launch, in order."""
    error: Failure | None = None
    """What the first launch failed by that failed."""
    computes: bool = True
    """Whether kernels are computed; a run on file brings the memory with it."""
    predicts: bool = True
    """Whether work has a place on the timelines; without, memory alone counts."""
    before_prediction: Callable[[int], None] | None = None
    """Called with the number of a launch before it is predicted, where memory decides what it does."""
    _timed: list[Pending] = field(default_factory=list)
    """Work without a place on the timelines, in order."""
    _unexecuted: list[Pending] = field(default_factory=list)
    """Work that memory does not show, in order."""
    _failures: set[str] = field(default_factory=set)
    """Why launches were not predicted, as far as it was said."""
    _costs: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Time and energy by the prediction's identity."""
    _launches: int = 0

    # -- what is asked for ----------------------------------------------------------------------------

    def launch(self, launch: Launch, record: p.Launch, host: float, *, graph: bool) -> None:
        """Queue a launch, and call the allocations that it names by its parameters."""
        function = self.functions[record.function]
        self._launches += 1
        kernel = self.seen_kernel(record.function)
        program = None if kernel is None else kernel.ptx or kernel.sass
        if program is not None and not self.executor.timing_only:
            for name, address in pointers(program, record.data, self.allocations):
                self.allocations.named(address, name)
        deciding = None if kernel is None else _deciding(kernel)
        request = Request.placed(self._launches, record, function.name, launch, self.allocations, deciding)
        work = Pending(host, record, request, graph=graph)
        self._timed.append(work)
        self._unexecuted.append(work)

    def later(self, work: Pending) -> None:
        """Queue what has only a place in time: events, waits, copies that the program makes."""
        self._timed.append(work)

    def compute_later(self, work: Pending) -> None:
        """Queue what changes memory once all before it has: copies of the device, memory given back."""
        self._unexecuted.append(work)

    def forget(self) -> None:
        """Drop what was not computed: nobody can read its results any more."""
        self._unexecuted.clear()

    @property
    def is_computed(self) -> bool:
        """Whether memory shows all that was asked for."""
        return not self._unexecuted

    # -- kernels and memory ---------------------------------------------------------------------------

    def kernel(self, number: int) -> Kernel | None:
        """Return a registered function's kernel for the GPU that the program sees."""
        function = self.functions.get(number)
        return None if function is None else function.module.kernel(function.name, self.gpus[0].target)

    def seen_kernel(self, number: int) -> Kernel | None:
        """Return the kernel whose parameters a launch has: a run on file may have none for the first GPU."""
        return self.kernel(number) if self.computes else self._any_kernel(self.functions[number])

    def _any_kernel(self, function: Function) -> Kernel | None:
        """Return a kernel for the first GPU that has one, None if none has."""
        for gpu in self.gpus:
            with suppress(WarpWattError):  # said where it is predicted
                return function.module.kernel(function.name, gpu.target)
        return None

    def written(self, address: int) -> None:
        """Know that memory at an address has other contents."""
        block = self.allocations.at(address)
        self.executor.versions.write(None if block is None else [block.address])

    def overwritten(self, record: p.CopyRecord) -> None:
        """Know that a copy or fill has changed memory, to what is lost where it came from lost memory."""
        self.written(record.destination)
        source = self.allocations.at(record.source)
        why = "" if source is None else self.allocations.why_lost([source.address])
        self.allocations.overwritten(record.destination, record.size, why)

    def not_moved(self, record: p.CopyRecord) -> None:
        """Know that nobody has moved what a copy or fill was to move, as times alone are wanted."""
        self.written(record.destination)
        self.allocations.overwritten(
            record.destination, record.size, f"a copy or fill of {record.size} bytes"
        )

    def host_may_write(self) -> None:
        """Know that the program may write memory that it shares with the device, from now on unseen."""
        if self.allocations.has_shared:
            self.executor.versions.write(None)

    def copied(self, record: p.CopyRecord) -> None:
        """Know that L2 holds what a copy, in its place among the launches, has written."""
        if record.kind in FROM_HOST:
            self.predictor.copied(record.destination, record.size)

    # -- predicting and computing ---------------------------------------------------------------------

    def place(self) -> None:
        """Put all work on the timelines."""
        waiting, self._timed = self._timed, []
        for work in waiting if self.predicts else ():
            self._place_one(work)

    def _place_one(self, work: Pending) -> None:
        record, request = work.record, work.request
        if request is not None:
            found = self._predict(request)
            for line, prediction in zip(self.timelines, found.predictions, strict=True):
                time, energy = (0.0, 0.0) if prediction is None else self._cost(prediction, found.scale)
                name = demangle(request.kernel)
                line.launch(
                    line.host(work.host), name, request.stream, time, energy, request.number, graph=work.graph
                )
            return
        if isinstance(record, p.CopyRecord):
            self.copied(record)
        for line in self.timelines:
            host = line.host(work.host)
            match record:
                case p.CopyRecord():
                    line.copy(host, record)
                case p.EventRecord():
                    line.record(record.event, record.stream, host)
                case p.StreamWait():
                    line.wait(record.stream, record.event)

    def _cost(self, prediction: Prediction, scale: float) -> tuple[float, float]:
        """Return seconds and joules of a launch; energy follows from samples, once for each prediction."""
        known = self._costs.get(id(prediction))  # which `predicted` keeps alive
        if known is None:
            known = self._costs[id(prediction)] = prediction.time.value, prediction.energy.value
        return known[0] * scale, known[1] * scale

    def _predict(self, request: Request) -> Predicted:
        """Return the prediction of a launch from memory as it is before it."""
        module = self.functions[request.function].module
        steering = self.predictor.steering(module, request)
        is_steered = steering is None or bool(steering)
        if is_steered and not self.executor.timing_only:
            if (found := self.predictor.steady.alike(request)) is not None:
                return self._predicted(found)
            self.compute(before=request)
        contents = None if steering is None else self.executor.versions.state(steering)
        unknown_from = self.allocations.why_lost(steering) if is_steered else ""
        if unknown_from and contents is not None:
            lost = self.allocations.lost
            contents = {at: state for at, state in contents.items() if at not in lost} | {LOST: (0, 0)}
        found = self.predictor.known(request, contents)
        if found is None and self.executor.timing_only:
            found = self.predictor.steady.alike(request)
        if found is None:
            if is_steered and self.before_prediction is not None:
                self.before_prediction(request.number)
            found = self.predictor.predict(module, request, contents, unknown_from)
            for reason in found.failures:
                if reason not in self._failures:
                    self.notify(f"launch {request.number} is not predicted: {reason}")
                self._failures.add(reason)
            if is_steered or self.executor.timing_only:
                self.predictor.steady.predicted(found)
            elif self._is_behind(request) and self.predictor.steering(module, request) != steering:
                return self._predict(request)
        return self._predicted(found)

    def _is_behind(self, request: Request) -> bool:
        """Whether memory is not as it will be when a launch begins."""
        return bool(self._unexecuted) and self._unexecuted[0].request is not request

    def _predicted(self, found: Predicted) -> Predicted:
        """Know that a launch that was predicted has run."""
        self.predicted.append(found)
        self.predictor.ran(found)
        return found

    def compute(self, before: Request | None = None, patience: float = math.inf) -> None:
        """Compute what was not computed, all or what comes before a launch.

        With ``patience``, what takes longer waits until something needs it, and so does all behind it.
        """
        if self.allocations.has_shared:
            patience = math.inf  # the program reads without asking
        while self._unexecuted:
            work = self._unexecuted[0]
            if work.is_child:
                self._unexecuted[0] = replace(work, is_child=False)
                self._place_one(work)
                continue
            if before is not None and work.request is before:
                return
            if self.computes and work.request is not None:
                self._execute_launch(work.request, patience)
                if work.request.number in self.executor.postponed:
                    return
            self._unexecuted[:1] = self._children(work)
            if not self.computes:
                self._skip(work)
            elif isinstance(work.record, p.Free):
                self.allocations.remove(work.record.address)
            elif isinstance(work.record, p.CopyRecord):
                self._move(work.record)

    def _children(self, parent: Pending) -> list[Pending]:
        """Return what a kernel that was executed has launched: it runs next, before all that comes behind."""
        launched, self.executor.launched = self.executor.launched, []
        if parent.request is None or not launched:
            return []
        module, target = self.functions[parent.request.function].module, self.gpus[0].target
        names = {kernel_address(name): name for name in module.entries(target)}
        found = []
        for child in launched:
            name = names[child.kernel]
            self.functions.setdefault(child.kernel, Function(module, name))
            own = child.parameters[: _parameter_bytes(module.kernel(name, target).program())]
            launch = Launch(grid=child.grid, block=child.block, dynamic_shared=child.shared)
            self._launches += 1
            assert isinstance(parent.record, p.Launch)  # as nothing else launches kernels
            record = replace(parent.record, function=child.kernel, data=own)
            one = Request.placed(self._launches, record, name, launch, self.allocations)
            found.append(Pending(parent.host, parent.record, one, is_child=True))
        return found

    def _skip(self, work: Pending) -> None:
        """Know what was written by work whose results are on file."""
        if isinstance(work.record, p.CopyRecord):
            self.written(work.record.destination)
        elif work.request is not None and (kernel := self.kernel(work.request.function)) is not None:
            self.executor.skip(kernel, work.request)

    def _execute_launch(self, request: Request, patience: float) -> None:
        if self.error is not None:
            return
        kernel = self.kernel(request.function)
        assert kernel is not None
        module = self.functions[request.function].module
        self.error = self.executor.execute(kernel, request, module, patience)
        if self.error is not None:
            self.notify(self.error.message)

    def _move(self, record: p.CopyRecord) -> None:
        """Move or fill bytes of the arena, or know that they are not those of a device any more."""
        if self.executor.timing_only and record.size > MOVED_BYTES:
            self.not_moved(record)
            return
        self.overwritten(record)
        to = self.arena.bytes_at(record.destination, record.size)
        if record.kind is codes.CopyKind.FILL:
            width = max(1, record.value_bytes)
            to.view(f"<u{width}")[:] = record.value & ((1 << 8 * width) - 1)
        else:
            to[:] = self.arena.bytes_at(record.source, record.size).copy()


def _deciding(kernel: Kernel) -> NDArray[np.uint8] | None:
    """Return which bytes of a kernel's parameters decide what it does, None where that is not known."""
    program = kernel.sass
    if program is None or kernel.ptx is not None:
        return None
    try:
        return deciding_bytes(lift(program))
    except WarpWattError:  # said where it is predicted
        return None


def _parameter_bytes(program: Program) -> int:
    """Return the size of a kernel's parameter block."""
    at = parameter_offsets(program)
    return max((at[one.name] + one.size for one in program.parameters), default=0)
