"""The points of the corpus: times of a size, power of a size."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError
from warpwatt.measure import store
from warpwatt.measure.instance import nbytes, placed
from warpwatt.measure.power import PowerRun, measure_power
from warpwatt.measure.protocol import Mode, Status, TimeRun, measure_time
from warpwatt.measure.store import Group
from warpwatt.measure.supply import RANDOM, ZEROS, Order, zeroable
from warpwatt.measure.timing import BATCH, warm

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warpwatt.measure.bench import Bench, Point
    from warpwatt.measure.corpus import Corpus, CorpusProgram
    from warpwatt.measure.instance import Instance, Job
    from warpwatt.measure.prepared import Code
    from warpwatt.measure.results import Row
    from warpwatt.measure.statistics import Summary
    from warpwatt.measure.store import Store

TINY = "tiny"
"""The size made for checking results on a CPU: timed last, and too short for power."""
POWER = "power"
VALUES = {"time": 0, "time tiny": 1, "micro": 2, "power": 3, "power zeros": 4}
"""Ranks of the kinds of points: the most valuable first."""


@dataclass(frozen=True, slots=True)
class TimePoint:
    """Times of every launch of a size, with cold and with warm L2."""

    program: CorpusProgram
    size: str

    @property
    def value(self) -> int:
        """Tiny sizes come after all others."""
        return VALUES["time tiny" if self.size == TINY else "time"]

    @property
    def label(self) -> str:
        """Program and size."""
        return f"time {self.program.name}/{self.size}"

    @property
    def kind(self) -> str:
        """Sizes of one name are made to take about as long as each other."""
        return f"time {self.size}"

    @property
    def guess(self) -> float:
        """Seconds."""
        return 3.0

    @property
    def order(self) -> Order:
        """The manifest's inputs."""
        return Order(self.program, self.size, RANDOM)

    def _missing(self, files: Store) -> list[Mode]:
        return [m for m in Mode if not files.has(m.value, self.program.name, self.size, RANDOM)]

    def is_pending(self, files: Store) -> bool:
        """Whether one of the two protocols lacks it."""
        return bool(self._missing(files))

    def measure(self, bench: Bench, files: Store, job: Job | None) -> Iterator[Group]:
        """Check the result, then time it under each protocol that lacks it."""
        code = _code(bench, self.program)
        assert job is not None
        _refuse_too_large(bench, job)
        with placed(bench.device, job, code) as instance:
            bench.on_placed(instance)
            wrong = "; ".join(str(mismatch) for mismatch in instance.wrong())
            if wrong:
                yield from self.without_figures(bench, files, Status.WRONG, wrong, code)
                return
            for mode in self._missing(files):
                run, attempts = measure_time(bench.watch, instance, mode, bench.settings)
                yield Group(mode.value, tuple(self._rows(bench, instance, code, mode, run, attempts)))

    def _rows(
        self, bench: Bench, instance: Instance, code: Code, mode: Mode, run: TimeRun, attempts: int
    ) -> Iterator[Row]:
        for launch, times in zip(instance.launches, run.launches, strict=True):
            yield {
                **self._head(bench, mode, len(run.launches), code),
                "launch": launch.index,
                "kernel": launch.kernel,
                "status": run.status.value,
                "attempts": attempts,
                "executions": launch.executions,
                "restored": int(instance.restores),
                **_times(times),
                "batch_s": run.batch,
                "batch_launches": BATCH if run.batch is not None else None,
                "events_s": bench.events_s,
                "empty_kernel_s": bench.empty_kernel_s,
                **store.conditions(run.conditions),
            }

    def _head(self, bench: Bench, mode: Mode, rows: int, code: Code | None) -> Row:
        return {
            **bench.identity(),
            **store.about(self.program, self.size, RANDOM),
            **_about_code(code),
            "protocol": mode.value,
            "rows": rows,
        }

    def without_figures(
        self, bench: Bench, files: Store, status: Status, note: str, code: Code | None = None
    ) -> list[Group]:
        """Return a row for each launch and protocol that lacks it."""
        launches = self.program.size(self.size).launches
        return [
            Group(
                mode.value,
                tuple(
                    {
                        **self._head(bench, mode, len(launches), code),
                        "launch": index,
                        "kernel": one.kernel,
                        "status": status.value,
                        "note": note,
                    }
                    for index, one in enumerate(launches)
                ),
            )
            for mode in self._missing(files)
        ]


