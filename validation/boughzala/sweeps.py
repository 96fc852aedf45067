"""Kernels measured at many sizes: what a block model is fitted to, and what it is asked for.

- Textbook kernels on four GeForce boards (:mod:`validation.timing.pmpp`): times, with our own kernels, so
that
  occupancy is known and the default model can be asked too.
- PowerQuant (github.com/santonus/energymodel, commit 76f3e50, folder ``PowerQuant/Dataset Collection``):
  power and time of simple kernels over grids, four GPUs of which the data name one. Its times cover an
  unknown number of launches, the same within a kernel; equal rows are repeats, of which the median counts.
"""

from __future__ import annotations

import csv
import re
import statistics
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation.timing import pmpp as time_pmpp
from validation.timing.cases import cases
from warpwatt.models.hybrid import Run
from warpwatt.models.registry import time_model
from warpwatt.published.boughzala import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from validation.timing.cases import Measured

LEAST_SIZES = 6
MODEL = "pipeline"
POWERQUANT = {
    "K80": ("powerquant_k80.csv", 13),
    "a V100-class Tesla": ("powerquant_tesla.csv", None),
    "an unnamed Ampere": ("powerquant_ampere.csv", None),
    "an unnamed Ada Lovelace": ("powerquant_ada_lovelace.csv", None),
}
"""GPU to file and number of SMs, None where the data do not say which GPU it is."""
UNEQUAL = ("mat_vec", "mat_mul", "matrix_softmax", "matrix_det")
"""Kernels whose blocks have more to do in larger problems, by what they are named and, of PowerQuant's two,
by times that do not follow the blocks at all: outside what the paper assumes."""
_SIZES = re.compile(r"\b(axis_size|array_size|num_rows|num_rows_1)=\d+ ?")


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """One kernel with one block size on one GPU; samples by ascending blocks, runs of our model beside them.

    ``resident`` and ``runs`` are None and empty where there is no code to predict from.
    """

    data: str
    gpu: str
    program: str
    block: str
    samples: tuple[Sample, ...]
    sm_count: int | None
    idle_watts: float
    resident: int | None = None
    runs: tuple[Run, ...] = ()
    equal: bool = True


def textbook(folder: Path) -> list[Sweep]:
    """Return the textbook kernels that are one launch each and were measured at six sizes or more."""
    groups: dict[tuple[str, str, str], list[Measured]] = defaultdict(list)
    for run in time_pmpp.runs(folder)[0]:
        if len(run.launches) == 1:
            groups[run.gpu, run.program, _SIZES.sub("", run.configuration)].append(run)
    found = [_textbook(key, _one_per_grid(runs)) for key, runs in groups.items()]
    return [sweep for sweep in found if sweep is not None]


def powerquant(folder: Path, shortest: float = 0.0) -> list[Sweep]:
    """Return the kernels of PowerQuant with their power; idle is the lowest power of the file.

    Only runs of at least ``shortest`` seconds count.
    """
    found = []
    for gpu, (name, sm_count) in POWERQUANT.items():
        path = folder / "alavani_powerquant" / name
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        idle = min(float(row["Avg"]) for row in rows) - 1.0  # readings are whole watts
        groups: dict[tuple[str, str, str], dict[int, list[tuple[float, float]]]] = defaultdict(dict)
        for row in rows:
            grids = groups[row["KernelName"], row["BlockSize"], row["Loops"]]
            reading = float(row["Time"]) * 1e-9, float(row["Avg"])
            grids.setdefault(int(float(row["GridSize"])), []).append(reading)
        for (kernel, block, loops), grids in groups.items():
            samples = tuple(_median(blocks, grids[blocks]) for blocks in sorted(grids))
            samples = tuple(sample for sample in samples if sample.seconds >= shortest)
            if len(samples) >= LEAST_SIZES:
                what = f"{block} threads, {loops} loops"
                equal = not kernel.startswith(UNEQUAL)
                found.append(Sweep("PowerQuant", gpu, kernel, what, samples, sm_count, idle, equal=equal))
    return found


def _median(blocks: int, readings: Sequence[tuple[float, float]]) -> Sample:
    times, watts = zip(*readings, strict=True)
    return Sample(blocks, statistics.median(times), statistics.median(watts))


def _one_per_grid(runs: Sequence[Measured]) -> list[Measured]:
    """Return one run for each number of blocks, ascending; equal ones are the same row measured twice."""
    by_grid = {run.launches[0].grid.count: run for run in runs}
    return [by_grid[blocks] for blocks in sorted(by_grid)]


def _textbook(key: tuple[str, str, str], runs: Sequence[Measured]) -> Sweep | None:
    if len(runs) < LEAST_SIZES:
        return None
    gpu, program, what = key
    seen = [cases(run, time_model(MODEL).levels)[0] for run in runs]
    model = time_model(MODEL)
    return Sweep(
        data="textbook",
        gpu=gpu,
        program=program,
        block=what.strip(),
        samples=tuple(Sample(run.launches[0].grid.count, run.seconds) for run in runs),
        sm_count=seen[0].gpu.sm_count,
        idle_watts=0.0,
        resident=seen[0].workload.occupancy.blocks_per_sm,
        runs=tuple(
            Run(model.predict(case), case.launch, case.clocks, gpu, run.seconds)
            for case, run in zip(seen, runs, strict=True)
        ),
        equal=not program.startswith(UNEQUAL),
    )
