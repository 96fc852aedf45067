"""Measured times and powers at many pairs of clocks, for ``validation/wang_chu/clock_scaling.py``.

Data: branch wsl of github.com/blackjack2015/NV-DVFS-Benchmark (GTX 980, P100 and older V100 runs, with nvprof
counters), and branch master (V100 from 705 MHz and Quadro RTX 8000, without).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from validation.counters.cases import extents
from warpwatt.core.gpu import Clocks
from warpwatt.gpus import find
from warpwatt.published.wang_chu.counts import Counts, from_counters

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from warpwatt.core.gpu import Gpu

FOLDER = "nv_dvfs_benchmark_wsl"
GTX980, P100, V100 = "GeForce GTX 980", "Tesla P100 PCIe 16GB", "Tesla V100 PCIe 16GB"
MHZ = 1e6
Pair = tuple[float, float]
"""Core and memory clock in MHz."""


@dataclass(frozen=True, slots=True)
class Point:
    """What was measured at one pair of clocks: seconds, watts, counters by nvprof's names."""

    seconds: float
    watts: float
    counters: Mapping[str, float] = field(default_factory=dict)

    @property
    def joules(self) -> float:
        """Per launch."""
        return self.seconds * self.watts


@dataclass(frozen=True, slots=True)
class Kernel:
    """One program on one GPU: blocks, warps per block and points by clocks."""

    name: str
    gpu: str
    blocks: int
    warps_per_block: int
    points: Mapping[Pair, Point]


@dataclass(frozen=True, slots=True)
class Campaign:
    """Kernels measured together, and the clocks at which one profile is taken."""

    name: str
    gpu: str
    files: tuple[str, ...]
    baseline: Pair

    def kernels(self, data: Path) -> list[Kernel]:
        """Return the kernels, with the points of all files."""
        found: dict[str, dict[Pair, Point]] = {}
        blocks: dict[str, str] = {}
        for file in self.files:
            with (data / FOLDER / file).open(newline="") as text:
                for row in csv.DictReader(text):
                    pair = float(row["coreF"]), float(row["memF"])
                    found.setdefault(row["appName"], {})[pair] = _point(row)
                    blocks[row["appName"]] = row["blocks"]
        return [_kernel(name, self.gpu, blocks[name], points) for name, points in sorted(found.items())]


_LOW = "gtx980_low_dvfs_real_small_workload_performance_power.csv"
_HIGH = "gtx980_high_dvfs_real_small_workload_performance_power.csv"
CAMPAIGNS = (
    Campaign("GTX 980, 500-1000 MHz both (36 pairs)", GTX980, (_LOW,), (700, 700)),
    Campaign("GTX 980, core 700-1500, memory 2100-3900 MHz (25 pairs)", GTX980, (_HIGH,), (1100, 3100)),
    Campaign("GTX 980, all 61 pairs", GTX980, (_LOW, _HIGH), (1100, 3600)),
    Campaign("GTX 980, all 61 pairs, from slow memory", GTX980, (_LOW, _HIGH), (700, 700)),
    Campaign("P100, core 607-1328 MHz", P100, ("p100_dvfs_real_performance_power.csv",), (1012, 715)),
    Campaign("V100, core 802-1380 MHz", V100, ("v100_dvfs_real_performance_power.csv",), (1087, 877)),
)


def clocks(pair: Pair) -> Clocks:
    """Return a pair in hertz."""
    return Clocks(pair[0] * MHZ, pair[1] * MHZ)


def counted(kernel: Kernel, pair: Pair) -> Counts:
    """Return the counts that the counters at one pair of clocks give, without any source."""
    gpu = find(kernel.gpu)
    return from_counters(kernel.points[pair].counters, gpu, _geometry(kernel, gpu))


def _geometry(kernel: Kernel, gpu: Gpu) -> Counts:
    """Return what grid and block alone say; one request per warp, because nothing tells of more."""
    active = min(kernel.blocks, gpu.sm_count)
    warps = kernel.blocks * kernel.warps_per_block / active
    return Counts(
        warps=warps,
        warps_per_block=kernel.warps_per_block,
        active_warps=min(warps, gpu.capability.max_warps_per_sm),
        sm_share=active / gpu.sm_count,
        iterations=1.0,
        sectors=0.0,
        l2_hit_rate=0.0,
        compute=1.0,
    )


def _kernel(name: str, gpu: str, text: str, points: Mapping[Pair, Point]) -> Kernel:
    grid, block = extents(text)
    return Kernel(name, gpu, grid.count, -(-block.count // 32), points)


def _point(row: Mapping[str, str]) -> Point:
    return Point(float(row["time/ms"]) * 1e-3, float(row["power/W"]), _numbers(row))


def _numbers(row: Mapping[str, str]) -> dict[str, float]:
    found = {}
    for name, text in row.items():
        try:
            found[name] = float(text)
        except ValueError:
            continue
    return found
