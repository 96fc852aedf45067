"""The device: answers what the runtime of a program asks; its work waits in :mod:`warpwatt.run.work`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from warpwatt.core.errors import InputError, LaunchError, WarpWattError
from warpwatt.core.units import si
from warpwatt.frontend.select import without_parameters
from warpwatt.gpus import check_launch
from warpwatt.native.demangle import demangle
from warpwatt.request.measured import MeasuredLaunches
from warpwatt.run import codes
from warpwatt.run import protocol as p
from warpwatt.run.answer import (
    INVALID_CONFIGURATION,
    INVALID_DEVICE_FUNCTION,
    INVALID_HANDLE,
    INVALID_VALUE,
    NO_KERNEL_IMAGE,
    NOT_READY,
    NOT_SUPPORTED,
    Answer,
)
from warpwatt.run.effects import Effects
from warpwatt.run.execution import Executor
from warpwatt.run.launches import Predicted, launch_of, texture_of
from warpwatt.run.libraries.board import Board
from warpwatt.run.libraries.calls import Call, Operation
from warpwatt.run.libraries.costs import Cost, cost
from warpwatt.run.libraries.library import Libraries, repeatable
from warpwatt.run.memory import Allocations, Arena, Block
from warpwatt.run.predictions import Predictor
from warpwatt.run.program_code import HANDLERS as OF_CODE
from warpwatt.run.program_code import ProgramCode
from warpwatt.run.properties import properties_text
from warpwatt.run.timeline import Timeline
from warpwatt.run.work import FROM_HOST, Pending, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.compose import Choice
    from warpwatt.core.gpu import Clocks, Gpu
    from warpwatt.run.records import Record

NANO = 1e-9
COMPUTED_BYTES = 256 << 20
"""Device memory up to which programs with an allocator of their own (PyTorch) are computed by default.

