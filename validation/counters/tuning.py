"""Tuned convolution on the RTX 2080 Ti: seeded configurations with the counters that KTT recorded.

Data and kernel: github.com/AutoTuningAssociation/benchmark_hub, commit 8eeb99e (MIT). KTT's own port of the
kernel is not in the checkout. Its macros map onto those of ``convolution.cu``, but its PADDING pads
nothing: the shared memory in the data is that of a kernel without padding in every row.
"""

from __future__ import annotations

import csv
import gzip
import random
from typing import TYPE_CHECKING

from validation.counters.cases import Case, Code
from validation.counters.ours import DRAM_TOTAL
from warpwatt.core.arguments import Buffer, DType, Fill
from warpwatt.core.launch import Dim3, L2State, Launch

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DATA = "autotuning_hub"
FILE = "ktt_convolution_rtx2080ti_counters.csv.gz"
SOURCE = "benchmark_hub/currently_unused/kernels/convolution.cu"
GPU = "GeForce RTX 2080 Ti"
SAMPLE = 30
SEED = 0
MACROS = {
    "BLOCK_SIZE_X": "block_size_x",
    "BLOCK_SIZE_Y": "block_size_y",
    "TILE_SIZE_X": "tile_size_x",
    "TILE_SIZE_Y": "tile_size_y",
    "READ_ONLY": "read_only",
}
IMAGE, BORDER, FILTER = 4096, 14, 15


def tuning_cases(data: Path, checkouts: Path) -> list[Case]:
    """Return a seeded sample of the configurations that ran."""
    with gzip.open(data / DATA / FILE, "rt", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["status"] == "Ok"]
    return [_case(row, checkouts) for row in random.Random(SEED).sample(rows, SAMPLE)]


def _case(row: Mapping[str, str], checkouts: Path) -> Case:
    defines = [f"{ours}={row[theirs]}" for theirs, ours in MACROS.items()]
    defines += [f"filter_width={FILTER}", f"filter_height={FILTER}", "use_padding=0"]
    grid = Dim3(*(int(float(row[f"globalsize_{axis}"])) for axis in "xyz"))
    block = Dim3(*(int(float(row[f"localsize_{axis}"])) for axis in "xyz"))
    arguments = {
        "output": Buffer(DType.F32, (IMAGE, IMAGE), Fill.ZEROS),
        "input": Buffer(DType.F32, (IMAGE + BORDER, IMAGE + BORDER), Fill.RANDOM),
        "filter": Buffer(DType.F32, (FILTER, FILTER), Fill.RANDOM),
    }
    launch = Launch(grid, block, l2=L2State.COLD, arguments=arguments)
    measured = {name: float(value) for name, value in row.items() if _number(value)}
    measured[DRAM_TOTAL] = measured["dram__sectors_read.sum"] + measured["dram__sectors_write.sum"]
    configuration = " ".join(f"{theirs}={row[theirs]}" for theirs in MACROS)
    code = Code(checkouts / SOURCE, "convolution_kernel", (), tuple(defines))
    return Case(DATA, "convolution (KTT)", GPU, configuration, code, ((launch, 1),), measured)


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
