"""What models say without a run at every measured pair of clocks: seconds, watts, what binds."""

from __future__ import annotations

import csv
import math
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from validation.timing import dvfs as time_dvfs
from validation.timing.cases import cases
from validation.timing.hybrid_runs import together
from validation.timing.store import LOWER_FLOORS, kept, version
from validation.wang_chu.measurements import Kernel, Point, clocks
from warpwatt.core.errors import WarpWattError
from warpwatt.models.hybrid import Run, corrected
from warpwatt.models.registry import power_model, time_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from validation.timing.cases import Measured
    from validation.wang_chu.measurements import Pair
    from warpwatt.core.case import Case, TimeModel, Timing
    from warpwatt.core.gpu import Clocks
    from warpwatt.core.launch import Launch

MODELS = ("wang-chu", "pipeline")
MHZ = 1e6


@dataclass(frozen=True, slots=True)
class Said:
    """One answer of a model: its timing, and mean watts by the component power model."""

    timing: Timing
    watts: float

    @property
    def seconds(self) -> float:
        """Per launch."""
        return self.timing.time.value


@dataclass(frozen=True, slots=True)
class Swept:
    """A program on a GPU: what was measured, and what each model says, by pair of clocks."""

    kernel: Kernel
    answers: Mapping[str, Mapping[Pair, Said]]
    launch: Launch

    def hybrid(self, baseline: Pair) -> dict[Pair, float]:
        """Return the seconds of ``pipeline`` corrected by the run at ``baseline``."""
        measured = self.kernel.points[baseline].seconds
        said = self.answers["pipeline"]
        run = self._run(said[baseline], clocks(baseline), measured)
        return {pair: corrected(self._run(one, clocks(pair)), run).time.value for pair, one in said.items()}

    def _run(self, said: Said, at: Clocks, measured: float | None = None) -> Run:
        return Run(said.timing, self.launch, at, self.kernel.gpu, measured)


def swept(kernels: Iterable[Kernel], runs: Mapping[tuple[str, str], Measured]) -> list[Swept]:
    """Return the kernels whose source is known, with the answers of every model that answers."""
    found = []
    for kernel in kernels:
        run = runs.get((kernel.gpu, kernel.name))
        if run is None:
            continue
        try:
            answers = {name: _kept(name, kernel, run) for name in MODELS}
        except WarpWattError as error:
            print(f"{kernel.name} on {kernel.gpu}: {error}", file=sys.stderr)
            continue
        found.append(Swept(kernel, answers, run.pieces[0].launch))
    return found


def older(data: Path, checkouts: Path) -> dict[tuple[str, str], Measured]:
    """Return GPU and program to the launches of the earlier campaign."""
    if not (checkouts / "nv-dvfs").exists():
        return {}
    return {(run.gpu, run.program): run for run in time_dvfs.older_runs(data, checkouts)[0]}


def newer(data: Path, checkouts: Path) -> tuple[list[Kernel], dict[tuple[str, str], Measured]]:
    """Return the kernels of the later campaign (V100 from 705 MHz, RTX 8000), and their launches."""
    if not (checkouts / "nv-dvfs").exists():
        return [], {}
    points: dict[tuple[str, str], dict[Pair, Point]] = {}
    runs, watts = {}, _newer_watts(data)
    for run in time_dvfs.runs(data, checkouts)[0]:
        assert run.clocks is not None
        key = run.gpu, run.program
        pair = run.clocks.sm / MHZ, run.clocks.memory / MHZ
        points.setdefault(key, {})[pair] = Point(run.seconds, watts[run.gpu, run.program, pair[0]])
        runs[key] = run
    return [Kernel(name, gpu, 0, 0, own) for (gpu, name), own in points.items()], runs


def _newer_watts(data: Path) -> dict[tuple[str, str, float], float]:
    """Return GPU, program and core clock to measured watts."""
    found = {}
    for file, gpu in time_dvfs.FILES.items():
        with (data / time_dvfs.FOLDER / file).open(newline="") as text:
            for row in csv.DictReader(text):
                key = gpu, row["benchmark"], float(row["core_frequency"])
                found[key] = float(row["average_power"])
    return found


def _kept(name: str, kernel: Kernel, run: Measured) -> dict[Pair, Said]:
    """Return a model's answers, computed anew only where code of that model changed."""
    code = (*LOWER_FLOORS, "gpus", "models", "published")
    key = name, kernel.gpu, kernel.name, tuple(sorted(kernel.points))
    return kept(f"wang-chu-{version(*code)}", key, lambda: _said(name, kernel, run))


def _said(name: str, kernel: Kernel, run: Measured) -> dict[Pair, Said]:
    model = time_model(name)
    at = cases(run, model.levels)
    times = [part.times for part in run.pieces]
    ordered = sorted(kernel.points, key=lambda pair: (pair[1], pair[0]))
    return {pair: _together(model, at, times, clocks(pair)) for pair in ordered}


def _together(model: TimeModel, at: Sequence[Case], times: Sequence[float], where: Clocks) -> Said:
    """Return launches one after the other as one."""
    moved = [replace(case, clocks=where) for case in at]
    timings = [model.predict(case) for case in moved]
    power = power_model("component")
    joules = math.fsum(
        n * timing.time.value * power.predict(case, timing).power.value
        for n, case, timing in zip(times, moved, timings, strict=True)
    )
    timing = replace(together(timings, times), shares=(), warps=None)
    return Said(timing, joules / timing.time.value)
