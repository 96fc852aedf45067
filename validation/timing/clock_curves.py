"""Cycles over the SM clock, of ten kernels of the corpus: simulated anew at each clock, and off the curve.

Run ``python -m validation.timing.clock_curves --data FOLDER --checkouts FOLDER`` from the repository root
(default ``../shared/data``, ``../checkouts``). Writes ``docs/validation/clock_curves.md``: whether the
answers agree with each other and, where the sources of applications measured at locked clocks are checked
out, with the measurements.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from validation.timing import dvfs as time_dvfs
from validation.timing.cases import cases
from validation.timing.page import stamp
from validation.timing.statistics import ordered_pairs, spearman
from warpwatt.compose import Choice, analyse
from warpwatt.core.case import Case
from warpwatt.core.gpu import Clocks
from warpwatt.emulate.workload import workload
from warpwatt.frontend.load import load_kernel
from warpwatt.gpus import default_clocks, find
from warpwatt.lab.measure.corpus import load_program
from warpwatt.models.pipeline import Pipeline
from warpwatt.models.pipeline.model import Simulated, simulate_case, traced
from warpwatt.models.roofline import Roofline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from validation.timing.cases import Measured
    from warpwatt.core.case import Timing

PAGE = ROOT / "docs" / "validation" / "clock_curves.md"
GPUS = ("h200", "a100", "rtx4090")
KERNELS = (
    "combinational_logic/hash_sha256", "n_body_methods/nbody_tiled", "dense_linear_algebra/matmul_tiled",
    "dense_linear_algebra/matmul_naive", "dense_linear_algebra/matmul_register",
    "dense_linear_algebra/conv2d_tiled", "map_reduce/black_scholes", "dense_linear_algebra/layernorm_block",
    "spectral_methods/fft_batched_256", "dense_linear_algebra/saxpy",
)  # fmt: skip
SIZE = "medium"
CLOCKS = 17
LOWEST = 0.75
"""Of the default clock."""
PROTOCOL = """\
# Times over the SM clock

Written by `python -m validation.timing.clock_curves` on {date} at commit {commit}; do not edit.

Ten kernels of the corpus ({size}) at {number} clocks from {lowest:.0%} of the board's default clock up to it.

- *Anew*: what the simulation says, asked at every clock, as predictions did before
  [decision 0027](../decisions/0027-one-curve-over-the-clock.md). *Curve*: what predictions say.
- Spread: the largest number of cycles over the smallest, less 1. A kernel that nothing but the SM clock
  binds has 0, one that DRAM binds {most:.0%}. Rises: steps up in the clock at which the time rises.
- CPU: seconds of a prediction's time at the default clock, and what the first at another clock adds.

| GPU | kernel | spread, anew | rises | spread, curve | rises | CPU, default | CPU, another |
|---|---|---:|---:|---:|---:|---:|---:|
"""
ROW = "| {gpu} | {kernel} | {0:.1%} | {1} | {2:.1%} | {3} | {first:.3f} | {other:.3f} |\n"


@dataclass(frozen=True, slots=True)
class Row:
    """Spread of cycles and number of rising steps, before and after; CPU seconds."""

    simulated: tuple[float, int]
    curve: tuple[float, int]
    first: float
    other: float


RANKS = """
## Order of the clocks

Applications measured at locked clocks (github.com/blackjack2015/NV-DVFS-Benchmark, **development data**):
Spearman's rank correlation of time over the clocks, the mean over programs; slope: time at the lowest over
that at the highest clock, the mean over programs of |log(predicted / measured)|. *Roofline* says one time at
every clock for those that DRAM binds and has no order there: the first columns leave these programs out.
*Pairs*: of two clocks of a program whose measured times differ by over {apart:.0%}, how many the curve orders
right, says one time for (within {alike:.1%}), and orders wrongly. What is below 1 in the columns of all
programs are those that DRAM binds: the curve is flat there, and times that are one have no order. On RTX 8000
their measured times have their least at 1110 to 1215 MHz and *rise* by 1 to 2 % to the highest clock, step by
step (vectorAdd, fastWalshTransform, BlackScholes): hardly noise, and nothing that we know the cause of.

