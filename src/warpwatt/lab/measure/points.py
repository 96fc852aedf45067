"""The points of the corpus: times of a size, power of a size."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError
from warpwatt.lab.measure import columns
from warpwatt.lab.measure.bench import Point
from warpwatt.lab.measure.instance import device_bytes, place_on_device
from warpwatt.lab.measure.power import PowerRun, measure_power
from warpwatt.lab.measure.protocol import Mode, Status, measure_time
from warpwatt.lab.measure.results import Group
from warpwatt.lab.measure.supply import RANDOM, ZEROS, Order, zeroable
from warpwatt.lab.measure.timing import BATCH, time_warm

if TYPE_CHECKING:
    from warpwatt.lab.measure.bench import Bench
    from warpwatt.lab.measure.columns import Row
    from warpwatt.lab.measure.corpus import Corpus, CorpusProgram
    from warpwatt.lab.measure.instance import Instance, Job
    from warpwatt.lab.measure.prepared import Code
    from warpwatt.lab.measure.results import Store
    from warpwatt.lab.measure.statistics import Summary

TINY = "tiny"
"""The size made for checking results on a CPU: timed last, and too short for power."""
POWER = "power"
RANKS = {"time": 0, "time tiny": 1, "micro": 2, "power": 3, "power zeros": 4}
"""Ranks of the kinds of points: the most valuable first."""


class CorpusPoint(Point):
    """Something to measure of one size of a program, once its result was found to be the reference's."""

    order: Order

    def measure(self, bench: Bench, files: Store, job: Job | None) -> Iterator[Group]:
        """Check the result, then measure what is missing."""
        program = self.order.program
        code = bench.codes.code(program)
        if code is None:
            raise InputError(f"{program.name} was not compiled for {bench.device.info.target}")
        assert job is not None
        _refuse_too_large(bench, job)
        with place_on_device(bench.device, job, code) as instance:
            bench.on_placed(instance)
            if wrong := instance.mismatches():
                note = "; ".join(map(str, wrong))
                yield from self.without_figures(bench, files, Status.WRONG, note, code)
                return
            for protocol in self.missing(files):
                heads = self.identifying_cells(bench, protocol, code)
                figures = self._figures(bench, instance, protocol)
                yield Group(protocol, tuple({**h, **f} for h, f in zip(heads, figures, strict=True)))

    @abstractmethod
    def _figures(self, bench: Bench, instance: Instance, protocol: str) -> Sequence[Row]:
        """Measure; return the figures of every row of a protocol."""

    def _head(self, bench: Bench, protocol: str, code: Code | None) -> Row:
        return {
            **bench.identity(),
            **columns.describe(self.order.program, self.order.size, self.order.data),
            **({} if code is None else {"cubin": code.digest, "toolkit": code.toolkit}),
            "protocol": protocol,
        }


class TimePoint(CorpusPoint):
    """Times of every launch of a size, with cold and with warm L2.

    Tiny sizes come after all others; sizes of one name are made to take about as long as each other.
    """

    def __init__(self, program: CorpusProgram, size: str) -> None:
        super().__init__(
            rank=RANKS["time tiny" if size == TINY else "time"],
            label=f"time {program.name}/{size}",
            kind=f"time {size}",
            guess=3.0,
            key=(program.name, size, RANDOM),
            protocols=tuple(mode.value for mode in Mode),
            order=Order(program, size, RANDOM),
        )

    def identifying_cells(self, bench: Bench, protocol: str, code: Code | None = None) -> list[Row]:
        """Return the cells of a row for each launch."""
        head = self._head(bench, protocol, code)
        launches = self.order.program.size(self.order.size).launches
        return [
            {**head, "rows": len(launches), "launch": index, "kernel": one.kernel}
            for index, one in enumerate(launches)
        ]

    def _figures(self, bench: Bench, instance: Instance, protocol: str) -> Sequence[Row]:
        run, attempts = measure_time(bench.watch, instance, Mode(protocol), bench.settings)
        return [
            {
                "status": run.status.value,
                "attempts": attempts,
                "executions": launch.executions,
                "restored": int(instance.restores),
                **_times(times),
                "batch_s": run.batch,
                "batch_launches": BATCH if run.batch is not None else None,
                "events_s": bench.events_s,
                "empty_kernel_s": bench.empty_kernel_s,
                **columns.conditions(run.conditions),
            }
            for launch, times in zip(instance.launches, run.launches, strict=True)
        ]


class PowerPoint(CorpusPoint):
    """Power of a size that runs in a loop, with random floats or zeros in their place; zeros come last."""

    def __init__(self, program: CorpusProgram, size: str, data: str) -> None:
        zeros = "" if data == RANDOM else f"/{data}"
        super().__init__(
            rank=RANKS["power zeros" if zeros else "power"],
            label=f"power {program.name}/{size}{zeros}",
            kind=f"power {size}",
            guess=6.0,
            key=(program.name, size, data),
            protocols=(POWER,),
            order=Order(program, size, data),
        )

    def identifying_cells(self, bench: Bench, protocol: str, code: Code | None = None) -> list[Row]:
        """Return the cells of the one row."""
        return [{**self._head(bench, protocol, code), "rows": 1, "kernel": "all"}]

    def _figures(self, bench: Bench, instance: Instance, protocol: str) -> Sequence[Row]:
        del protocol
        seconds = median(_total(instance, time_warm(bench.watch, instance)) for _ in range(5))
        run, attempts = measure_power(bench.watch, instance, seconds, bench.settings)
        return [{**_power(run), "attempts": attempts}]


def points(corpus: Corpus, target: int) -> list[Point]:
    """Return all points of the programs that a target such as 90 can run."""
    runnable = [p for p in corpus if int(p.least_target.removeprefix("sm_")) <= target]
    sizes = [(program, size.name) for program in runnable for size in program.sizes]
    large = [(program, size) for program, size in sizes if size != TINY]
    return [
        *(TimePoint(program, size) for program, size in sizes),
        *(PowerPoint(program, size, RANDOM) for program, size in large),
        *(PowerPoint(program, size, ZEROS) for program, size in large if zeroable(program, size)),
    ]


def _total(instance: Instance, means: Sequence[float]) -> float:
    return sum(mean * one.executions for mean, one in zip(means, instance.launches, strict=True))


def _refuse_too_large(bench: Bench, job: Job) -> None:
    needed, room = device_bytes(job), bench.device.info.memory_bytes
    if needed > 0.9 * room:
        raise InputError(f"needs {needed / 2**30:.1f} GiB of the device's {room / 2**30:.1f} GiB")


def _times(times: Summary) -> Row:
    return {
        "repeats": times.count,
        "time_s": times.median,
        "minimum_s": times.minimum,
        "maximum_s": times.maximum,
        "lower_quartile_s": times.lower_quartile,
        "upper_quartile_s": times.upper_quartile,
        "spread": times.spread,
    }


def _power(run: PowerRun) -> Row:
    return {
        "status": run.status.value,
        "power_w": run.watts,
        "counter_w": run.counted,
        "sampled_w": run.sampled,
        "disagreement": run.disagreement,
        "lag_s": run.lag,
        "corrected_w": run.corrected,
        "energy_j": run.energy,
        "run_s": run.run_seconds,
        "busy": run.busy,
        "runs": run.runs,
        "window_s": run.window,
        "samples": run.samples,
        **columns.conditions(run.conditions),
        "note": run.problems,
    }
