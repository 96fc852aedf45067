"""When what the program asked for happens on one GPU: streams, events, copies, and the host that waits.

The host's time between its calls is measured, on the machine that runs the program; what the GPU does takes
predicted time. Work of a stream runs in order. The legacy default stream (0) waits for all others but those
that do not block, and they wait for it (CUDA C++ Programming Guide, "Default Stream"). Kernels run one at a
time; copies to and from the host have an engine each (as :mod:`warpwatt.jobs.application`).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from warpwatt.models.component.waiting import waiting_watts
from warpwatt.models.overhead import launch_overhead, shortest_copy, transfer_time
from warpwatt.models.sensor import Step
from warpwatt.models.specification import dram_joules_per_byte
from warpwatt.run.codes import CopyFlag, CopyKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.core.gpu import Gpu
    from warpwatt.run.libraries.costs import Cost
    from warpwatt.run.protocol import CopyRecord

LEGACY = 0
"""The legacy default stream."""
COPY_EFFICIENCY = 0.85
"""Share of the peak bandwidth that copies within the device reach."""


class Kind(StrEnum):
    """What happens in a span of time."""

    KERNEL = "kernel"
    LIBRARY = "library call"
    TO_DEVICE = "copy to device"
    TO_HOST = "copy to host"
    WITHIN = "copy within device"
    FILL = "fill"


ENGINES = {
    Kind.KERNEL: "compute", Kind.LIBRARY: "compute", Kind.TO_DEVICE: "to device", Kind.TO_HOST: "to host",
    Kind.WITHIN: "compute", Kind.FILL: "compute",
}  # fmt: skip
COMPUTING = (Kind.KERNEL, Kind.LIBRARY)
"""What kernels do, the program's own and those of libraries: idle power is part of their energy."""
_KINDS = {
    CopyKind.HOST_TO_DEVICE: Kind.TO_DEVICE,
    CopyKind.DEVICE_TO_HOST: Kind.TO_HOST,
    CopyKind.DEVICE_TO_DEVICE: Kind.WITHIN,
    CopyKind.PEER_TO_PEER: Kind.WITHIN,
    CopyKind.FILL: Kind.FILL,
    CopyKind.PREFETCH: Kind.TO_DEVICE,
}


@dataclass(frozen=True, slots=True)
class Span:
    """Something the GPU does from ``start`` to ``end`` (s since the program started).

    ``launch`` is the number of a kernel's launch or of a library's call, 0 for copies; ``bytes`` those of a
    copy; ``energy`` in J.
    """

    kind: Kind
    name: str
    stream: int
    start: float
    end: float
    energy: float
    launch: int = 0
    bytes: int = 0
    asked: float = 0.0
    """When the program asked for it."""

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return self.end - self.start


