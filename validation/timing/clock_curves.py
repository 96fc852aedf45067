"""Cycles over the SM clock, of ten kernels of the corpus: simulated anew at each clock, and off the curve.

Run ``python -m validation.timing.clock_curves`` from the repository root. Writes
``docs/validation/clock_curves.md``. Needs no data: it judges whether the answers agree with each other.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from validation import ROOT
from validation.timing.page import stamp
from warpwatt.compose import Choice, analyse
from warpwatt.core.case import Case
from warpwatt.core.gpu import Clocks
from warpwatt.emulate.workload import workload
from warpwatt.frontend.load import load_kernel
from warpwatt.gpus import default_clocks, find
from warpwatt.lab.measure.corpus import load_program
from warpwatt.models.pipeline import Pipeline
from warpwatt.models.pipeline.model import simulate_case

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page and write it."""
    del arguments
    text = PROTOCOL.format(**stamp(), size=SIZE, number=CLOCKS, lowest=LOWEST, most=1 / LOWEST - 1)
    for gpu in GPUS:
        for program in KERNELS:
            row = compare(_case(gpu, program))
            name = program.rpartition("/")[2]
            both = (*row.simulated, *row.curve)
            text += ROW.format(*both, gpu=find(gpu).name, kernel=name, first=row.first, other=row.other)
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


def _case(gpu: str, name: str) -> Case:
    program = load_program(ROOT / "corpus" / f"{name}.toml")
    launch = next(size for size in program.sizes if size.name == SIZE).launches[0]
    board = find(gpu)
    kernel = load_kernel(program.source, board.target, name=launch.kernel)
    work = workload(analyse(kernel, launch.launch, Choice()), board, kernel.resources)
    return Case(kernel, work, launch.launch, board, default_clocks(board))


if __name__ == "__main__":
    main()