A two-layer GPT of half a million parameters holds 77 MB on H100, most of it workspaces of cuBLAS.
"""
PATIENCE = 2.0
"""Seconds of CPU time for a launch where the program waits, but reads nothing yet."""


@dataclass(slots=True)
class Device:
    """One device, predicted as each of ``gpus``; the first one's properties are what the program reads."""

    gpus: Sequence[Gpu]
    choice: Choice
    clocks: Sequence[Clocks | None]
    budget: float
    notify: Callable[[str], None]
    flush_l2: bool = False
    """Whether launches are predicted with an empty L2."""
    measured: MeasuredLaunches = field(default_factory=MeasuredLaunches)
    """Launches that somebody measured, of any kernel."""
    timing_only: bool | None = None
    """Whether times alone are wanted; None: of PyTorch, beyond :data:`COMPUTED_BYTES`."""
    arena: Arena = field(default_factory=Arena)
    allocations: Allocations = field(default_factory=Allocations)
    program: str = ""
    unsupported: dict[str, str] = field(default_factory=dict)
    """Functions that are not there, and where the program called them."""
    refused: dict[str, int] = field(default_factory=dict)
    """Launches that CUDA refuses, and how many: which and why."""
    read_lost: str = ""
    """Why memory was not computed that the program has read first, empty if it has read none."""
    unknown_reads: int = 0
    """How often the program has read what was not computed, as times alone are wanted."""
    values: dict[str, str] = field(default_factory=dict)
    """Figures that the program reports about itself, by name."""
    ended: bool = False
    library_calls: list[list[Cost]] = field(default_factory=list)
    """Of each call of a closed library, in order: what it costs on each GPU."""
    timelines: list[Timeline] = field(init=False)
    executor: Executor = field(init=False)
    predictor: Predictor = field(init=False)
    work: Work = field(init=False)
    _code: ProgramCode = field(init=False)
    _libraries: Libraries = field(init=False)
    _given: set[int] = field(default_factory=set)
    """Blocks that the program's own allocator has given away."""
    _begun: int | None = None
    """The program's clock at its first message, in ns."""

    def __post_init__(self) -> None:
        self.timelines = [Timeline(gpu) for gpu in self.gpus]
        self.executor = Executor(self.arena, self.allocations, self.budget, notify=self.notify)
        self.predictor = Predictor(
            self.gpus,
            self.choice,
            self.clocks,
            self.arena,
            self.allocations,
            self.budget or math.inf,
            self.flush_l2,
            self.measured,
            memories=self.executor.memories,
        )
        self.work = Work(
            self.gpus,
            self.arena,
            self.allocations,
            self.executor,
            self.predictor,
            self.timelines,
            self.notify,
        )
        if self.timing_only:
            self._want_times_alone()
        shown = Board(
            self.gpus[0],
            self.clocks[0],
            self.timelines[0],
            self.work.place,
            lambda: self.allocations.bytes,
            lambda: self._begun or 0,
        )
        self._libraries = Libraries(self.arena, self.notify, self._catch_up, shown)
        self._code = ProgramCode(self.gpus[0], self.arena, self.allocations, self.work)

    @property
    def predicted(self) -> Sequence[Predicted]:
        """What was predicted of each launch, in order."""
        return self.work.predicted

    def handle(self, header: p.Header, record: Record) -> Answer:
        """Answer a message; whoever did not ask for a reply is not told."""
        if self._begun is None:
            self._begun = header.host_time_ns
        host = (header.host_time_ns - self._begun) * NANO
        asked, action = OF_CODE.get(header.type), _HANDLERS.get(header.type)
        try:
            if asked is not None:
                return asked(self._code, record)
            return Answer(NOT_SUPPORTED) if action is None else action(self, record, host, header)
        except WarpWattError as error:
            self.notify(str(error))
            return Answer(NO_KERNEL_IMAGE)

    @property
    def flags(self) -> codes.ReplyFlag:
        """Whether memory does not show all that was asked for, now or for ever."""
        pending = codes.ReplyFlag.LAUNCHES_PENDING * (not self.work.is_computed)
        times = codes.ReplyFlag.TIMING_ONLY * self.executor.timing_only
        return codes.ReplyFlag(pending | times | codes.ReplyFlag.MEMORY_LOST * bool(self.allocations.lost))

    def _error(self) -> int:
        """Return what the program gets where it waits: a launch's error, or that of what it may read now."""
        if self.work.error is not None:
            return self.work.error.code
        return self._read(self.allocations.shared_lost)

    def _read(self, why_lost: str) -> int:
        """Return the error of reading what is lost, 0 where nothing is, or where only times are wanted."""
        if not why_lost or not self.budget:
            return 0
        if self.executor.timing_only:
            self.unknown_reads += 1
            return 0
        if not self.read_lost:
            self.notify(f"the program reads memory that was not computed ({why_lost}): cudaErrorNotSupported")
        self.read_lost = self.read_lost or why_lost
        return NOT_SUPPORTED

    # -- beginning ------------------------------------------------------------------------

    def _hello(self, record: p.Hello, *_: Any) -> Answer:
        self.program = record.data.decode(errors="replace")
        self._code.program = self.program.rpartition("/")[2]
        if record.version != p.VERSION:
            return Answer(NOT_SUPPORTED)
        text = properties_text(self.gpus[0]) + "\n"
        reply = p.HelloReply(self.arena.size, 1, data=text.encode())
        return Answer(data=reply.pack(), descriptor=self.arena.file)

    # -- memory ---------------------------------------------------------------------------------------

    def _allocate(self, record: p.Allocate, *_: Any) -> Answer:
        self.allocations.add(Block(record.address, record.size, record.kind))
        return Answer()

    def _want_times_alone(self) -> None:
        self.executor.timing_only = self.predictor.steady.times_alone = True

    def _block(self, record: p.Block, *_: Any) -> Answer:
        if self.timing_only is None and self.allocations.bytes > COMPUTED_BYTES:
            self.timing_only = True
            self._want_times_alone()
            self._at_once()
            size = si(float(COMPUTED_BYTES), "B")
            self.notify(f"more than {size} of device memory: times alone from here (--computed computes all)")
            for address in sorted(self._given):
                self.allocations.give(address)
        (self._given.add if record.is_given else self._given.discard)(record.address)
        if self.executor.timing_only:  # else work waits that knows allocations as they were
            (self.allocations.give if record.is_given else self.allocations.take_back)(record.address)
        return Answer()

    def _value(self, record: p.Value, *__: Any) -> Answer:
        name, _, value = record.data.decode(errors="replace").partition("=")
        self.values[name] = value
        return Answer()

    def _free(self, record: p.Free, host: float, *_: Any) -> Answer:
        answer = self._settled(host, PATIENCE)
        self.predictor.freed(record.address)
        if self.work.is_computed:
            self.allocations.remove(record.address)
        else:  # the program keeps the memory for what still needs it
            self.work.compute_later(Pending(host, record))
        return answer

    def _access(self, record: p.Access, host: float, *_: Any) -> Answer:
        answer, block = self._settled(host), self.allocations.at(record.address)
        if record.writes or answer.error or block is None:
            return answer
        return replace(answer, error=self._read(self.allocations.why_lost([block.address])))

    def _copy(self, record: p.CopyRecord, host: float, header: p.Header) -> Answer:
        work = Pending(host, record, graph=bool(header.flags & codes.HeaderFlag.IN_GRAPH))
        if record.flags & codes.CopyFlag.BY_DEVICE:
            self.work.compute_later(work)
        elif record.flags & codes.CopyFlag.NOT_MOVED:
            self.work.not_moved(record)
        elif record.kind in FROM_HOST:
            self.work.overwritten(record)
        if record.flags & codes.CopyFlag.ASYNCHRONOUS:
            self.work.later(work)
            self._at_once()
            return Answer()
        self.work.place()
        self.work.copied(record)
        here = [line.host(host) for line in self.timelines]
        ends = [line.copy(at, record) for line, at in zip(self.timelines, here, strict=True)]
        return self._waits(here, ends)

    # -- launches -------------------------------------------------------------------------------------

    def _launch(self, record: p.Launch, host: float, header: p.Header) -> Answer:
        function = self.work.functions.get(record.function)
        if function is None:
            return Answer(INVALID_DEVICE_FUNCTION)
        kernel = self.work.seen_kernel(record.function)
        try:
            launch = launch_of(record, function.carveout)
            if self.work.computes and kernel is not None:  # the program was told what its own device refuses
                check_launch(self.gpus[0], kernel.resources, launch)
            why = _refusal(record) if record.flags & codes.LaunchFlag.REFUSED else ""
        except LaunchError as error:
            why = error.message
        if why:
            self._refused(without_parameters(demangle(function.name)), record, why)
            return Answer(INVALID_CONFIGURATION)
        self.work.launch(launch, record, host, graph=bool(header.flags & codes.HeaderFlag.IN_GRAPH))
        self._at_once()
        return Answer()

    def _at_once(self) -> None:
        """Where times alone are wanted, predict and compute what was asked for: little of it is computed."""
        if self.executor.timing_only:
            self.work.place()
            self.work.compute()

    def _refused(self, name: str, record: p.Launch, why: str) -> None:
        grid, block = (",".join(map(str, extents)) for extents in (record.grid, record.block))
        text = f"launch refused: {name}<<<({grid}), ({block})>>>: {why}"
        if text not in self.refused:
            self.notify(text)
        self.refused[text] = self.refused.get(text, 0) + 1

    def _settled(self, host: float, patience: float = math.inf) -> Answer:
        """Bring memory up to date, after predicting what was not predicted from memory as it was before."""
        self.work.place()
        self.work.compute(patience=patience)
        self.work.host_may_write()
        for line in self.timelines:
            line.host(host)
        return self._with_output(Answer(self._error()))

    # -- streams and events ---------------------------------------------------------------------------

    def _stream_create(self, record: p.StreamCreate, *_: Any) -> Answer:
        for line in self.timelines:
            line.create_stream(record.stream, blocking=not record.nonblocking)
        return Answer()

    def _later(self, record: Record, host: float, header: p.Header) -> Answer:
        self.work.later(Pending(host, record, graph=bool(header.flags & codes.HeaderFlag.IN_GRAPH)))
        return Answer()

    def _stream_query(self, record: p.Stream, host: float, *_: Any) -> Answer:
        self.work.place()
        first = self.timelines[0]
        return Answer(NOT_READY if first.done(record.stream) > first.host(host) else 0)

    def _event_query(self, record: p.Event, host: float, *_: Any) -> Answer:
        self.work.place()
        first = self.timelines[0]
        return Answer(NOT_READY if (first.event(record.event) or 0.0) > first.host(host) else 0)

    def _event_synchronize(self, record: p.Event, host: float, *_: Any) -> Answer:
        self.work.place()
        self.work.compute(patience=PATIENCE)
        self.work.host_may_write()
        here = [line.host(host) for line in self.timelines]
        ends = [line.event(record.event) or 0.0 for line in self.timelines]
        return self._with_output(self._waits(here, ends))

    def _event_elapsed(self, record: p.EventElapsed, *_: Any) -> Answer:
        self.work.place()
        start, end = (self.timelines[0].event(event) for event in (record.start, record.end))
        if start is None or end is None:
            return Answer(INVALID_HANDLE)
        return Answer(data=p.EventElapsedReply((end - start) * 1e3).pack())

    def _synchronize(self, record: p.Synchronize, host: float, *_: Any) -> Answer:
        self.work.place()
        self.work.compute(patience=PATIENCE)
        self.work.host_may_write()
        here = [line.host(host) for line in self.timelines]
        ends = [line.idle_at if record.whole_device else line.done(record.stream) for line in self.timelines]
        return self._with_output(self._waits(here, ends))

    def _waits(self, here: Sequence[float], ends: Sequence[float]) -> Answer:
        """Let each host wait for its GPU; return how long the program does."""
        waited = [max(0.0, end - at) for at, end in zip(here, ends, strict=True)]
        for line, seconds in zip(self.timelines, waited, strict=True):
            line.waited(waited[0], seconds)
        return Answer(self._error(), waited[0])

    def _with_output(self, answer: Answer) -> Answer:
        """Return an answer with what kernels have printed."""
        text = b"".join(self.executor.output)
        self.executor.output.clear()
        return Answer(answer.error, answer.waited, text)

    # -- closed libraries -----------------------------------------------------------------------------

    def _library_call(self, record: p.LibraryCall, host: float, header: p.Header) -> Answer:
        call = Call.of(record)
        for line in self.timelines:
            line.host(host)
        if call.name:
            found = self._libraries.asked(call)
        else:
            call, found = self._libraries.captured(call.words[0])
        if isinstance(found, bytes):
            return Answer(data=found)
        if record.in_capture:
            return Answer(data=self._libraries.capture(call, found))
        self._catch_up()
        self.work.host_may_write()
        answer = self._libraries.done(call, found, partial(self._compute_call, call, found))
        return self._placed_call(
            call, found, host, answer, graph=bool(header.flags & codes.HeaderFlag.IN_GRAPH)
        )

    def _catch_up(self) -> None:
        """Bring timelines and memory up to date with what was launched."""
        self.work.place()
        self.work.compute()

    def _compute_call(self, call: Call, operation: Operation, body: Callable[[], None]) -> None:
        """Do what a library does, once for the same arguments and contents."""
        if not self.work.computes:
            return
        touched = [
            frozenset(b.address for span in spans if (b := self.allocations.at(span.address)) is not None)
            for spans in (operation.reads, operation.writes)
        ]
        key = (call.name, *(operation.identity or (call.words, tuple(call.contents.values()))))
        again = repeatable(call, operation)
        found = Effects(touched[0], touched[1], again)
        why = self.executor.compute(call.name, key, found, operation.work, body)
        if operation.to_host and self._read(why):
            raise InputError(f"its result was not computed: {why}")

    def _placed_call(
        self, call: Call, operation: Operation, host: float, answer: bytes, *, graph: bool
    ) -> Answer:
        """Put a call on the timelines; the host waits where it gets the result."""
        if operation.on_host:
            return Answer(data=answer)
        costs = [cost(operation, gpu, at) for gpu, at in zip(self.gpus, self.clocks, strict=True)]
        self.library_calls.append(costs)
        here = [line.host(host) for line in self.timelines]
        for line, one, at in zip(self.timelines, costs, here, strict=True):
            line.call(at, call.name, operation.stream, one, len(self.library_calls), graph=graph)
        for span in operation.writes:
            self.predictor.copied(span.address, int(span.bytes))
        if not operation.to_host:
            return Answer(data=answer)
        waited = self._waits(here, [line.done(operation.stream) for line in self.timelines])
        return Answer(waited.error, waited.waited, answer)

    # -- textures -------------------------------------------------------------------------------------

    def _texture(self, record: p.Texture, *_: Any) -> Answer:
        self.allocations.textures[record.handle] = texture_of(record)
        return Answer()

    def _texture_destroy(self, record: p.TextureDestroy, host: float, *_: Any) -> Answer:
        answer = self._settled(host)
        self.allocations.textures.pop(record.handle, None)
        return answer

    # -- the rest -------------------------------------------------------------------------------------

    def _unsupported(self, record: p.Unsupported, *_: Any) -> Answer:
        name, where = ([*record.data.decode(errors="replace").split("\x00"), ""])[:2]
        if name not in self.unsupported:
            self.unsupported[name] = where
            self.notify(f"the program calls {name}, which is not there" + (f" ({where})" if where else ""))
        return Answer(NOT_SUPPORTED)

    def _nothing(self, *_: Any) -> Answer:
        return Answer()

    def _host_function(self, *_: Any) -> Answer:
        self.work.place()
        self.work.compute()
        self.work.host_may_write()
        return self._with_output(Answer(self._error()))

    def _reset(self, _: p.Reset, host: float, *__: Any) -> Answer:
        answer = self._settled(host, PATIENCE)
        self.work.forget()  # whose results nobody can read any more
        return answer

    def _bye(self, _: p.Bye, host: float, *__: Any) -> Answer:
        self.finish()
        for line in self.timelines:
            line.host(host)
        return self._with_output(Answer())

    def cancel(self) -> None:
        """Let whatever is being computed end, as the program is being ended; called by another thread."""
        self.executor.cancelled.set()

    def finish(self) -> None:
        """Predict what was asked for and not predicted yet."""
        self.work.place()
        self.ended = True


