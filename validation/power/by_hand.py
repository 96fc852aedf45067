"""Measured power of kernels whose work is counted by hand, from their public sources or from counters.

gpu_benches: one kernel at rising arithmetic per byte on A100, A40, L40 and H200.
kernel_tuner_power_sweeps: multiply-adds alone, over locked clocks of A100 and RTX A4000, and a sum of vectors
on an RTX 4000 Ada. accelwattch_hw: hardware counters of kernels on a GV100.
"""

from __future__ import annotations

import csv
import gzip
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warpwatt.core.arguments import Fill
from warpwatt.core.gpu import Clocks
from warpwatt.gpus import find
from warpwatt.lab.measure.components import PoweredRun
from warpwatt.models.component.activity import Activity
from warpwatt.models.component.parameters import specification

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


MHZ = 1e6
ROOFLINE, GEMM, ACCELWATTCH = "gpu_benches roofline", "powersensor3 complex GEMM", "accelwattch_hw"
TUNER, VECTORS = "kernel_tuner synthetic", "kernel_tuner vector add"


@dataclass(frozen=True, slots=True, eq=False)
class PowerCase:
    """A run with measured seconds and watts, and our own view of it.

    ``measured`` has parts that last as long as measured, ``predicted`` as long as the time model says (None
    where nothing was predicted). ``specification`` is what that model says, with measured times and with
    predicted ones.
    """

    data: str
    program: str
    measured: PoweredRun
    predicted: PoweredRun | None = None
    specification: tuple[float, float] = (math.nan, math.nan)
    counters: Mapping[str, float] = field(default_factory=dict)

    @property
    def fits(self) -> bool:
        """Whether the case may enter fits of numbers that all GPUs share."""
        return self.data not in (GEMM, VECTORS, ACCELWATTCH)

    @property
    def gpu(self) -> str:
        """Name of the GPU."""
        return self.measured.gpu.name


def by_hand(data: Path) -> Iterator[PowerCase]:
    """Yield the cases of all of them."""
    yield from roofline_cases(data)
    yield from tuner_cases(data)
    yield from vector_cases(data)
    yield from accelwattch_cases(data)


ROOFLINE_GPUS = {
    "A100 40GB": "NVIDIA A100-SXM4-40GB",
    "A40": "NVIDIA A40",
    "L40": "NVIDIA L40",
    "H200": "NVIDIA H200",
}
ELEMENTS = 256 * 4000
"""Elements per block: threads times elements of each."""
OVERHEAD = 6.0
"""Machine instructions per element beside the multiply-adds: load, store, address and loop."""
PEAK_BIAS = 0.97
"""Mean over maximum power: the file holds the largest of 21 readings."""


def roofline_cases(data: Path) -> Iterator[PowerCase]:
    """Yield the roofline kernel at rising arithmetic per byte; work counted by hand."""
    path = data / "gpu_benches_microbench" / "roofline_power_fp32.csv"
    for row in read_rows(path):
        gpu = find(ROOFLINE_GPUS[row["gpu"]])
        elements = int(row["blocks"]) * ELEMENTS
        seconds = 8.0 * elements / (float(row["dram_gbs"]) * 1e9)
        fmas = float(row["gflops"]) * 1e9 * seconds / 2
        threads = fmas + OVERHEAD * elements
        traffic = 8.0 * elements
        work = Activity(
            float(gpu.sm_count),
            {
                "issue": threads / 32, "registers": threads, "fp32": fmas, "int": 2.0 * elements,
                "l1": traffic, "l2": traffic, "dram": traffic,
            },
            {},
        )  # fmt: skip
        clocks = Clocks(float(row["clock_mhz"]) * MHZ, gpu.memory_clock)
        watts = float(row["power_w"]) * PEAK_BIAS
        parts = ((work, seconds, 1.0),)
        run = PoweredRun("roofline", gpu, clocks, parts, watts, float(row["temperature_c"]))
        yield PowerCase(ROOFLINE, "roofline", run)


TUNER_FILES = {
    "synthetic_fp32_a100.csv": "NVIDIA A100-PCIE-40GB",
    "synthetic_fp32_rtx_a4000.csv": "NVIDIA RTX A4000",
}
FULL = 0.97
"""Share of the FP32 lanes that the multiply-adds keep busy: 4 per iteration in its measured cycles."""
LOOP = 0.05
"""Other instructions per multiply-add: counting and branching of an unrolled loop."""
CONSTANTS = Fill.ONES
"""What the synthetic kernel computes with: its operands are 1, 2, 3 and 4, whose products the compiler folds,
so that it adds small integers (``fp32_kernel`` of kernel_tuner's ``energy.py``)."""


def tuner_cases(data: Path) -> Iterator[PowerCase]:
    """Yield multiply-adds of one block per SM over locked clocks, nothing in memory."""
    for file, board in TUNER_FILES.items():
        gpu = find(board)
        toggle = specification(gpu).toggles[CONSTANTS]
        for row in read_rows(data / "kernel_tuner_power_sweeps" / file):
            clock, seconds = float(row["core_freq"]) * MHZ, float(row["time_mean_ms"]) * 1e-3
            fmas = FULL * clock * seconds * gpu.capability.fp32_lanes * gpu.sm_count
            threads = fmas * (1 + LOOP)
            amounts = {"issue": threads / 32, "registers": threads, "fp32": fmas, "int": LOOP * fmas}
            clocks = Clocks(clock, gpu.compute_memory_clock or gpu.memory_clock)
            parts = ((Activity(float(gpu.sm_count), amounts, {}), seconds, toggle),)
            run = PoweredRun("synthetic", gpu, clocks, parts, float(row["nvml_power"]))
            yield PowerCase(TUNER, "synthetic", run)