| GPU | programs | anew | curve | roofline | all | anew | curve | slope, anew | slope, curve | roofline \
| pairs: right | one time | wrong |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
"""
APART, ALIKE = 0.02, 0.001
"""By how much measured times of two clocks differ that count as two, predicted ones as one."""


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--checkouts", type=Path, default=ROOT.parent / "checkouts")
    said = parser.parse_args(list(arguments))
    text = PROTOCOL.format(**stamp(), size=SIZE, number=CLOCKS, lowest=LOWEST, most=1 / LOWEST - 1)
    for gpu in GPUS:
        for program in KERNELS:
            row = compare(_case(gpu, program))
            name = program.rpartition("/")[2]
            both = (*row.simulated, *row.curve)
            text += ROW.format(*both, gpu=find(gpu).name, kernel=name, first=row.first, other=row.other)
    if (said.checkouts / "nv-dvfs").exists():
        text += RANKS.format(apart=APART, alike=ALIKE) + "".join(
            _ranks(*time_dvfs.runs(said.data, said.checkouts))
        )
    print(text)
    PAGE.write_text(text, encoding="utf-8")


def compare(case: Case) -> Row:
    """Ask for the times of a case both ways."""
    top = default_clocks(case.gpu).sm
    clocks = [top * (LOWEST + (1 - LOWEST) * i / (CLOCKS - 1)) for i in range(CLOCKS)]
    cases = [replace(case, clocks=Clocks(clock, case.clocks.memory)) for clock in clocks]
    start = time.process_time()
    Pipeline().predict(case)
    first = time.process_time()
    Pipeline().predict(cases[1])
    other = time.process_time()
    curve = [Pipeline().predict(one).time.value for one in cases]
    simulated = [simulate_case(one).seconds for one in cases]
    return Row(_judged(clocks, simulated), _judged(clocks, curve), first - start, other - first)


def _judged(clocks: Sequence[float], seconds: Sequence[float]) -> tuple[float, int]:
    """Return the spread of cycles and the number of steps at which the time rises."""
    cycles = [clock * own for clock, own in zip(clocks, seconds, strict=True)]
    rises = sum(after > before * (1 + 1e-9) for before, after in pairwise(seconds))
    return max(cycles) / min(cycles) - 1, rises


def _ranks(runs: Sequence[Measured], _left_out: object) -> Iterator[str]:
    """Yield a row of the table for each GPU."""
    by_gpu: dict[str, dict[str, list[Measured]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        by_gpu[run.gpu][run.program].append(run)
    for gpu, programs in by_gpu.items():
        tables = [_times(sorted(own, key=_clock)) for own in programs.values()]
        orders = [[spearman(column, measured) for column in said] for measured, *said in tables]
        told = [row for row in orders if row[2] is not None]
        slopes = [
            [abs(math.log(column[0] / column[-1] * measured[-1] / measured[0])) for column in said]
            for measured, *said in tables
        ]
        cells = [f"{statistics.fmean(row[i] or 0.0 for row in told):.3f}" for i in range(3)]
        whole = [f"{statistics.fmean(row[i] or 0.0 for row in orders):.3f}" for i in range(2)]
        off = [f"{statistics.fmean(row[i] for row in slopes):.3f}" for i in range(3)]
        pairs = (ordered_pairs(curve, measured, APART, ALIKE) for measured, _, curve, _ in tables)
        counted = [str(sum(column)) for column in zip(*pairs, strict=True)]
        yield f"| {' | '.join([gpu, str(len(told)), *cells, str(len(orders)), *whole, *off, *counted])} |\n"


def _clock(run: Measured) -> float:
    return run.clocks.sm if run.clocks is not None else 0.0


def _times(runs: Sequence[Measured]) -> tuple[list[float], ...]:
    """Return seconds by clock: measured, simulated anew, off the curve, of the roofline."""
    at, times = cases(runs[0], Pipeline.levels), [part.times for part in runs[0].pieces]
    models = (_anew, Pipeline().predict, Roofline().predict)
    columns: list[list[float]] = [[run.seconds for run in runs]]
    for model in models:
        columns.append([])
        for clocks in (run.clocks or case.clocks for run in runs for case in at[:1]):
            found = [_seconds(model(replace(case, clocks=clocks))) for case in at]
            columns[-1].append(sum(n * own for n, own in zip(times, found, strict=True)))
    return tuple(columns)


def _anew(case: Case) -> Simulated | Timing:
    return simulate_case(case) if traced(case) else Roofline().predict(case)


def _seconds(found: Simulated | Timing) -> float:
    return found.seconds if isinstance(found, Simulated) else found.time.value


def _case(gpu: str, name: str) -> Case:
    program = load_program(ROOT / "corpus" / f"{name}.toml")
    launch = next(size for size in program.sizes if size.name == SIZE).launches[0]
    board = find(gpu)
    kernel = load_kernel(program.source, board.target, name=launch.kernel)
    work = workload(analyse(kernel, launch.launch, Choice()), board, kernel.resources)
    return Case(kernel, work, launch.launch, board, default_clocks(board))


if __name__ == "__main__":
    main(sys.argv[1:])
