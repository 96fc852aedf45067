"""Time and energy of a whole application: launches, copies and idle time on one GPU.

Nodes of a stream run one after another; ``after`` adds edges between streams. Kernels share the device, so
one runs at a time; copies to and from the host have an engine each and overlap with kernels. Back-to-back
launches of a kernel start no faster than the launch overhead allows. Whenever no kernel runs, between short
ones too, the device draws what a waiting board does; copies add the energy of device memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from warpwatt.core.application import Application, CopyKind, CopyNode, KernelNode, Node
from warpwatt.core.estimate import DRAWS, Estimate, Source, weakest
from warpwatt.core.gpu import Gpu
from warpwatt.core.prediction import ApplicationPrediction, Prediction, Step
from warpwatt.models.component.waiting import waiting_watts
from warpwatt.models.overhead import launch_overhead, transfer_time
from warpwatt.models.specification import MODEL_SPREAD, dram_joules_per_byte


class Predictor(Protocol):
    """Predicts one kernel node on one GPU."""

    def __call__(self, node: KernelNode, gpu: Gpu) -> Prediction:
        """Return the prediction of a single launch."""
        ...


NEVER = Estimate.exact(0.0, "s")


@dataclass(frozen=True, slots=True)
class _Job:
    """A node with its duration and its energy; ``running`` are the seconds in which kernels run."""

    node: Node
    engine: str
    time: Estimate
    energy: Estimate
    prediction: Prediction | None
    running: Estimate


def predict_application(application: Application, gpu: Gpu, predictor: Predictor) -> ApplicationPrediction:
    """Return the steps with their start times, the makespan and the total energy.

    Raises whatever ``predictor`` raises for a node.
    """
    jobs = [_job(node, gpu, predictor) for node in application.nodes]
    starts, makespan, working = schedule(jobs, [job.time.value for job in jobs])
    draws = [schedule(jobs, [job.time.drawn(i) for job in jobs]) for i in range(DRAWS)]
    source = weakest(*(job.time.source for job in jobs if job.engine == "device"))
    warned = ("kernels of different streams are taken to run one at a time",) * _several_streams(jobs)
    whole = [end + application.idle for _, end, _ in draws]
    time = Estimate.from_draws(makespan + application.idle, whole, "s", source, warned)
    busy = Estimate.from_draws(working, [seconds for *_, seconds in draws], "s", source)
    idle, waiting = time.combine(busy, _less, "s"), waiting_watts(gpu)
    steps = tuple(
        Step(job.node.name, "kernel" if job.prediction else "copy", job.node.stream, job.node.repeats, start,
             job.time, _total([job.energy, rest.scaled(waiting, "J")], "J"), job.prediction)
        for job, rest, start in sorted(zip(jobs, _rests(jobs, busy), starts, strict=True), key=lambda s: s[2])
    )  # fmt: skip
    idle_energy = idle.scaled(waiting, "J")
    energy = _total([idle_energy, *(step.energy for step in steps)], "J")
    return ApplicationPrediction(
        application.name, gpu.name, steps, time, energy, idle, idle_energy, time.warnings
    )


def _rests(jobs: Sequence[_Job], busy: Estimate) -> list[Estimate]:
    """Return the seconds of each job in which the board waits: between launches; while no kernel runs."""
    kernels = _total([job.time for job in jobs if job.prediction], "s")
    copying = sum(job.time.value for job in jobs if not job.prediction) or 1.0
    only = busy.combine(kernels, _less, "s")
    return [
        job.time.combine(job.running, _less, "s") if job.prediction else only.scaled(job.time.value / copying)
        for job in jobs
    ]


def _less(whole: float, part: float) -> float:
    return max(0.0, whole - part)


def schedule(jobs: Sequence[_Job], durations: Sequence[float]) -> tuple[list[float], float, float]:
    """Return (start of each job, makespan, seconds in which a job runs): list scheduling in submission order.

    A job starts when its stream, its engine and everything in ``after`` are done.
    """
    free: dict[str, float] = {}
    done: dict[str, float] = {}
    starts = []
    for job, duration in zip(jobs, durations, strict=True):
        stream, engine = f"stream {job.node.stream}", f"engine {job.engine}"
        start = max([free.get(stream, 0.0), free.get(engine, 0.0), *(done[name] for name in job.node.after)])
        free[stream] = free[engine] = done[job.node.name] = start + duration
        starts.append(start)
    working = until = 0.0
    for start, duration in sorted(zip(starts, durations, strict=True)):
        working += max(0.0, start + duration - max(start, until))
        until = max(until, start + duration)
    return starts, max(done.values(), default=0.0), working


def _job(node: Node, gpu: Gpu, predictor: Predictor) -> _Job:
    if isinstance(node, CopyNode):
        return _Job(node, _copy_engine(node), _copy_time(node, gpu), _copy_energy(node, gpu), None, NEVER)
    prediction = predictor(node, gpu)
    time, energy, running = _kernel_cost(node, gpu, predictor, prediction)
    return _Job(node, "device", time, energy, prediction, running)


def _kernel_cost(
    node: KernelNode, gpu: Gpu, predictor: Predictor, prediction: Prediction
) -> tuple[Estimate, Estimate, Estimate]:
    """Return (time, energy, running time) of all repeats of a node, device-side launches included."""
    overhead = launch_overhead(gpu, graph=node.launch.graph)
    time = prediction.time.combine(overhead, max, "s")
    energy, running = prediction.energy, prediction.time
    for child in node.children:
        child_time, child_energy, child_running = _kernel_cost(child, gpu, predictor, predictor(child, gpu))
        time, energy = _total([time, child_time, overhead], "s"), _total([energy, child_energy], "J")
        running = _total([running, child_running], "s")
    return time.scaled(node.repeats), energy.scaled(node.repeats), running.scaled(node.repeats)


def _copy_engine(node: CopyNode) -> str:
    return "device" if node.kind == CopyKind.DEVICE_TO_DEVICE else node.kind.value


def _copy_time(node: CopyNode, gpu: Gpu) -> Estimate:
    if node.kind == CopyKind.DEVICE_TO_DEVICE:  # read and written once each
        spreads = {f"rate:dram:{gpu.name}": 0.1}
        once = Estimate.spread(2 * node.size / (0.85 * gpu.memory_bandwidth), spreads, "s")
    else:
        once = transfer_time(gpu, node.size, pinned=node.pinned)
    return once.scaled(node.repeats)


def _copy_energy(node: CopyNode, gpu: Gpu) -> Estimate:
    """Return the energy of moving the bytes through device memory; the link's own is not known."""
    passes = 2 if node.kind == CopyKind.DEVICE_TO_DEVICE else 1
    joules = passes * node.size * node.repeats * dram_joules_per_byte(gpu)
    return Estimate.spread(joules, {"model:specification": MODEL_SPREAD}, "J", Source.ASSUMED)


def _several_streams(jobs: Sequence[_Job]) -> bool:
    return len({job.node.stream for job in jobs if job.engine == "device"}) > 1


def _total(parts: Sequence[Estimate], unit: str) -> Estimate:
    total = Estimate.exact(0.0, unit)
    add: Callable[[float, float], float] = float.__add__
    for part in parts:
        total = total.combine(part, add, unit)
    return total