SUM = {"issue": 10 / 32, "registers": 10.0, "int": 4.0, "fp32": 1.0, "l1": 12.0, "l2": 12.0, "dram": 12.0}
"""Work per element of a sum of vectors: some ten instructions of a thread, two loads and a store."""


def vector_cases(data: Path) -> Iterator[PowerCase]:
    """Yield sums of vectors in blocks of several sizes; watts are joules over seconds of the mean launch."""
    gpu = find("NVIDIA RTX 4000 Ada Generation")
    for row in read_rows(data / "kernel_tuner_power_sweeps" / "vector_add_rtx4000_ada.csv"):
        amounts = {name: own * int(row["problem_size"]) for name, own in SUM.items()}
        seconds = float(row["time_mean_ms"]) * 1e-3
        clocks = Clocks(float(row["core_freq"]) * MHZ, gpu.memory_clock)
        parts = ((Activity(float(gpu.sm_count), amounts, {}), seconds, 1.0),)
        watts, celsius = float(row["energy"]) / seconds, float(row["temperature"])
        run = PoweredRun("vector add", gpu, clocks, parts, watts, celsius)
        yield PowerCase(VECTORS, "vector add", run)


GV100_CLOCK = 1417 * MHZ
"""Locked clock of the published model's measurements (from memory of the paper; not in the data)."""
SCHEDULERS = 4
INTEGER, FLOAT = 0.4, 0.3
"""Shares of integer and FP32 instructions where no counter tells them."""
SECTOR, SHARED_ACCESS = 32.0, 128.0
POWER_NAMES: Mapping[str, str] = {
    "findRangeK": "btree_k1", "findK": "btree_k2", "bpnn_layerforward": "backprop_k1",
    "bpnn_adjust": "backprop_k2", "binomialOptions": "binomialOptions_k1", "CUDAkernel1DCT": "dct8x8_k1",
    "CUDAkernel2DCT": "dct8x8_k2", "fwtBatch2": "fastWalshTransform_k1", "fwtBatch1": "fastWalshTransform_k2",
    "histogram64": "histogram_k1", "calculate_temp": "hotspot_k1", "kmeansPoint": "kmeans_k1",
    "mergeElementary": "mergeSort_k1", "mergeSortShared": "mergeSort_k2", "ComputeQ": "parboil_mriq_k1",
    "mb_sad_calc": "parboil_sad_k1", "mysgemm": "parboil_sgemm_k1", "dynproc": "pathfinder_k1",
    "quasirandomGeneratorKernel": "quasirandomGenerator_k1", "inverseCND": "quasirandomGenerator_k2",
    "sobolGPU": "sobolQRNG_k1", "srad": "srad_v1_k1", "compute_gemm": "cudaTensorCoreGemm_k1",
}  # fmt: skip
"""Part of a kernel's symbol to its name in the table of power."""


def accelwattch_cases(data: Path) -> Iterator[PowerCase]:
    """Yield the kernels with counters and power on a GV100.

    The counters hold no instructions: the share of busy issue slots is taken to be ``Pipeline_Duty``, and the
    mix a usual one.
    """
    folder = data / "accelwattch_hw"
    watts = {
        row[""]: float(row["mean HW_power"]) for row in read_rows(folder / "hw_power_validation_volta.csv")
    }
    gpu = find("Quadro GV100")
    for row in read_rows(folder / "hw_perf_volta.csv"):
        kernel = row["Kernel"]
        name = next((full for part, full in POWER_NAMES.items() if part in kernel), None)
        if row["Benchmark"].startswith("cutlass") or "cutlass" in kernel:
            name = None
        if name is None or name not in watts:
            continue
        seconds = float(row["Elapsed_Cycles"]) / GV100_CLOCK
        active = gpu.sm_count - float(row["Num_Idle_SMs"])
        issue = float(row["Pipeline_Duty"]) * SCHEDULERS * float(row["Elapsed_Cycles"]) * active

        def total(*names: str, of: Mapping[str, str] = row) -> float:
            return math.fsum(float(of[n]) for n in names)

        amounts = {
            "issue": issue, "registers": 32 * issue, "int": 32 * issue * INTEGER, "fp32": 32 * issue * FLOAT,
            "shared": SHARED_ACCESS * total("SHRD_ACC"),
            "l1": SECTOR * total("L1_RH", "L1_RM", "L1_WH", "L1_WM"),
            "l2": SECTOR * total("L2_RH", "L2_RM", "L2_WH", "L2_WM"),
            "dram": SECTOR * total("DRAM_Rd", "DRAM_Wr"),
        }  # fmt: skip
        parts = ((Activity(active, amounts, {}), seconds, 1.0),)
        run = PoweredRun(name, gpu, Clocks(GV100_CLOCK, gpu.memory_clock), parts, watts[name])
        yield PowerCase(ACCELWATTCH, name, run)


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file, gzipped or not."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(newline="") as file:
        return list(csv.DictReader(file))
