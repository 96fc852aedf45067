"""Reading one microbenchmark: cycles by the SM's own clock, seconds by events, power in a loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.lab.measure import timing
from warpwatt.lab.measure.microbench.model import Microbenchmark, Reading
from warpwatt.lab.measure.power import CHUNK_SECONDS, Loop, PowerRun, run_loop
from warpwatt.lab.measure.protocol import Conditions, Settings, Status, retry_rejected
from warpwatt.lab.measure.statistics import median_error

if TYPE_CHECKING:
    from warpwatt.lab.measure.bench import Bench
    from warpwatt.lab.measure.microbench.placing import Placed

REPEATS = 9
LARGE = 2**20
"""Bytes of a chain from which on three repeats must do: one takes a second."""
GRAPH_LAUNCHES = 200


@dataclass(frozen=True, slots=True)
class Result:
    """What was read.

    Attributes
    ----------
    value, standard_error
        In the microbenchmark's unit; the error of the median over repeats.
    seconds
        Of one launch, where that is known.
    passes
        Passes of that launch.
    power
        The power run, where power was read.
    """

    value: float
    standard_error: float
    repeats: int
    status: Status
    conditions: Conditions
    seconds: float | None = None
    passes: int = 0
    power: PowerRun | None = None


def read(bench: Bench, here: Placed) -> Result:
    """Read a placed microbenchmark in its way."""
    match here.one.reading:
        case Reading.CYCLES:
            return _repeated(bench, here, lambda: _cycles(here))
        case Reading.POWER:
            return _power(bench, here)
        case reading:
            watch = bench.watch
            once = {
                Reading.SECONDS: lambda: _seconds(watch, here),
                Reading.BATCH: lambda: timing.time_batch(watch, here.run(0)),
                Reading.GRAPH: lambda: _graph(watch, here),
            }[reading]
            return _repeated(bench, here, once)


def _repeated(bench: Bench, here: Placed, once: Callable[[], float]) -> Result:
    """Run once untimed, then take the median; a throttled or scattered run is repeated."""
    one, device = here.one, bench.device
    slow = one.chain is not None and one.buffer > LARGE
    repeats = 3 if slow else REPEATS

    def run() -> Result:
        device.keep_busy(bench.settings.warm_up)
        here.run(1)()
        device.synchronise()
        before = device.sensors.state()
        values = [once() for _ in range(repeats)]
        return _with_status(values, Conditions(before, device.sensors.state()), one, bench.settings)

    result, _ = retry_rejected(device, bench.settings, run)
    return result


def _with_status(
    values: Sequence[float], conditions: Conditions, one: Microbenchmark, settings: Settings
) -> Result:
    median = float(np.median(values))
    error = median_error(values)
    good = math.isfinite(median) and median > 0 and error <= settings.spread * median
    if conditions.throttle and one.reading is not Reading.CYCLES:  # cycles do not care for the clock
        status = Status.THROTTLED
    else:
        status = Status.OK if good else Status.UNSTEADY
    return Result(median, error, len(values), status, conditions, passes=one.passes)


def _cycles(here: Placed) -> float:
    """Return cycles per step or a rate, from the difference of a run and one twice as long."""
    one = here.one
    here.run(one.passes)()
    short = here.cycles()
    here.run(2 * one.passes)()
    difference = here.cycles() - short
    if one.per_pass:
        return one.per_pass * one.passes / difference if difference > 0 else math.nan
    return difference / (one.passes * one.steps)


def _seconds(watch: timing.Stopwatch, here: Placed) -> float:
    """Return the seconds of a launch, or a rate from the difference of a run and one twice as long."""
    one = here.one
    runs = [here.run(one.passes)] if not one.per_pass else [here.run(one.passes), here.run(2 * one.passes)]
    watch.device.keep_busy(timing.ENQUEUE_SECONDS * 8)
    times = watch.spans(runs)
    if not one.per_pass:
        return times[0]
    difference = times[1] - times[0]
    return one.per_pass * one.passes / difference if difference > 0 else math.nan


def _graph(watch: timing.Stopwatch, here: Placed) -> float:
    replay = watch.device.graph(timing.repeated(here.run(0), GRAPH_LAUNCHES))
    replay()
    watch.device.keep_busy(20 * timing.ENQUEUE_SECONDS)
    return watch.spans([replay])[0] / GRAPH_LAUNCHES


def _power(bench: Bench, here: Placed) -> Result:
    """Return the mean power while the launch repeats, and the time of one launch."""
    run = here.run(here.one.passes)
    run()
    bench.device.keep_busy(1e-3)
    seconds = max(bench.watch.spans([run])[0], 1e-6)
    count = max(1, round(CHUNK_SECONDS / seconds))
    body = Loop(timing.repeated(run, count), count, seconds)
    power, _ = retry_rejected(
        bench.device, bench.settings, lambda: run_loop(bench.device, body, bench.settings)
    )
    error = abs(power.disagreement or 0.0) * (power.watts or 0.0)
    return Result(
        power.watts if power.watts is not None else math.nan, error, power.runs, power.status,
        power.conditions, power.run_seconds, here.one.passes, power,
    )  # fmt: skip
