"""Print what each stage of a prediction costs beside one run of ptxas on the same kernel.

``python -m benchmarks.stages [--gpu NAME[,NAME...]] [--size NAME] [--every N] [-o FILE.csv] [PROGRAM...]``
takes the first launch of every kernel of the corpus, or every ``N``-th. Processor seconds, of ptxas too; the
least of three. The kernel is compiled, nothing else is known of it, and tables are read. A *new kernel* is
all that a process does then; a *new launch* leaves out what is read and translated; *another size* is the
same launch where another size of the kernel was predicted before. Wanted of it: the median at most 1 × ptxas,
95 % at most 3 ×.
"""

from __future__ import annotations

import argparse
import csv
import functools
import gc
import os
import resource
import statistics
import sys
import time
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.pipeline_corpus import ptxas_seconds
from warpwatt.compose import Choice, LaunchModels, analyse, finish
from warpwatt.core.case import Case
from warpwatt.core.errors import WarpWattError
from warpwatt.core.program import Level
from warpwatt.emulate.emulation import prepared
from warpwatt.emulate.native.engine import translate
from warpwatt.emulate.workload import workload
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import default_clocks, find_many
from warpwatt.lab.measure.corpus import Corpus
from warpwatt.models.registry import power_model, time_model
from warpwatt.render.context import Context
from warpwatt.render.registry import renderer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from warpwatt.core.case import Power, Timing
    from warpwatt.core.gpu import Gpu
    from warpwatt.core.program import Kernel
    from warpwatt.lab.measure.corpus import CorpusProgram, KernelLaunch

CORPUS = Path(__file__).parents[1] / "corpus"
OPTIONS = CompileOptions(levels=frozenset({Level.PTX, Level.SASS}))
REPEATS, SLOWEST = 3, 10
ONCE = ("read", "translate")
"""Stages that a process goes through once per kernel."""
EACH = ("analyse", "workload", "simulate", "power", "finish")
"""Those of every new launch."""
STAGES = (*ONCE, *EACH, "render")
SUMS = {"new kernel": (*ONCE, *EACH), "new launch": EACH, "another size": ("another size",)}
_KEPT = range(2, 100)
"""Bounds of the caches of what a kernel or launch is; others hold tables, or what an opcode means."""
_TABLES = ("warpwatt.gpus.", "warpwatt.models.component.parameters", "warpwatt.models.pipeline.machine")
"""Modules whose caches hold tables of GPUs, whatever their bounds."""

Row = dict[str, float]


class Stopwatch:
    """Processor seconds by stage."""

    def __init__(self) -> None:
        self.spent: Row = dict.fromkeys(STAGES, 0.0)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add what the body takes, threads and children included."""
        start = _processor_seconds()
        yield
        self.spent[name] += _processor_seconds() - start


class _Timed:
    """A model whose predictions are timed."""

    def __init__(self, model: object, watch: Stopwatch, stage: str) -> None:
        self._model, self._watch, self._stage = model, watch, stage

    def __getattr__(self, name: str) -> object:
        return getattr(self._model, name)

    def predict(self, case: Case, *timing: Timing) -> Timing | Power:
        with self._watch.stage(self._stage):
            said: Timing | Power = self._model.predict(case, *timing)  # type: ignore[attr-defined]
        return said


def main() -> None:
    """Time everything and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", default="h200,rtx4090")
    parser.add_argument("--size", default="medium")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("programs", nargs="*")
    said = parser.parse_args()
    os.environ["WARPWATT_KEEP_EXECUTIONS"] = "0"
    corpus = [p for p in Corpus.load(CORPUS) if not said.programs or p.name in said.programs]
    rows: dict[str, Row] = {}
    for gpu in find_many(said.gpu):
        for program, launch in islice(_launches(corpus, said.size), 0, None, said.every):
            name = f"{program.name} {launch.kernel} {gpu.name}"
            try:
                rows[name] = _least(program, launch, said.size, gpu)
            except WarpWattError as error:
                print(f"{name}: {error}", file=sys.stderr)
    print("\n".join(_table(rows)))
    if said.output:
        _write(rows, said.output)


def _launches(corpus: Sequence[CorpusProgram], size: str) -> Iterator[tuple[CorpusProgram, KernelLaunch]]:
    """Yield the first launch of every kernel."""
    for program in corpus:
        first = {launch.kernel: launch for launch in reversed(program.size(size).launches)}
        for launch in first.values():
            yield program, launch


def _least(program: CorpusProgram, launch: KernelLaunch, size: str, gpu: Gpu) -> Row:
    """Return the least seconds of each stage, and what was predicted."""
    found = [_stages(program, launch, size, gpu) for _ in range(REPEATS)]
    ptxas = min(ptxas_seconds(program, launch.kernel, gpu) for _ in range(REPEATS))
    return {**{key: min(row[key] for row in found) for key in found[0]}, "ptxas": ptxas}


