"""Runs of public data sets with measured power, each with what its launches do and predicted times.

nv_dvfs_benchmark and nv_dvfs_benchmark_wsl: our own analysis of the launches (``validation/timing/dvfs.py``);
The complex matrix product's likewise (``complex_gemm.py``). The other data sets' work is counted by hand
(``by_hand.py``).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from validation.counters.cases import NVPROF
from validation.power.by_hand import PowerCase, by_hand, read_rows
from validation.power.complex_gemm import gemm_cases
from validation.timing import dvfs as time_dvfs
from validation.timing.cases import cases
from warpwatt.core.errors import WarpWattError
from warpwatt.core.gpu import Clocks
from warpwatt.gpus import find
from warpwatt.lab.measure.components import PoweredRun
from warpwatt.models.component.activity import Activity, activity, toggle_factor
from warpwatt.models.component.parameters import specification
from warpwatt.models.registry import time_model
from warpwatt.models.specification import Specification

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from validation.timing.cases import Measured
    from warpwatt.core.case import Case, Timing

MHZ = 1e6
APPLICATIONS, OLDER = "nv_dvfs_benchmark", NVPROF
OLDER_FILES = {
    "gtx980_high_dvfs_real_small_workload_performance_power.csv": "GeForce GTX 980",
    "gtx980_low_dvfs_real_small_workload_performance_power.csv": "GeForce GTX 980",
    "p100_dvfs_real_performance_power.csv": "Tesla P100 PCIe 16GB",
    "v100_dvfs_real_performance_power.csv": "Tesla V100 PCIe 16GB",
}
TIME_MODEL = "pipeline"
STEADY: Mapping[str, str] = {
    "matrixMulShared": "ones",
    "matrixMul": "ones",
    "backpropForward": "ones",
    "nnForward": "ones",
    "fastWalshTransform": "ones",
    "transpose": "arange",
    "scanUniformUpdate": "zeros",
}
"""What the buffers of a program hold while its power is measured, where that is not random: constant matrices
(matrixMul); kernels that work in place and are repeated for seconds until their numbers have died out or
overflowed (fastWalshTransform doubles them, the layer multiplies its weights by inputs below 1); a counted
sequence (transpose); buffers that only a kernel which is not run would fill (scanUniformUpdate, whose host
code is not public: its low power said where to look)."""
GAPS: Mapping[tuple[str, str], float] = {
    (APPLICATIONS, "Tesla V100 PCIe 16GB"): 24e-6,
    (APPLICATIONS, "Quadro RTX 8000"): 13e-6,
    (OLDER, "GeForce GTX 980"): 50e-6,
}
"""Seconds between rounds of a program's loop, whose host waits for each: power is the mean over such loops.
The SM-active counters of the two short kernels (hotspot, nnForward) say 21-27 µs for the V100 and 12-14 for
the RTX 8000. The GTX 980 was driven from Windows (its clocks are set by nvidiaInspector); no counter says how
long that waits, and 50 µs fit the power of its short kernels best."""
GAP = 15e-6
"""The same of other hosts."""
BETWEEN = 6e-6
"""Seconds between launches that the host does not wait for: SM-active counters of mergeSort's 49 launches."""
LAUNCH_DOUBT = 3.0
"""A run whose DRAM counter is this far from our bytes was not the launch that we analysed."""
BUSY = 0.1
"""Share of the DRAM bandwidth below which that is not asked."""


def power_cases(data: Path, checkouts: Path) -> tuple[list[PowerCase], Counter[str]]:
    """Return every usable run, and the rows left out by reason."""
    found: list[PowerCase] = []
    left_out: Counter[str] = Counter()
    for source in (_applications, _older):
        for measured, rows in source(data, checkouts):
            try:
                made = _analysed(measured, rows)
            except WarpWattError as error:
                left_out[f"{measured.program} on {measured.gpu}: {error.message}"] += len(rows)
                continue
            if _doubtful(made):
                left_out[f"{measured.program} on {measured.gpu}: DRAM counter differs threefold"] += len(made)
                continue
            found += made
    return [*found, *by_hand(data), *gemm_cases(data, checkouts)], left_out


NOTHING = Activity(0.0, {}, {})
"""What the GPU does between launches."""
Row = tuple[float, float, float, float, dict[str, float]]
"""SM and memory clock in MHz, seconds, watts, counters."""


