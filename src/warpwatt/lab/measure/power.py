"""Power of a program that runs in a loop: by the energy counter and by sampled power, side by side."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warpwatt.lab.measure import readings
from warpwatt.lab.measure.protocol import POWER_CAP, Conditions, Settings, Status, retry_rejected
from warpwatt.lab.measure.timing import repeated

if TYPE_CHECKING:
    from warpwatt.lab.measure.device import Action, Device, Sample, State
    from warpwatt.lab.measure.instance import Instance
    from warpwatt.lab.measure.timing import Stopwatch

CHUNK_SECONDS = 0.02
"""Work enqueued at a time; long against the host's sampling, short against the run."""
CHUNKS_AHEAD = 4
GRAPH_LAUNCHES = 500
"""Launches recorded into one graph at most."""
SAMPLE_SECONDS = 0.004


@dataclass(frozen=True, slots=True)
class PowerRun:
    """Power of one run.

    Attributes
    ----------
    counted, sampled, corrected
        Mean board power in W: by the energy counter, by instant readings, and by those with the fitted lag
        undone. None where the sensor is missing or broken, or no lag was fitted.
    disagreement
        (sampled − counted) / counted, or None.
    lag
        Fitted time constant of the sensor in s, or None.
    run_seconds
        Time per run of the program within the loop: gaps and putting buffers back included.
    busy
        Share of that time that the program's own launches take.
    runs, window, samples
        Runs and seconds that were measured, after the rise; how many samples.
    problems
        What is wrong with sensors, in words.
    """

    status: Status
    counted: float | None
    sampled: float | None
    corrected: float | None
    disagreement: float | None
    lag: float | None
    run_seconds: float
    busy: float
    runs: int
    window: float
    samples: int
    conditions: Conditions
    problems: str

    @property
    def watts(self) -> float | None:
        """Power in W: by the counter where it works, else by the samples, their lag undone if it is known."""
        return next((w for w in (self.counted, self.corrected, self.sampled) if w is not None), None)

    @property
    def energy(self) -> float | None:
        """Energy of one run in J."""
        return None if self.watts is None else self.watts * self.run_seconds


@dataclass(frozen=True, slots=True)
class Loop:
    """A program as a loop's body: ``enqueue`` adds ``runs`` runs; each is ``kernel_seconds`` of launches."""

    enqueue: Action
    runs: int
    kernel_seconds: float


def record_loop(watch: Stopwatch, instance: Instance, kernel_seconds: float) -> Loop:
    """Record a chunk of about ``CHUNK_SECONDS`` of an instance's runs."""

    def once() -> None:
        instance.restore()
        instance.run()

    watch.device.keep_busy(1e-3)
    seconds = max(watch.spans([once])[0], 1e-6)
    launches = sum(launch.executions for launch in instance.launches)
    in_graph = max(1, min(GRAPH_LAUNCHES // launches, math.ceil(CHUNK_SECONDS / seconds)))
    replay = watch.device.graph(repeated(once, in_graph))
    replays = max(1, round(CHUNK_SECONDS / (in_graph * seconds)))
    return Loop(repeated(replay, replays), in_graph * replays, kernel_seconds)


def measure_power(
    watch: Stopwatch, instance: Instance, kernel_seconds: float, settings: Settings
) -> tuple[PowerRun, int]:
    """Measure the power of a checked instance; return the accepted or last run, and how many were made.

    ``kernel_seconds`` is what the program's launches take together, warm.
    """
    body = record_loop(watch, instance, kernel_seconds)
    return retry_rejected(watch.device, settings, lambda: run_loop(watch.device, body, settings))


@dataclass(slots=True)
class _Observation:
    """Samples since the load began, and the chunks' ends with the host time at which each was seen."""

    start: float
    samples: list[Sample]
    ends: list[tuple[float, Any]]
    states: list[State]


def run_loop(device: Device, body: Loop, settings: Settings) -> PowerRun:
    """Keep the device busy for the rise and the measured seconds, sampling; decide what it is worth."""
    seen = _sample_loop(device, body, settings)
    since = seen.start + settings.rise
    window = [sample for sample in seen.samples if sample.time >= since]
    ends = [event for time, event in seen.ends if time >= since] or [event for _, event in seen.ends][-1:]
    runs = (len(ends) - 1) * body.runs
    span = device.elapsed(ends[0], ends[-1]) if runs else math.nan
    run_seconds = span / runs if runs else math.nan
    counted, sampled = readings.counted_power(window), readings.sampled_power(window)
    lag = readings.fit_rise(seen.samples) if sampled.watts is not None else None
    conditions = Conditions(seen.states[0], seen.states[-1])
    return PowerRun(
        status=_decide_status(counted, sampled, window, conditions, settings, runs),
        counted=counted.watts,
        sampled=sampled.watts,
        corrected=readings.corrected_power(window, lag) if lag is not None else None,
        disagreement=_disagreement(counted.watts, sampled.watts),
        lag=lag,
        run_seconds=run_seconds,
        busy=body.kernel_seconds / run_seconds,
        runs=runs,
        window=span,
        samples=len(window),
        conditions=conditions,
        problems="; ".join(problem for problem in (counted.problem, sampled.problem) if problem),
    )


def _sample_loop(device: Device, body: Loop, settings: Settings) -> _Observation:
    clock = device.clock
    seen = _Observation(clock.now(), [], [], [])
    middle, end = seen.start + settings.rise, seen.start + settings.rise + settings.power_seconds
    pending: deque[Any] = deque()
    while clock.now() < end or len(seen.ends) < 2:
        while len(pending) < CHUNKS_AHEAD:
            body.enqueue()
            pending.append(device.event())
            device.record(pending[-1])
        seen.samples.append(device.sensors.sample())
        while pending and device.reached(pending[0]):
            seen.ends.append((clock.now(), pending.popleft()))
        if not seen.states and clock.now() >= middle:
            seen.states.append(device.sensors.state())
        clock.sleep(SAMPLE_SECONDS)
    seen.states.append(device.sensors.state())
    device.synchronise()
    return seen


def _decide_status(
    counted: readings.Reading,
    sampled: readings.Reading,
    window: Sequence[Sample],
    conditions: Conditions,
    settings: Settings,
    runs: int,
) -> Status:
    throttle = set(conditions.throttle)
    if throttle - {POWER_CAP}:
        return Status.THROTTLED
    if counted.watts is None and sampled.watts is None:
        return Status.SENSOR
    if not runs or readings.drift(window) > settings.drift:
        return Status.UNSTEADY
    if throttle:
        return Status.CAPPED
    return Status.UNSTEADY if conditions.clock_change() > settings.clock_change else Status.OK


def _disagreement(counted: float | None, sampled: float | None) -> float | None:
    return (sampled - counted) / counted if counted and sampled is not None else None
