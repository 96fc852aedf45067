"""Print how long the pipeline model takes for every kernel of the corpus, beside one run of ptxas on it.

``python -m benchmarks.pipeline_corpus [--gpu NAME[,NAME...]] [--size NAME] [PROGRAM...]``. One row of figures
per part: the time model alone, given what the launch does (wanted: 95 % under 50 ms), in process time of all
threads and of the longest one, which is what one waits for where there are processors for all; the emulation
and the cache model before it; and the assembler, which every build runs anyway. Process time in ms, of ptxas
too; the model's is the quickest of three.
"""

from __future__ import annotations

import argparse
import re
import resource
import statistics
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.case import Case
from warpwatt.core.errors import WarpWattError
from warpwatt.core.program import Level
from warpwatt.emulate.emulation import prepared
from warpwatt.emulate.first_execution import execute
from warpwatt.emulate.native.engine import translate
from warpwatt.emulate.workload import workload
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.ptxas import assemble
from warpwatt.frontend.source import read_source
from warpwatt.frontend.toolkits import for_target
from warpwatt.gpus import default_clocks, find_many
from warpwatt.lab.measure.corpus import Corpus
from warpwatt.models.pipeline import Pipeline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warpwatt.core.gpu import Gpu
    from warpwatt.core.program import Kernel
    from warpwatt.lab.measure.corpus import CorpusProgram, KernelLaunch

_INLINED = re.compile(r", *function_name [^,;]*, *inlined_at [^;\n]*")
"""Line information that refers to strings of the whole module."""
CORPUS = Path(__file__).parents[1] / "corpus"
OPTIONS = CompileOptions(levels=frozenset({Level.SASS}))
WANTED_SECONDS, SLOWEST, REPEATS = 0.05, 12, 3
PARTS = ("emulate", "workload", "model", "longest thread", "ptxas")


@dataclass(frozen=True, slots=True)
class Point:
    """Seconds of process time for one kernel on one GPU, and the microseconds the model predicts."""

    name: str
    emulate: float
    workload: float
    model: float
    longest: float
    ptxas: float
    predicted: float


def main() -> None:
    """Time everything and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", default="h200,a100,rtx4090,t4")
    parser.add_argument("--size", default="medium")
    parser.add_argument("programs", nargs="*")
    said = parser.parse_args()
    corpus = [p for p in Corpus.load(CORPUS) if not said.programs or p.name in said.programs]
    points: list[Point] = []
    for gpu in find_many(said.gpu):
        for program in corpus:
            points += _points(program, said.size, gpu)
    print("\n".join(_table(points)))


def _points(program: CorpusProgram, size: str, gpu: Gpu) -> Iterator[Point]:
    """Yield one point for the first launch of every kernel of a program."""
    first = {launch.kernel: launch for launch in reversed(program.size(size).launches)}
    for name, launch in first.items():
        try:
            kernel = load_kernel(program.source, gpu.target, OPTIONS, name)
            yield _timed(
                f"{program.name} {name} {gpu.name}", kernel, launch, gpu, ptxas_seconds(program, name, gpu)
            )
        except WarpWattError as error:
            print(f"{program.name} {name} {gpu.name}: {error}")


def _timed(name: str, kernel: Kernel, launch: KernelLaunch, gpu: Gpu, ptxas: float) -> Point:
    """Emulate a launch, whose code is loaded beforehand, and simulate it."""
    program = kernel.sass
    assert program is not None
    translate(prepared(program)[1], record=True)
    times = [time.process_time()]
    execution = execute(program, launch.launch)
    times.append(time.process_time())
    work = workload(execution, gpu, kernel.resources)
    times.append(time.process_time())
    emulating, placing = (later - earlier for earlier, later in pairwise(times))
    case = Case(kernel, work, launch.launch, gpu, default_clocks(gpu))
    computed, longest = zip(*(_simulated(case) for _ in range(REPEATS)), strict=True)
    predicted = Pipeline().predict(case).time.value * 1e6
    return Point(name, emulating, placing, min(computed), min(longest), ptxas, predicted)


def _simulated(case: Case) -> tuple[float, float]:
    """Return the seconds of one prediction: of all threads, and of this one, which does most."""
    together, alone = time.process_time(), time.thread_time()
    Pipeline().predict(case)
    return time.process_time() - together, time.thread_time() - alone


def ptxas_seconds(program: CorpusProgram, kernel: str, gpu: Gpu) -> float:
    """Return the processor seconds of assembling the PTX of one kernel."""
    from warpwatt.frontend.compilation import compile_cuda
    from warpwatt.isa import ptx

    choice = for_target(gpu.target, "")
    text = compile_cuda(read_source(str(program.source)), choice, OPTIONS).ptx
    alone = _INLINED.sub("", ptx.text_of(ptx.parse(text), kernel))
    before = _children()
    assemble(alone, gpu.target, choice.toolkit, OPTIONS)
    return _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _table(points: Sequence[Point]) -> list[str]:
    """Return the lines to print."""
    rows = [f"{len(points)} pairs of kernel and GPU; process time in ms"]
    rows.append(f"{'':<14} {'median':>8} {'mean':>8} {'95 %':>8} {'longest':>8} {'< 50 ms':>8}")
    for part in PARTS:
        seconds = sorted(getattr(point, part.split()[0]) for point in points)
        under = sum(s < WANTED_SECONDS for s in seconds) / len(seconds)
        high = seconds[int(0.95 * (len(seconds) - 1))]
        figures = statistics.median(seconds), statistics.fmean(seconds), high, seconds[-1]
        rows.append(f"{part:<14} " + " ".join(f"{s * 1e3:>8.1f}" for s in figures) + f" {under:>8.1%}")
    ratios = sorted(point.model / point.ptxas for point in points)
    all_ratios = sorted((p.emulate + p.workload + p.model) / p.ptxas for p in points)
    for name, values in (("model / ptxas", ratios), ("emulate + workload + model / ptxas", all_ratios)):
        high = values[int(0.95 * (len(values) - 1))]
        rows.append(f"{name}: median {statistics.median(values):.2f}, 95 % {high:.2f}, most {values[-1]:.2f}")
    rows.append("slowest models, and µs predicted:")
    slowest = sorted(points, key=lambda point: -point.model)[:SLOWEST]
    return rows + [f"{p.model * 1e3:>8.0f} {p.predicted:>12.1f}  {p.name}" for p in slowest]


if __name__ == "__main__":
    main()