def _applications(data: Path, checkouts: Path) -> Iterator[tuple[Measured, list[Row]]]:
    rows: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for file, gpu in time_dvfs.FILES.items():
        for row in read_rows(data / APPLICATIONS / file):
            clock = float(row["core_frequency"])
            if clock >= time_dvfs.LOWEST_MHZ.get(gpu, 0):
                names = ("SMACT", "DRAMA", "FP16A", "FP32A", "FP64A", "TENSO")
                counters = {name: float(row[name]) for name in names}
                numbers = clock, float(row["memory_frequency"]), float(row["time"]) * 1e-3
                rows[gpu, row["benchmark"]].append((*numbers, float(row["average_power"]), counters))
    yield from _with_rows(time_dvfs.runs(data, checkouts)[0], rows, APPLICATIONS)


def _older(data: Path, checkouts: Path) -> Iterator[tuple[Measured, list[Row]]]:
    rows: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for file, gpu in OLDER_FILES.items():
        for row in read_rows(data / OLDER / file):
            numbers = float(row["coreF"]), float(row["memF"]), float(row["time/ms"]) * 1e-3
            rows[gpu, row["appName"]].append((*numbers, float(row["power/W"]), {}))
    yield from _with_rows(time_dvfs.older_runs(data, checkouts)[0], rows, OLDER)


def _with_rows(
    runs: list[Measured], rows: Mapping[tuple[str, str], list[Row]], data: str
) -> Iterator[tuple[Measured, list[Row]]]:
    """Yield one run of each program and GPU with all of its rows."""
    seen = set()
    for run in runs:
        key = run.gpu, run.program
        if key in rows and key not in seen:
            seen.add(key)
            yield replace(run, data=data), rows[key]


def _analysed(run: Measured, rows: list[Row]) -> list[PowerCase]:
    """Return the cases of a run at every measured clock."""
    model = time_model(TIME_MODEL)
    analysed = cases(run, model.levels)
    works = [activity(case) for case in analysed]
    times = [part.times for part in run.pieces]
    factors = specification(find(run.gpu)).toggles
    own = next((value for fill, value in factors.items() if fill == STEADY.get(run.program)), None)
    toggles = [toggle_factor(case, factors) if own is None else own for case in analysed]
    found = []
    for sm, memory, seconds, watts, counters in rows:
        clocks = Clocks(sm * MHZ, memory * MHZ)
        at = [replace(case, clocks=clocks) for case in analysed]
        timings = [model.predict(case) for case in at]
        whole = math.fsum(t.time.value * n for t, n in zip(timings, times, strict=True))
        pairs = []
        for scale in (seconds / whole, 1.0):
            parts = [
                (_repeated(work, n), t.time.value * n * scale, toggle)
                for work, t, n, toggle in zip(works, timings, times, toggles, strict=True)
            ]
            parts.append((NOTHING, _waiting(run, math.fsum(times)), 1.0))
            pairs.append(PoweredRun(run.program, find(run.gpu), clocks, tuple(parts), watts))
        said = tuple(_specification(at, timings, times, scale) for scale in (seconds / whole, 1.0))
        found.append(PowerCase(run.data, run.program, pairs[0], pairs[1], (said[0], said[1]), counters))
    return found


def _waiting(run: Measured, launches: float) -> float:
    """Return the seconds of a round of a program's loop in which nothing runs."""
    return GAPS.get((run.data, run.gpu), GAP) + BETWEEN * max(0.0, launches - 1.0)


def _repeated(work: Activity, times: float) -> Activity:
    return replace(work, amounts={name: amount * times for name, amount in work.amounts.items()})


def _specification(at: list[Case], timings: list[Timing], times: list[float], scale: float) -> float:
    """Return what the specification model says, its launches weighted by their times."""
    seconds = [t.time.value * n * scale for t, n in zip(timings, times, strict=True)]
    watts = []
    for case, timing in zip(at, timings, strict=True):
        scaled = replace(timing, time=timing.time.scaled(scale))
        watts.append(Specification().predict(case, scaled).power.value)
    return math.fsum(w * s for w, s in zip(watts, seconds, strict=True)) / math.fsum(seconds)


def _doubtful(made: list[PowerCase]) -> bool:
    """Whether the DRAM counter says that another launch was measured than the one analysed."""
    case = made[-1]
    if "DRAMA" not in case.counters:
        return False
    run = case.measured
    rate = run.gpu.memory_bandwidth * run.clocks.memory / run.gpu.memory_clock
    ours = math.fsum(work.amounts.get("dram", 0.0) for work, _, _ in run.parts) / run.seconds / rate
    measured = case.counters["DRAMA"]
    if max(ours, measured) < BUSY:
        return False
    return not 1 / LAUNCH_DOUBT < measured / max(ours, 1e-9) < LAUNCH_DOUBT