def _stages(program: CorpusProgram, launch: KernelLaunch, size: str, gpu: Gpu) -> Row:
    """Predict with nothing kept but compiled code and tables, and again behind another size."""
    watch, again = Stopwatch(), Stopwatch()
    row = _predicted(_loaded(program, launch, gpu, watch), launch, gpu, watch)
    kernel = _loaded(program, launch, gpu, Stopwatch())
    others = (one for other in program.sizes if other.name != size for one in other.launches)
    if (before := next((one for one in others if one.kernel == launch.kernel), None)) is not None:
        _predicted(kernel, before, gpu, Stopwatch())
    _predicted(kernel, launch, gpu, again)
    return row | {"another size": sum(again.spent[stage] for stage in EACH)}


def _loaded(program: CorpusProgram, launch: KernelLaunch, gpu: Gpu, watch: Stopwatch) -> Kernel:
    """Return the kernel of a launch, read and translated as if never seen before."""
    _forget()
    with watch.stage("read"):
        kernel = load_kernel(program.source, gpu.target, OPTIONS, launch.kernel)
    with watch.stage("translate"):
        if kernel.sass is not None:
            translate(prepared(kernel.sass)[1], record=True)
    return kernel


def _predicted(kernel: Kernel, launch: KernelLaunch, gpu: Gpu, watch: Stopwatch) -> Row:
    """Predict one launch; return the seconds of its stages and the results."""
    choice = Choice()
    with watch.stage("analyse"):
        execution = analyse(kernel, launch.launch, choice)
    with watch.stage("workload"):
        work = workload(execution, gpu, kernel.resources, choice.unknown)
    case = Case(kernel, work, launch.launch, gpu, default_clocks(gpu))
    models = (
        _Timed(time_model(choice.time), watch, "simulate"),
        _Timed(power_model(choice.power), watch, "power"),
    )
    settled = LaunchModels(models, case, choice).settle(case.clocks, fixed=False)  # type: ignore[arg-type]
    with watch.stage("finish"):
        prediction = finish(settled)
    with watch.stage("render"):
        renderer("text")([prediction], Context())
    seconds, watts = prediction.time.value, prediction.power.value
    return watch.spent | {"seconds": seconds, "watts": watts, "high": prediction.time.high}


def _forget() -> None:
    """Empty the caches of kernels and launches, as in a process that has seen other ones."""
    caches = [one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper)]
    for found in caches:
        ours = found.__module__.startswith("warpwatt") and not found.__module__.startswith(_TABLES)
        if ours and found.cache_parameters()["maxsize"] in _KEPT:
            found.cache_clear()


def _processor_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _sum(row: Row, name: str) -> float:
    """Return the seconds of one of :data:`SUMS`."""
    return sum(row[stage] for stage in SUMS[name])


def _table(rows: Mapping[str, Row]) -> list[str]:
    """Return the lines to print."""
    found = rows.values()
    lines = [f"{len(rows)} pairs of kernel and GPU; ms of processor time"]
    lines.append(f"{'':<20} {'median':>8} {'mean':>8} {'95 %':>8} {'most':>8}")
    lines += [_figures(stage, [1e3 * row[stage] for row in found], 1) for stage in (*STAGES, "ptxas")]
    lines += [_figures(name, [1e3 * _sum(row, name) for row in found], 1) for name in SUMS]
    ratios = {name: [_sum(row, name) / row["ptxas"] for row in found] for name in SUMS}
    lines += [_figures(f"{name} / ptxas", values, 2) for name, values in ratios.items()]
    lines.append("dearest new launches, times ptxas, and ms by stage:")
    dearest = sorted(rows.items(), key=lambda item: -_sum(item[1], "new launch") / item[1]["ptxas"])
    for name, row in dearest[:SLOWEST]:
        each = " ".join(f"{stage} {1e3 * row[stage]:.0f}" for stage in EACH)
        lines.append(f"{_sum(row, 'new launch') / row['ptxas']:>8.1f}  {name}: {each}")
    return lines


def _figures(name: str, values: Sequence[float], digits: int) -> str:
    ordered = sorted(values)
    high = ordered[int(0.95 * (len(ordered) - 1))]
    shown = statistics.median(ordered), statistics.fmean(ordered), high, ordered[-1]
    return f"{name:<20} " + " ".join(f"{value:>8.{digits}f}" for value in shown)


def _write(rows: dict[str, Row], file: Path) -> None:
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened)
        columns = list(next(iter(rows.values())))
        writer.writerow(["launch", *columns])
        writer.writerows([name, *(row[column] for column in columns)] for name, row in rows.items())


if __name__ == "__main__":
    main()
