"""Measured launches of public data sets and what the time models say about them."""

from __future__ import annotations

import math
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from warpwatt.core.case import Case
from warpwatt.core.errors import WarpWattError
from warpwatt.core.program import Level, Space
from warpwatt.emulate.analysis import analyse_launch
from warpwatt.emulate.workload import workload
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.toolkits import FOR_PASCAL, OLDEST_TARGET, target_number
from warpwatt.gpus import default_clocks, find
from warpwatt.gpus.load import without_ecc
from warpwatt.models.pipeline import Pipeline
from warpwatt.models.registry import time_model
from warpwatt.models.residual import features

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from warpwatt.core.gpu import Clocks
    from warpwatt.core.launch import Launch
    from warpwatt.core.program import Kernel

MODELS = ("pipeline", "roofline", "alavani-ilp-tlp", "alavani-reservation")
BASELINES = ("classic roofline", "bytes asked for / bandwidth")
PROCESSES = 2


@dataclass(frozen=True, slots=True)
class Code:
    """One kernel of a source file, its macros, and the toolkit that compiles it.

    Empty: the newest that compiles for the target, down to sm_50.
    """

    source: Path
    kernel: str
    defines: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    toolkit: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """One launch of a run whose launches are not all of one kernel, and what share of it is counted."""

    code: Code
    launch: Launch
    times: float = 1.0


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured run: launches one after the other, and the seconds they took together.

    ``parts``, where there are any, stand for ``code`` and ``launches``; ``clocks`` is None where nobody set
    them: then the GPU's default ones.
    """

    data: str
    gpu: str
    program: str
    configuration: str
    code: Code
    launches: tuple[Launch, ...]
    seconds: float
    clocks: Clocks | None = None
    parts: tuple[Part, ...] = ()
    ecc: bool = True
    """False where the board's error correction was off, though it ships with it on."""

    @property
    def pieces(self) -> tuple[Part, ...]:
        """Every launch with its code."""
        return self.parts or tuple(Part(self.code, launch) for launch in self.launches)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one model says: seconds, its 80 % interval, and what limits the longest launch."""

    seconds: float
    low: float
    high: float
    bottleneck: str = ""
    features: tuple[float, ...] = ()
    """What the residual learner sees of the longest launch (the pipeline model only)."""
    assumed: tuple[str, ...] = ()
    """What was taken for granted and may cost time."""

    @property
    def spread(self) -> float:
        """Standard deviation of the logarithm, from the width of the interval."""
        return math.log(self.high / self.low) / (2 * 1.2816) if self.low > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Compared:
    """A measured run beside the answers by model; a model that refuses the GPU is absent."""

    measured: Measured
    answers: dict[str, Answer]

    def log_ratio(self, model: str) -> float:
        """Return log(predicted / measured)."""
        return math.log(self.answers[model].seconds / self.measured.seconds)

    def outside(self, model: str) -> float:
        """Return how many times the measured time lies beyond the nearer end of the interval; 1 inside it."""
        answer, measured = self.answers[model], self.measured.seconds
        return max(answer.low / measured, measured / answer.high, 1.0)


def compare(runs: Iterable[Measured]) -> list[Compared]:
    """Predict every run, two processes at a time; runs that share a program are taken together."""
    ordered = sorted(runs, key=_program)
    groups = [list(group) for _, group in groupby(ordered, key=_program)]
    with ProcessPoolExecutor(PROCESSES) as pool:
        return [compared for group in pool.map(_compare_group, groups) for compared in group]


def cases(run: Measured, levels: tuple[Level, ...] = (Level.PTX,)) -> list[Case]:
    """Return the case of every launch of a run, at the run's clocks, analysed at one of ``levels``."""
    gpu = find(run.gpu) if run.ecc else without_ecc(find(run.gpu))
    found = []
    for part in run.pieces:
        kernel = _kernel(part.code, gpu.target)
        work = workload(analyse_launch(kernel, part.launch, levels), gpu, kernel.resources)
        found.append(Case(kernel, work, part.launch, gpu, run.clocks or default_clocks(gpu)))
    return found


def answer(model: str, run: Sequence[Case], times: Sequence[float] = ()) -> Answer:
    """Return what a built-in model or baseline says about launches one after the other.

    ``times`` says how often each launch counts; empty: once.
    """
    times = times or [1.0] * len(run)
    if model in BASELINES:
        seconds = sum(n * _BASELINE[model](case) for n, case in zip(times, run, strict=True))
        return Answer(seconds, seconds, seconds)
    timings = [time_model(model).predict(case) for case in run]
    case, longest = max(zip(run, timings, strict=True), key=lambda pair: pair[1].time.value)
    pairs = [(n, timing.time) for n, timing in zip(times, timings, strict=True)]
    return Answer(
        sum(n * t.value for n, t in pairs),
        sum(n * t.low for n, t in pairs),
        sum(n * t.high for n, t in pairs),
        longest.bottleneck,
        tuple(features(case, longest).values()) if model == Pipeline.name else (),
        tuple(dict.fromkeys(a.message for case in run for a in case.workload.assumptions if a.spread)),
    )


def classic_seconds(case: Case) -> float:
    """Return the two-roof roofline: FLOPs at the peak, DRAM bytes at the theoretical bandwidth."""
    execution, throughput = case.workload.execution, case.gpu.capability.throughput
    compute = 0.0
    for i, count, lanes in zip(
        execution.program.instructions, execution.counts, execution.lanes, strict=True
    ):
        lanes_per_clock = throughput.get(i.throughput_class, 0.0)
        if i.flops and lanes_per_clock:
            compute += count * lanes / lanes_per_clock
    peak = compute / case.gpu.sm_count / case.clocks.sm
    return max(peak, case.workload.dram.total / case.gpu.memory_bandwidth)


def asked_seconds(case: Case) -> float:
    """Return the bytes all lanes ask of global memory over the theoretical bandwidth."""
    execution = case.workload.execution
    asked = sum(
        i.memory.bytes * count * lanes
        for i, count, lanes in zip(
            execution.program.instructions, execution.counts, execution.lanes, strict=True
        )
        if i.memory is not None and i.memory.space in (Space.GLOBAL, Space.GENERIC)
    )
    return asked / case.gpu.memory_bandwidth


_BASELINE: dict[str, Callable[[Case], float]] = dict(
    zip(BASELINES, (classic_seconds, asked_seconds), strict=True)
)


def _program(run: Measured) -> tuple[str, str, tuple[str, ...], str]:
    code = run.pieces[0].code
    return str(code.source), code.kernel, code.defines, find(run.gpu).target


def _compare_group(runs: Sequence[Measured]) -> list[Compared]:
    found = []
    for run in runs:
        answers = {}
        for model in (*MODELS, *BASELINES):
            levels = (Level.PTX,) if model in BASELINES else time_model(model).levels
            try:
                given = answer(model, cases(run, levels), [part.times for part in run.pieces])
            except WarpWattError as error:
                what = f"{run.program} {run.configuration} on {run.gpu}"
                print(f"{model} refuses {what}: {error}", file=sys.stderr)
                continue
            if given.seconds > 0:  # a baseline that knows nothing of what the run does says 0
                answers[model] = given
        found.append(Compared(run, answers))
    return found


@lru_cache(maxsize=16)
def _kernel(code: Code, target: str) -> Kernel:
    newest = FOR_PASCAL if target_number(target) < OLDEST_TARGET else ""
    options = CompileOptions(
        defines=code.defines, include=code.include, flags=code.flags, toolkit=code.toolkit or newest
    )
    return load_kernel(code.source, target, options, code.kernel)