def _refusal(record: p.Launch) -> str:
    """Return why the runtime refused a launch that the GPU itself could run."""
    if record.priority == INVALID_VALUE:
        return (
            f"{record.dynamic_shared_bytes} bytes of dynamic shared memory, more than the program asked for "
            "with cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)"
        )
    return f"CUDA error {record.priority}"


Handler = Callable[[Device, Any, float, p.Header], Answer]
_HANDLERS: dict[codes.Type, Handler] = {
    codes.Type.HELLO: Device._hello,
    codes.Type.ALLOCATE: Device._allocate,
    codes.Type.FREE: Device._free,
    codes.Type.LAUNCH: Device._launch,
    codes.Type.ACCESS: Device._access,
    codes.Type.COPY: Device._copy,
    codes.Type.STREAM_CREATE: Device._stream_create,
    codes.Type.STREAM_DESTROY: Device._nothing,
    codes.Type.STREAM_WAIT: Device._later,
    codes.Type.STREAM_QUERY: Device._stream_query,
    codes.Type.EVENT_CREATE: Device._nothing,
    codes.Type.EVENT_DESTROY: Device._nothing,
    codes.Type.EVENT_RECORD: Device._later,
    codes.Type.EVENT_QUERY: Device._event_query,
    codes.Type.EVENT_SYNCHRONIZE: Device._event_synchronize,
    codes.Type.EVENT_ELAPSED: Device._event_elapsed,
    codes.Type.SYNCHRONIZE: Device._synchronize,
    codes.Type.HOST_FUNCTION: Device._host_function,
    codes.Type.GRAPH_LAUNCH: Device._nothing,
    codes.Type.TEXTURE: Device._texture,
    codes.Type.TEXTURE_DESTROY: Device._texture_destroy,
    codes.Type.PROFILER: Device._nothing,
    codes.Type.LIBRARY_CALL: Device._library_call,
    codes.Type.UNSUPPORTED: Device._unsupported,
    codes.Type.RESET: Device._reset,
    codes.Type.BYE: Device._bye,
    codes.Type.BLOCK: Device._block,
    codes.Type.VALUE: Device._value,
}