@dataclass(slots=True)
class Timeline:
    """One GPU's spans, and the host's clock there.

    ``shift`` is how much later than on the GPU that answers the program its host is: the program waits there
    for other times.
    """

    gpu: Gpu
    spans: list[Span] = field(default_factory=list)
    shift: float = 0.0
    now: float = 0.0
    """The latest time the host has reached."""
    _streams: dict[int, float] = field(default_factory=dict)
    _blocking: set[int] = field(default_factory=set)
    _engines: dict[str, float] = field(default_factory=dict)
    _events: dict[int, float] = field(default_factory=dict)
    _last_launch: float = -1.0
    _intervals: dict[bool, float] = field(init=False)
    """Least time between launches, in s, by whether a graph makes them."""

    def __post_init__(self) -> None:
        self._intervals = {graph: launch_overhead(self.gpu, graph=graph).value for graph in (False, True)}

    def host(self, time: float) -> float:
        """Return this GPU's host time of a moment that the program's clock gives, in s."""
        self.now = max(self.now, time + self.shift)
        return self.now

    def waited(self, seconds: float, here: float) -> None:
        """Know that the host waited some seconds here where the program's clock goes on by others."""
        self.now += here
        self.shift += here - seconds

    # -- streams and events ---------------------------------------------------------------------------

    def create_stream(self, stream: int, *, blocking: bool) -> None:
        """Begin a stream; one that blocks waits for the legacy default stream, and that for it."""
        if blocking:
            self._blocking.add(stream)

    def record(self, event: int, stream: int, host: float) -> None:
        """Let an event happen when a stream gets there."""
        self._events[event] = max(host, self._ready(stream))

    def wait(self, stream: int, event: int) -> None:
        """Let a stream wait for an event."""
        self._streams[stream] = max(self._streams.get(stream, 0.0), self._events.get(event, 0.0))

    def event(self, event: int) -> float | None:
        """Return when an event happens, None if it was not recorded."""
        return self._events.get(event)

    def done(self, stream: int) -> float:
        """Return when all that stands in a stream is done."""
        return self._ready(stream)

    @property
    def idle_at(self) -> float:
        """When all streams are done."""
        return max(self._streams.values(), default=0.0)

    # -- work -----------------------------------------------------------------------------------------

    def launch(
        self, host: float, name: str, stream: int, seconds: float, joules: float, number: int, *, graph: bool
    ) -> None:
        """Run a kernel."""
        earliest = max(host, self._last_launch + self._intervals[graph])
        self._launched(self._run(Kind.KERNEL, name, stream, earliest, seconds, joules, launch=number), host)

    def call(self, host: float, name: str, stream: int, cost: Cost, number: int, *, graph: bool) -> None:
        """Run what a closed library does; ``number`` counts such calls."""
        earliest = max(host, self._last_launch + self._intervals[graph])
        cost_ = cost.time.value, cost.energy.value
        self._launched(self._run(Kind.LIBRARY, name, stream, earliest, *cost_, launch=number), host)

    def _launched(self, span: Span, asked: float) -> None:
        """Know when the last work began, and when the program asked for it."""
        self._last_launch = span.start
        self.spans[-1] = replace(span, asked=asked)

    def copy(self, host: float, record: CopyRecord) -> float:
        """Move bytes; return when that is done."""
        kind = _KINDS.get(record.kind)
        if kind is None or not record.size:
            return host
        seconds = self._copy_seconds(kind, record)
        passes = 2 if kind is Kind.WITHIN else 1
        joules = passes * record.size * dram_joules_per_byte(self.gpu)
        return self._run(kind, str(kind), record.stream, host, seconds, joules, size=record.size).end

    def _copy_seconds(self, kind: Kind, record: CopyRecord) -> float:
        if kind in (Kind.WITHIN, Kind.FILL):
            passes, shortest = (2, "within") if kind is Kind.WITHIN else (1, "fill")
            moved = passes * record.size / (COPY_EFFICIENCY * self.gpu.memory_bandwidth)
            return max(moved, shortest_copy(shortest))
        pinned = not record.flags & CopyFlag.PAGEABLE
        return transfer_time(self.gpu, record.size, pinned=pinned).value

    def _run(
        self, kind: Kind, name: str, stream: int, host: float, seconds: float, joules: float,
        *, launch: int = 0, size: int = 0,
    ) -> Span:  # fmt: skip
        engine = ENGINES[kind]
        start = max(host, self._ready(stream), self._engines.get(engine, 0.0))
        span = Span(kind, name, stream, start, start + seconds, joules, launch, size, host)
        self._streams[stream] = self._engines[engine] = span.end
        self.spans.append(span)
        return span

    def _ready(self, stream: int) -> float:
        """Return when a stream's next work may start."""
        others = self._blocking if stream == LEGACY else {LEGACY} if stream in self._blocking else set()
        return max([self._streams.get(stream, 0.0), *(self._streams.get(o, 0.0) for o in others)])

    # -- totals ---------------------------------------------------------------------------------------

    @property
    def end(self) -> float:
        """When the program and the GPU are done."""
        return max(self.now, self.idle_at)

    @property
    def busy(self) -> float:
        """Seconds in which the GPU computes or copies."""
        return _covered(self.spans)

    @property
    def idle(self) -> float:
        """Seconds from the first work to the last in which the GPU waits for the host."""
        return self._whole - self.busy

    @property
    def idle_energy(self) -> float:
        """Joules of a waiting board meanwhile."""
        return self.idle * waiting_watts(self.gpu)

    def drawn(self, until: float) -> float:
        """Return the joules from the program's start to a moment; a board that computes nothing waits."""
        shares = ((s, min(1.0, (until - s.start) / s.seconds)) for s in self.spans if s.seconds > 0)
        joules = sum(span.energy * share for span, share in shares if share > 0)
        return joules + (max(0.0, until) - self.computed(until)) * waiting_watts(self.gpu)

    def computed(self, until: float) -> float:
        """Return the seconds up to a moment in which kernels run."""
        begun = (s for s in self.spans if s.kind in COMPUTING and s.start < until)
        return _covered([replace(span, end=min(span.end, until)) for span in begun])

    def account(self) -> tuple[list[Span], list[Step]]:
        """Return the spans in order, and start, end and watts of each step from the first work to the last.

        While no kernel runs, the copies that go on also draw what a waiting board does, in equal parts.
        """
        ends = [(at, k) for k, s in enumerate(self.spans) if s.seconds > 0 for at in (s.start, s.end)]
        joules, going, steps = [span.energy for span in self.spans], set[int](), list[Step]()
        for (start, changed), (end, _) in itertools.pairwise(sorted(ends)):
            going ^= {changed}
            on = [self.spans[k] for k in going]
            waiting = 0.0 if any(s.kind in COMPUTING for s in on) else waiting_watts(self.gpu)
            for k in going:
                joules[k] += waiting * (end - start) / len(going)
            if end > start:
                steps.append((start, end, waiting + sum(s.energy / s.seconds for s in on)))
        spans = (replace(span, energy=own) for span, own in zip(self.spans, joules, strict=True))
        return sorted(spans, key=lambda span: span.start), steps

    @property
    def _whole(self) -> float:
        """Seconds from the first work to the last."""
        return max((s.end for s in self.spans), default=0.0) - min((s.start for s in self.spans), default=0.0)


def _covered(spans: Sequence[Span]) -> float:
    """Return the seconds in which any of some spans goes on."""
    total, until = 0.0, 0.0
    for span in sorted(spans, key=lambda s: s.start):
        total += max(0.0, span.end - max(span.start, until))
        until = max(until, span.end)
    return total
