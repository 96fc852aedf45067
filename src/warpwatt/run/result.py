"""What a run came to on each GPU: rows by kernel and by kind of copy, totals, and what went wrong."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.estimate import Estimate
from warpwatt.models.sensor import largest_reading, sensor
from warpwatt.run.timeline import COMPUTING, Kind, Span

if TYPE_CHECKING:
    from warpwatt.core.prediction import Prediction
    from warpwatt.run.client import Ending
    from warpwatt.run.device import Device
    from warpwatt.run.libraries.costs import Cost
    from warpwatt.run.timeline import Timeline


@dataclass(frozen=True, slots=True, eq=False)
class KernelRow:
    """All launches of one kernel.

    ``times`` are the seconds of each launch that is predicted; ``prediction`` is that of the longest one,
    None where none could be predicted. ``time`` (s) and ``energy`` (J) are those of all calls together.
    """

    name: str
    calls: int
    times: tuple[float, ...]
    time: Estimate
    energy: Estimate
    prediction: Prediction | None
    limiter: str = ""
    """What binds the longest launch."""
    is_library: bool = False
    """Whether it is a function of a closed library, whose costs are assumed."""

    @property
    def mean(self) -> float:
        """Seconds per launch."""
        return sum(self.times) / len(self.times) if self.times else 0.0

    @property
    def power(self) -> float:
        """Mean watts of the board while it runs."""
        return self.energy.value / self.time.value if self.time.value else 0.0


@dataclass(frozen=True, slots=True)
class CopyRow:
    """All copies of one kind: how many, seconds, bytes, joules."""

    kind: Kind
    calls: int
    seconds: float
    bytes: int
    energy: float


@dataclass(frozen=True, slots=True, eq=False)
class GpuRun:
    """The run on one GPU; see :class:`~warpwatt.run.timeline.Timeline` for the totals."""

    gpu: str
    kernels: tuple[KernelRow, ...]
    copies: tuple[CopyRow, ...]
    spans: tuple[Span, ...]
    predictions: tuple[Prediction, ...]
    """Every prediction once, in the order of the launches."""
    of_launch: tuple[Prediction | None, ...]
    """That of each launch, in order."""
    end: float
    busy: float
    idle: float
    idle_energy: float
    peak: float = 0.0
    """Watts while it draws most."""
    reading: float = 0.0
    """Watts of the largest reading that the board's sensor would give."""

    @property
    def mean_power(self) -> float:
        """Watts from the first work to the last."""
        whole = self.busy + self.idle
        return self.energy / whole if whole else 0.0

    @property
    def not_predicted(self) -> int:
        """Launches without which all sums are."""
        return self.of_launch.count(None)

    @property
    def host(self) -> float:
        """Seconds in which the host works and the GPU has nothing to do."""
        return max(0.0, self.end - self.busy)

    @property
    def energy(self) -> float:
        """Joules of the GPU from its first work to its last: of kernels, of copies, and idle."""
        return sum(s.energy for s in self.spans) + self.idle_energy

    @property
    def work_time(self) -> Estimate:
        """Seconds of the GPU from its first work to its last, as wide as those of its kernels."""
        kernels = _total([row.time for row in self.kernels], "s")
        return _moved(kernels, self.busy + self.idle)

    @property
    def work_energy(self) -> Estimate:
        """:attr:`energy`, as wide as that of the kernels."""
        return _moved(_total([row.energy for row in self.kernels], "J"), self.energy)


@dataclass(frozen=True, slots=True, eq=False)
class RunResult:
    """A program's run, predicted for some GPUs."""

    program: str
    status: int
    reason: str
    """Why we ended it, empty where it ended by itself."""
    runs: tuple[GpuRun, ...]
    launches: int
    executed_instructions: int
    executed_seconds: float
    unknown_from: str
    """The first launch that was not computed, and why; empty if all were."""
    unsupported: tuple[tuple[str, str], ...]
    """Functions of the runtime that are not there, and where the program called them."""
    not_computed: int
    """Launches and calls of libraries whose results are lost."""
    read_lost: str
    """Why memory was not computed that the program has read all the same; empty if it has read none."""
    failures: tuple[str, ...]
    """Launches that are not predicted, and why."""
    borrowed: int = 0
    """Launches that are taken to be like earlier ones of their kernels, as predicting has a budget too."""
    repeated: int = 0
    """Launches that were not computed again, as memory held their results."""
    timing_only: bool = False
    """Whether times alone were wanted, in the end: large results were not computed."""
    unknown_reads: int = 0
    """How often the program read what was not computed then."""
    peak_memory: int = 0
    """Bytes of device memory that it held at most."""
    values: tuple[tuple[str, str], ...] = ()
    """Figures that the program reported, such as ``torch.cuda.max_memory_allocated``, by name."""
    unneeded: int = 0
    """Launches that would have taken long and whose results nothing read."""

    @property
    def is_empty(self) -> bool:
        """Whether the GPU was asked for nothing: there is nothing to predict, and no energy of it."""
        return not any(run.spans for run in self.runs)

    @property
    def ended(self) -> str:
        """How the program ended, empty where it ended well."""
        if self.reason:
            return f"the program was ended: {self.reason}"
        if self.status < 0:
            return f"the program was killed by {_signal(-self.status)}"
        said = [f"the program ended with status {self.status}"] if self.status else []
        if self.read_lost:
            said.append(f"the program read memory that was not computed ({self.read_lost})")
        return "; ".join(said)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def result(device: Device, ending: Ending) -> RunResult:
    """Return what a run that has ended came to."""
    return RunResult(
        program=device.program,
        status=ending.status,
        reason=ending.reason,
        runs=tuple(_gpu_run(device, number) for number in range(len(device.gpus))),
        launches=len(device.predicted),
        executed_instructions=device.executor.instructions,
        executed_seconds=device.executor.spent,
        unknown_from=device.executor.first_not_computed,
        not_computed=device.executor.skipped,
        read_lost=device.read_lost,
        unsupported=tuple(device.unsupported.items()),
        timing_only=device.executor.timing_only,
        unknown_reads=device.unknown_reads,
        peak_memory=device.allocations.peak,
        values=tuple(device.values.items()),
        borrowed=sum(bool(p.borrowed_from) for p in device.predicted),
        repeated=device.executor.repeated,
        unneeded=len(device.executor.postponed),
        failures=tuple(_failures(device)),
    )