@dataclass(frozen=True, slots=True)
class PowerPoint:
    """Power of a size that runs in a loop, with random floats or zeros in their place."""

    program: CorpusProgram
    size: str
    data: str

    @property
    def value(self) -> int:
        """Zeros come last."""
        return VALUES["power" if self.data == RANDOM else "power zeros"]

    @property
    def label(self) -> str:
        """Program, size and data."""
        return f"power {self.program.name}/{self.size}" + ("" if self.data == RANDOM else f"/{self.data}")

    @property
    def kind(self) -> str:
        """All take the same time, but for their inputs."""
        return f"power {self.size}"

    @property
    def guess(self) -> float:
        """Seconds."""
        return 6.0

    @property
    def order(self) -> Order:
        """The manifest's inputs, or zeros."""
        return Order(self.program, self.size, self.data)

    def is_pending(self, files: Store) -> bool:
        """Whether the file lacks it."""
        return not files.has(POWER, self.program.name, self.size, self.data)

    def measure(self, bench: Bench, files: Store, job: Job | None) -> Iterator[Group]:
        """Check the result, then measure power."""
        code = _code(bench, self.program)
        assert job is not None
        _refuse_too_large(bench, job)
        with placed(bench.device, job, code) as instance:
            bench.on_placed(instance)
            wrong = "; ".join(str(mismatch) for mismatch in instance.wrong())
            if wrong:
                yield from self.without_figures(bench, files, Status.WRONG, wrong, code)
                return
            seconds = median(_total(instance, warm(bench.watch, instance)) for _ in range(5))
            run, attempts = measure_power(bench.watch, instance, seconds, bench.settings)
        yield Group(POWER, ({**self._head(bench, code), **_power(run), "attempts": attempts},))

    def _head(self, bench: Bench, code: Code | None) -> Row:
        return {
            **bench.identity(),
            **store.about(self.program, self.size, self.data),
            **_about_code(code),
            "protocol": POWER,
            "rows": 1,
            "kernel": "all",
        }

    def without_figures(
        self, bench: Bench, files: Store, status: Status, note: str, code: Code | None = None
    ) -> list[Group]:
        """Return one row."""
        if not self.is_pending(files):
            return []
        return [Group(POWER, ({**self._head(bench, code), "status": status.value, "note": note},))]


def points(corpus: Corpus, target: int) -> list[Point]:
    """Return all points of the programs that a target such as 90 can run."""
    runnable = [p for p in corpus if int(p.least_target.removeprefix("sm_")) <= target]
    sizes = [(program, size.name) for program in runnable for size in program.sizes]
    times: list[Point] = [TimePoint(program, size) for program, size in sizes]
    large = [(program, size) for program, size in sizes if size != TINY]
    random: Sequence[Point] = [PowerPoint(program, size, RANDOM) for program, size in large]
    zeros: Sequence[Point] = [PowerPoint(p, size, ZEROS) for p, size in large if zeroable(p, size)]
    return [*times, *random, *zeros]


def _total(instance: Instance, means: Sequence[float]) -> float:
    return sum(mean * one.executions for mean, one in zip(means, instance.launches, strict=True))


def _code(bench: Bench, program: CorpusProgram) -> Code:
    code = bench.codes.code(program)
    if code is None:
        raise InputError(f"{program.name} was not compiled for {bench.device.info.target}")
    return code


def _refuse_too_large(bench: Bench, job: Job) -> None:
    needed, room = nbytes(job), bench.device.info.memory_bytes
    if needed > 0.9 * room:
        raise InputError(f"needs {needed / 2**30:.1f} GiB of the device's {room / 2**30:.1f} GiB")


def _about_code(code: Code | None) -> Row:
    return {} if code is None else {"cubin": code.digest, "toolkit": code.toolkit}


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
        **store.conditions(run.conditions),
        "note": run.problems,
    }
