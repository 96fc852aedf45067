"""Public sweeps over clocks whose programs are not analysed, for what advice costs there.

synergy_v100: 18 SYCL-Bench kernels and 87 microbenchmarks at 142 clocks of a V100 SXM2; nothing is known of
their work, so that what they draw beyond a board without work is taken to go with the chip's voltage. Its
joules scatter by 4 % from one clock to the next: each is the median of its neighbours'. Besides the synthetic
kernel and the matrix product of ``by_hand.py`` and ``complex_gemm.py``.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import TYPE_CHECKING

from validation.power.by_hand import GEMM, TUNER, PowerCase, read_rows
from warpwatt.core.gpu import Clocks
from warpwatt.gpus import find
from warpwatt.lab.measure.components import PoweredRun, component_watts, predicted_watts
from warpwatt.models.component.activity import Activity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from warpwatt.models.component.parameters import Parameters

MHZ = 1e6
BENCH, MICRO = "synergy_v100 SYCL-Bench", "synergy_v100 microbenchmarks"
FILES = {BENCH: "syclbench_frequency_sweep.csv.gz", MICRO: "microbenchmarks_frequency_sweep.csv.gz"}
BOARD = "Tesla V100 SXM2 16GB"
LOWEST_MHZ = 470
"""Below, clocks are not those of the labels (the data set's own note)."""
SHORTEST_SECONDS = 0.2
"""Kernels whose energy is coarse at the highest clock are left out (likewise)."""
NEIGHBOURS = 7
"""Clocks whose joules' median stands for one of them."""


def other_sweeps(cases: Sequence[PowerCase], data: Path) -> dict[tuple[str, str, str], list[PowerCase]]:
    """Return the sweeps of the cases by hand and of synergy_v100 by data set, GPU and program."""
    found: dict[tuple[str, str, str], list[PowerCase]] = defaultdict(list)
    for case in [*(case for case in cases if case.data in (TUNER, GEMM)), *synergy_cases(data)]:
        found[case.data, case.gpu, case.program].append(case)
    return {
        key: sorted(_once(own), key=lambda case: case.measured.clocks.sm)
        for key, own in found.items()
        if len(own) > 1
    }


def _once(sweep: Sequence[PowerCase]) -> list[PowerCase]:
    """Return the cases at clocks that differ: a board at its power limit runs at about one."""
    return list({round(case.measured.clocks.sm / MHZ, -1): case for case in sweep}.values())


def synergy_cases(data: Path) -> Iterator[PowerCase]:
    """Yield the kernels of synergy_v100 at every clock; their work is not known and stands as none."""
    gpu = find(BOARD)
    for name, file in FILES.items():
        rows: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
        for row in read_rows(data / "synergy_v100" / file):
            seconds, joules = float(row["kernel-time [s]"]), float(row["mean-energy [J]"])
            if float(row["core-freq"]) >= LOWEST_MHZ and seconds > 0 and joules > 0:
                kernel = f"{row['kernel-name']} {row['size']} {row['num-iters']}"
                rows[kernel].append((float(row["core-freq"]) * MHZ, seconds, joules))
        for kernel, points in rows.items():
            points.sort()
            if points[-1][1] < SHORTEST_SECONDS:
                continue
            for i, (clock, seconds, _) in enumerate(points):
                first = max(0, min(i - NEIGHBOURS // 2, len(points) - NEIGHBOURS))
                joules = statistics.median(own[2] for own in points[first : first + NEIGHBOURS])
                parts = ((Activity(float(gpu.sm_count), {}, {}), seconds, 1.0),)
                run = PoweredRun(kernel, gpu, Clocks(clock, gpu.memory_clock), parts, joules / seconds)
                yield PowerCase(name, kernel, run)


def with_work(sweep: Sequence[PowerCase], known: Parameters) -> list[PowerCase]:
    """Return a sweep whose work is as much as its power at the highest clock takes, where none is known.

    Instructions that go with the voltage stand for it; a kernel that draws less than the board without work
    is taken to do nothing.
    """
    top = sweep[-1].measured
    if top.parts[0][0].amounts:
        return list(sweep)
    unit = _with_issue(top, 1e12)
    each = component_watts(unit, known)["issue"] / 1e12
    amount = max(0.0, top.watts - predicted_watts(top, known)) / each
    return [
        PowerCase(case.data, case.program, _with_issue(case.measured, amount) if amount else case.measured)
        for case in sweep
    ]


def _with_issue(run: PoweredRun, amount: float) -> PoweredRun:
    work, seconds, toggle = run.parts[0]
    parts = ((Activity(work.active_sms, {"issue": amount}, {}), seconds, toggle),)
    return PoweredRun(run.group, run.gpu, run.clocks, parts, run.watts, run.temperature_c)
