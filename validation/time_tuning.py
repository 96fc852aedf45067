"""Runs of tuned kernels: seeded samples of configurations of public brute-force searches.

Data and sources: github.com/AutoTuningAssociation/benchmark_hub, commit 8eeb99e (MIT); the times flattened
to CSV, the kernels compiled from a checkout. Median of up to 32 repeats; the caches are as the previous
repeat leaves them, clocks were not locked.
"""

from __future__ import annotations

import csv
import gzip
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from validation.time_cases import Code, Measured
from warpwatt.core.arguments import Argument, Buffer, DType, Fill
from warpwatt.core.launch import Dim3, L2State, Launch

if TYPE_CHECKING:
    from collections.abc import Mapping

SAMPLE = 30
SEED = 0
FILTER = 17
"""Width and height of the filter where the rows do not say (RTX A6000): the kernel's own default."""
IMAGE = 4096
SAMPLES, TRIALS, CHANNELS, SHIFTED = 25000, 2048, 1536, 25650
"""Dedispersion: output samples, dispersion measures, channels, input samples per channel."""


@dataclass(frozen=True, slots=True)
class Search:
    """One brute-force search: its file below the data folder, the GPU, the kernel's file and name."""

    name: str
    file: str
    gpu: str
    source: str
    kernel: str


CONVOLUTION, OLDER = "kernels/convolution_milo.cu", "currently_unused/kernels/convolution.cu"
DEDISPERSION = "kernels/dedisp_milo/dedispersion.cu"
A100, A6000, RTX_2080_TI = "NVIDIA A100-PCIE-40GB", "NVIDIA RTX A6000", "GeForce RTX 2080 Ti"
SEARCHES = (
    Search("tuned convolution", "convolution_milo_a100", A100, CONVOLUTION, "convolution_kernel"),
    Search("tuned convolution", "convolution_milo_a6000_original", A6000, CONVOLUTION, "convolution_kernel"),
    Search("tuned convolution", "convolution_rtx2080ti", RTX_2080_TI, OLDER, "convolution_kernel"),
    Search("dedispersion", "dedispersion_milo_a100", A100, DEDISPERSION, "dedispersion_kernel"),
    Search("dedispersion", "dedispersion_milo_a6000", A6000, DEDISPERSION, "dedispersion_kernel"),
)


def runs(folder: Path, hub: Path) -> tuple[list[Measured], Counter[str]]:
    """Return the sampled runs and how many rows were left out, by reason; ``hub`` is the checkout."""
    found, left_out = [], Counter[str]()
    for search in SEARCHES:
        rows = []
        for row in _read(folder / "autotuning_hub" / f"{search.file}.csv.gz"):
            reason = _unusable(row)
            left_out.update([reason] if reason else [])
            rows += [] if reason else [row]
        sample = random.Random(SEED).sample(rows, min(SAMPLE, len(rows)))
        left_out["not in the sample"] += len(rows) - len(sample)
        found += [_run(search, hub, row) for row in sample]
    return found, left_out


def _read(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def _unusable(row: Mapping[str, str]) -> str:
    if row["status"] != "ok" or not row["time_median_ms"]:
        return "configuration that failed"
    if row.get("use_shmem") == "0":
        return "kernel without shared memory, not public"
    if float(row["time_max_ms"]) > 1.2 * float(row["time_min_ms"]):
        return "repeats more than 20 % apart"
    return ""


def _run(search: Search, hub: Path, row: Mapping[str, str]) -> Measured:
    parameters = {c: int(v) for c, v in row.items() if not c.startswith("time_") and c not in _OTHER}
    launch = _dedispersion(parameters) if "dedispersion" in search.kernel else _convolution(parameters)
    return Measured(
        data=search.name,
        gpu=search.gpu,
        program=f"{search.kernel} ({Path(search.source).stem})",
        configuration=" ".join(f"{c}={v}" for c, v in parameters.items() if not c.startswith("filter_")),
        code=Code(hub / search.source, search.kernel, tuple(f"{c}={v}" for c, v in parameters.items())),
        launches=(launch,),
        seconds=float(row["time_median_ms"]) * 1e-3,
    )


_OTHER = frozenset({"status", "runs"})


def _convolution(parameters: Mapping[str, int]) -> Launch:
    high, wide = parameters.get("filter_height", FILTER), parameters.get("filter_width", FILTER)
    arguments: dict[str, Argument] = {
        "output": _buffer(DType.F32, IMAGE, IMAGE),
        "input": _buffer(DType.F32, IMAGE + high - 1, IMAGE + wide - 1),
    }
    return _launch(parameters, IMAGE, IMAGE, arguments)


def _dedispersion(parameters: Mapping[str, int]) -> Launch:
    arguments: dict[str, Argument] = {
        "input": _buffer(DType.U8, CHANNELS, SHIFTED),
        "output": _buffer(DType.F32, TRIALS, SAMPLES),
        "shifts": _buffer(DType.F32, CHANNELS),
    }
    return _launch(parameters, SAMPLES, TRIALS, arguments)


def _buffer(dtype: DType, *shape: int) -> Buffer:
    return Buffer(dtype, shape, Fill.RANDOM)


def _launch(p: Mapping[str, int], width: int, height: int, arguments: dict[str, Argument]) -> Launch:
    x, y = p["block_size_x"], p["block_size_y"]
    grid = Dim3(-(-width // (x * p["tile_size_x"])), -(-height // (y * p["tile_size_y"])))
    return Launch(grid, Dim3(x, y), l2=L2State.WARM, arguments=arguments)
