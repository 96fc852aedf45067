"""Table 4.10 of Alavani's thesis: what its columns are, and our numbers for the same kernels."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation.alavani.cases import published_kernels, thesis_case
from validation.alavani.published_errors import FOLDER, GPUS, table_4_8
from warpwatt.published.alavani.opclass import executed, intensity
from warpwatt.published.volkov.model import Throughputs

if TYPE_CHECKING:
    from warpwatt.core.case import Case

WARP = 32
LATENCIES = {"K20": (301.0, 9.0), "M60": (368.0, 6.0)}
"""mem_lat and alu_lat in cycles: Volkov (2016) for Kepler and Maxwell; 9 also in Table 3.2 of Alavani."""
SCHEDULERS = 4
"""Of both GPUs: the printed values are for the warps of one scheduler, times the threads of a warp."""
SAME_NAMES = {"MergeSort": "Merge Sort", "CFDSolver": "CFD Solver"}
"""Table 4.10's spelling to Table 4.8's."""


@dataclass(frozen=True, slots=True)
class Printed:
    """One kernel of Table 4.10 on one GPU; ``actual_us`` and ``predicted_us`` are Table 4.8's times."""

    benchmark: str
    kernel: str
    gpu: str
    volkov: float
    proposed: float
    actual: float
    actual_us: float
    predicted_us: float

    @property
    def identity(self) -> float:
        """Return proposed·predicted time over actual·actual time: 1 where both are one count over a time."""
        return self.proposed * self.predicted_us / (self.actual * self.actual_us)


@dataclass(frozen=True, slots=True)
class Ours:
    """Our figures for a printed row: instructions per cycle and SM (times 32) by model, and α."""

    intensity: float
    resident_warps: float
    volkov: float
    volkov_bound: str
    measured: float
    """Our count of arithmetic instructions over the printed actual time."""


def printed() -> list[Printed]:
    """Return the twelve rows on both GPUs."""
    times = {gpu: {(r.benchmark, r.kernel): r for r in table_4_8(gpu)} for gpu in LATENCIES}
    found = []
    with (FOLDER / "table_4_10.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            name = SAME_NAMES.get(row["benchmark"], row["benchmark"])
            for gpu in LATENCIES:
                timed = times[gpu][name, row["kernel"]]
                volkov, proposed, actual = (
                    float(row[f"{gpu}_{column}"]) for column in ("volkov", "proposed", "actual")
                )
                times_us = timed.actual, timed.predicted
                found.append(Printed(name, row["kernel"], gpu, volkov, proposed, actual, *times_us))
    return found


def recovered(k20: float, m60: float) -> tuple[float, float] | None:
    """Return (α, warps per scheduler) that give both printed values of a latency-bound row, None if none do.

    Solves 32·α·n/(mem_lat + α·alu_lat) for both GPUs with the same α and n.

    >>> [round(x, 2) for x in recovered(6.481, 5.5907)]
    [4.3, 16.0]
    >>> recovered(6.6365, 4.0374) is None
    True
    """
    (memory1, alu1), (memory2, alu2) = LATENCIES["K20"], LATENCIES["M60"]
    ratio = k20 / m60
    alpha = (memory2 - ratio * memory1) / (ratio * alu1 - alu2)
    warps = k20 * (memory1 + alpha * alu1) / (WARP * alpha)
    return (alpha, warps) if alpha > 0 else None


def ours() -> dict[tuple[str, str, str], Ours]:
    """Return our figures by benchmark, kernel and GPU, for the kernels whose code and launch we have."""
    rows = {(r.benchmark, r.kernel, r.gpu): r for r in printed()}
    found = {}
    for published in published_kernels():
        for gpu in LATENCIES:
            key = (*published.row, gpu)
            if key in rows:
                found[key] = _ours(thesis_case(published, GPUS[gpu]), rows[key])
    return found


def throughput(case: Case, gpu: str) -> Throughputs:
    """Return Volkov's model of a case with the latencies of the table, per SM."""
    alpha = intensity(case) or math.inf
    memory, alu = LATENCIES[gpu]
    resident = case.workload.occupancy.resident_blocks * case.launch.warps_per_block
    bytes_per_cycle = case.gpu.memory_bandwidth / case.gpu.sm_count / case.clocks.sm
    return Throughputs(
        alpha, resident, memory, bytes_per_cycle / 128, alu, case.gpu.capability.fp32_lanes / WARP
    )


def _ours(case: Case, row: Printed) -> Ours:
    model = throughput(case, row.gpu)
    bounds = {
        "latency": model.latency_bound,
        "memory": model.memory_throughput,
        "arithmetic": model.arithmetic_throughput / model.intensity,
    }
    cycles = row.actual_us * 1e-6 * case.clocks.sm * case.gpu.sm_count
    return Ours(
        intensity=model.intensity,
        resident_warps=model.warps,
        volkov=WARP * model.arithmetic,
        volkov_bound=min(bounds, key=bounds.__getitem__),
        measured=WARP * executed(case)["arithmetic"] / cycles,
    )
