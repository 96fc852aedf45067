"""Our fits on public measurements: memory levels, plateaus of bandwidth, launch intervals.

``python -m validation.measuring.fits [FOLDER]`` reads the results of gpu-benches in
``data/gpu_benches_microbench`` of a folder (default ``../shared``) and the summaries collected in its
``facts/memory.csv``, and writes docs/validation/fits.md. Good: within 5 %.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from warpwatt.lab.measure.fits import fit_exponential, fit_linear
from warpwatt.lab.measure.piecewise import find_levels

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = ROOT / "docs" / "validation" / "fits.md"
LIMIT = 0.05
SOURCE = "te42kyfo/gpu-benches"
NAMES = {
    "A100 40GB": "NVIDIA A100 40GB", "A100 80GB": "NVIDIA A100 80GB", "H100 PCIe": "NVIDIA H100 PCIe",
    "H200": "NVIDIA H200", "L40": "NVIDIA L40", "A40": "NVIDIA A40", "V100": "Tesla V100 PCIe",
}  # fmt: skip
STREAMS = {
    "read_gbs": "dram_read_bw_gbs",
    "init_gbs": "dram_write_bw_gbs",
    "scale_gbs": "dram_copy_bw_gbs",
    "triad_gbs": "dram_triad_bw_gbs",
}
"""Columns of the stream benchmark -> summary."""
OTHER_READ = ("H200",)
"""GPUs whose summary of DRAM reads is from another benchmark, because this one's is lower than its copies."""
LAUNCHES = {"stream_launch": "launch_interval_us", "graph": "graph_launch_interval_us"}

HEAD = """# Fits on public measurements

Written by `python -m validation.measuring.fits`. Data: gpu-benches (te42kyfo, commit 1c36d50), summaries: the
collected table of public facts, which took them from the same logs by hand (median over a plateau
someone saw; best over occupancy). Nothing here is told where a plateau lies: levels are found by lines
in pieces (dynamic programming, BIC), bandwidth against resident threads by a·(b − exp(−c·x)), launch
intervals as the intercept of time against volume up to 4 MB. DRAM reads of the H200 are left out: their
summary is from another benchmark. A fit is good within {limit:.0%}.

**{good} of {all} within {limit:.0%}; median deviation {median:.1%}, largest {largest:.1%}.**

| GPU | quantity | ours | standard error | points | published | deviation |
|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison."""

    gpu: str
    quantity: str
    ours: float
    error: float
    points: int
    published: float

    @property
    def deviation(self) -> float:
        """Ours relative to the published figure, less one."""
        return self.ours / self.published - 1


def main(arguments: list[str] | None = None) -> int:
    """Compare; return 1 if anything deviates by more than the limit."""
    given = sys.argv[1:] if arguments is None else arguments
    shared = Path(given[0]) if given else ROOT.parent / "shared"
    data = shared / "data" / "gpu_benches_microbench"
    facts = _facts(shared / "facts" / "memory.csv")
    rows = [*_latencies(data, facts), *_caches(data, facts), *_streams(data, facts), *_launches(data, facts)]
    deviations = sorted(abs(row.deviation) for row in rows)
    good = sum(deviation <= LIMIT for deviation in deviations)
    text = HEAD.format(
        limit=LIMIT, good=good, all=len(rows), median=deviations[len(rows) // 2], largest=deviations[-1]
    )
    for row in rows:
        figures = (
            f"{row.ours:.5g} | {row.error:.2g} | {row.points} | {row.published:g} | {row.deviation:+.1%}"
        )
        text += f"| {row.gpu} | {row.quantity} | {figures} |\n"
    PAGE.write_text(text, encoding="utf-8")
    print(text)
    return 0 if good == len(rows) else 1


def _facts(path: Path) -> dict[str, dict[str, float]]:
    """Return the summaries of this source by GPU and column."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["source"].startswith(SOURCE):
                columns = [
                    name for name, cell in row.items() if name.endswith(("_cycles", "_gbs", "_us")) and cell
                ]
                found[row["gpu"]] |= {name: float(row[name]) for name in columns}
    return found


def _table(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield row["gpu"], row


def _curves(path: Path, x: str, y: str) -> dict[str, tuple[list[float], list[float]]]:
    curves: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for gpu, row in _table(path):
        curves[gpu][0].append(float(row[x]))
        curves[gpu][1].append(float(row[y]))
    return curves


def _latencies(data: Path, facts: dict[str, dict[str, float]]) -> Iterator[Row]:
    """Levels of the pointer chase: the first is L1, the second L2, the last DRAM."""
    for gpu, (x, y) in _curves(data / "pointer_chase_latency.csv", "data_set_kb", "latency_cycles").items():
        found = find_levels(x, y)
        for name, level in (("l1", found[0]), ("l2", found[1]), ("dram", found[-1])):
            published = facts[NAMES[gpu]][f"{name}_latency_cycles"]
            yield Row(
                gpu,
                f"{name} latency, cycles",
                level.height.value,
                level.height.error,
                level.points,
                published,
            )


def _caches(data: Path, facts: dict[str, dict[str, float]]) -> Iterator[Row]:
    """First level of the L1 curve; first and last of the L2 curve."""
    cases = (
        ("l1_bandwidth.csv", "data_set_kb", 0, "l1_bw_gbs"),
        ("l2_bandwidth.csv", "total_kb", 0, "l2_bw_gbs"),
    )
    for file, x, index, fact in cases:
        for gpu, (xs, ys) in _curves(data / file, x, "eff_bw_gbs").items():
            if fact in facts[NAMES[gpu]]:
                level = find_levels(xs, ys)[index]
                name = f"{fact[:2]} bandwidth, GB/s"
                yield Row(
                    gpu, name, level.height.value, level.height.error, level.points, facts[NAMES[gpu]][fact]
                )


def _streams(data: Path, facts: dict[str, dict[str, float]]) -> Iterator[Row]:
    """Bandwidth at full occupancy on the growth curve against resident threads."""
    for column, fact in STREAMS.items():
        for gpu, (x, y) in _curves(data / "stream_bandwidth_vs_occupancy.csv", "threads", column).items():
            if column == "read_gbs" and gpu in OTHER_READ:
                continue
            fit = fit_exponential(x, y)
            error = fit.rmse / len(x) ** 0.5
            yield Row(gpu, f"{fact[:-4]}, GB/s", fit(max(x)), error, len(x), facts[NAMES[gpu]][fact])


def _launches(data: Path, facts: dict[str, dict[str, float]]) -> Iterator[Row]:
    """Intercept of time against volume of kernels launched back to back."""
    curves: dict[tuple[str, str], tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for gpu, row in _table(data / "small_kernel_bandwidth.csv"):
        curves[gpu, row["launch_mode"]][0].append(float(row["kb"]))
        curves[gpu, row["launch_mode"]][1].append(float(row["kb"]) * 1.024 / float(row["gbs_block256"]))
    for (gpu, mode), (x, y) in curves.items():
        fact = LAUNCHES.get(mode)
        if fact is not None and fact in facts[NAMES[gpu]]:
            small = [(a, b) for a, b in zip(x, y, strict=True) if a <= 4096]
            fit = fit_linear([a for a, _ in small], [b for _, b in small])
            yield Row(
                gpu, f"{mode} launch interval, µs", fit["a"], fit.parameters["a"].error, len(small),
                facts[NAMES[gpu]][fact],
            )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