def _failures(device: Device) -> Iterator[str]:
    """Yield why launches are not predicted, each reason once."""
    for why, count in device.refused.items():
        yield why + (f" ({count} launches)" if count > 1 else "")
    launches: dict[str, list[int]] = {}
    for number, predicted in enumerate(device.predicted, 1):
        for why in predicted.failures:
            launches.setdefault(why, []).append(number)
    for why, numbers in launches.items():
        others = f" and {len(numbers) - 1} more" if len(numbers) > 1 else ""
        yield f"launch {numbers[0]}{others}, {why}"


def _gpu_run(device: Device, number: int) -> GpuRun:
    line = device.timelines[number]
    spans, steps = line.account()
    found = tuple(predicted.predictions[number] for predicted in device.predicted)
    return GpuRun(
        gpu=device.gpus[number].name,
        kernels=_kernel_rows(
            line,
            found,
            [predicted.scale for predicted in device.predicted],
            [costs[number] for costs in device.library_calls],
        ),
        copies=_copy_rows(spans),
        spans=tuple(spans),
        predictions=tuple({id(p): p for p in found if p is not None}.values()),
        of_launch=found,
        end=line.end,
        busy=line.busy,
        idle=line.idle,
        idle_energy=line.idle_energy,
        peak=max((watts for _, _, watts in steps), default=0.0),
        reading=largest_reading(steps, sensor(line.gpu).window),
    )


def _kernel_rows(
    line: Timeline, found: Sequence[Prediction | None], scales: Sequence[float], calls: Sequence[Cost]
) -> tuple[KernelRow, ...]:
    """Return a row for each kernel and each function of a library, the one that takes most first."""
    by_name: dict[str, list[int]] = {}
    for span in line.spans:
        if span.kind is Kind.KERNEL:
            by_name.setdefault(span.name, []).append(span.launch - 1)
    rows = [
        _kernel_row(name, [(found[k], scales[k]) for k in launches]) for name, launches in by_name.items()
    ]
    return tuple(sorted([*rows, *_library_rows(line, calls)], key=lambda row: -row.time.value))


def _kernel_row(name: str, found: Sequence[tuple[Prediction | None, float]]) -> KernelRow:
    known = [(p, scale) for p, scale in found if p is not None]
    shares: dict[int, tuple[Prediction, float]] = {}
    for prediction, scale in known:
        _, before = shares.get(id(prediction), (prediction, 0.0))
        shares[id(prediction)] = prediction, before + scale
    longest = max((p for p, _ in known), key=lambda p: p.time.value, default=None)
    return KernelRow(
        name=name,
        calls=len(found),
        times=tuple(p.time.value * scale for p, scale in known),
        time=_total([p.time.scaled(share) for p, share in shares.values()], "s"),
        energy=_total([p.energy.scaled(share) for p, share in shares.values()], "J"),
        prediction=longest,
        limiter="" if longest is None else longest.timing.bottleneck,
    )


def _library_rows(line: Timeline, costs: Sequence[Cost]) -> Iterator[KernelRow]:
    """Yield a row for each function of a closed library."""
    by_name: dict[str, list[Cost]] = {}
    for span in line.spans:
        if span.kind is Kind.LIBRARY:
            by_name.setdefault(span.name, []).append(costs[span.launch - 1])
    for name, own in by_name.items():
        yield KernelRow(
            name=name,
            calls=len(own),
            times=tuple(one.time.value for one in own),
            time=_total([one.time for one in own], "s"),
            energy=_total([one.energy for one in own], "J"),
            prediction=None,
            limiter=max(own, key=lambda one: one.time.value).limiter,
            is_library=True,
        )


def _total(parts: Sequence[Estimate], unit: str) -> Estimate:
    total = Estimate.exact(0.0, unit)
    for part in parts:
        total = total.combine(part, lambda a, b: a + b, unit)
    return total


def _moved(estimate: Estimate, value: float) -> Estimate:
    """Return an estimate with something added that is taken as exact, so that its value is another."""
    added = Estimate.exact(value - estimate.value, estimate.unit)
    return estimate.combine(added, lambda a, b: a + b, estimate.unit)


def _copy_rows(spans: Sequence[Span]) -> tuple[CopyRow, ...]:
    found = []
    for kind in Kind:
        own = [span for span in spans if span.kind is kind and kind not in COMPUTING]
        if own:
            seconds, joules = sum(s.seconds for s in own), sum(s.energy for s in own)
            found.append(CopyRow(kind, len(own), seconds, sum(s.bytes for s in own), joules))
    return tuple(found)
