"""Measured power of kernels whose work is counted by hand, from their public sources or from counters.

gpu_benches: one kernel at rising arithmetic per byte on A100, A40, L40 and H200.
kernel_tuner_power_sweeps: multiply-adds alone, over locked clocks of A100 and RTX A4000.
powersensor3_rtx4000ada_gemm: a complex matrix product on tensor cores. accelwattch_hw: hardware counters of
kernels on a GV100.
"""

from __future__ import annotations

import csv
import gzip
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from warpwatt.core.gpu import Clocks
from warpwatt.gpus import find
from warpwatt.lab.measure.components import PoweredRun
from warpwatt.models.component.activity import Activity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from warpwatt.core.gpu import Gpu

MHZ = 1e6
ROOFLINE, GEMM, ACCELWATTCH = "gpu_benches roofline", "powersensor3 complex GEMM", "accelwattch_hw"
TUNER = "kernel_tuner synthetic"


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
        return self.data not in (GEMM, ACCELWATTCH)

    @property
    def gpu(self) -> str:
        """Name of the GPU."""
        return self.measured.gpu.name


def by_hand(data: Path) -> Iterator[PowerCase]:
    """Yield the cases of all four data sets."""
    yield from roofline_cases(data)
    yield from tuner_cases(data)
    yield from gemm_cases(data)
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


def tuner_cases(data: Path) -> Iterator[PowerCase]:
    """Yield multiply-adds of one block per SM over locked clocks, nothing in memory."""
    for file, board in TUNER_FILES.items():
        gpu = find(board)
        for row in read_rows(data / "kernel_tuner_power_sweeps" / file):
            clock, seconds = float(row["core_freq"]) * MHZ, float(row["time_mean_ms"]) * 1e-3
            fmas = FULL * clock * seconds * gpu.capability.fp32_lanes * gpu.sm_count
            threads = fmas * (1 + LOOP)
            amounts = {"issue": threads / 32, "registers": threads, "fp32": fmas, "int": LOOP * fmas}
            clocks = Clocks(clock, gpu.compute_memory_clock or gpu.memory_clock)
            parts = ((Activity(float(gpu.sm_count), amounts, {}), seconds, 1.0),)
            run = PoweredRun("synthetic", gpu, clocks, parts, float(row["nvml_power"]))
            yield PowerCase(TUNER, "synthetic", run)


SIZE = 4096
"""Rows, columns and depth of the matrices."""
HELD_BACK = 64
"""Rows with this M_PER_BLOCK are kept for the final judgement."""
COMPLEX_BYTES = 4.0
"""Bytes of a complex number of two halves; results are twice that."""
MMA_FLOPS = 4096.0
"""Of one tensor instruction (m16n8k16)."""


def rtx_4000_ada() -> Gpu:
    """Return the board of the GEMM measurements: AD104, NVIDIA's data sheet (no packaged board)."""
    return replace(
        find("NVIDIA L4"),
        name="NVIDIA RTX 4000 Ada Generation",
        sm_count=48,
        boost_clock=2175 * MHZ,
        memory_clock=9001 * MHZ,
        memory_bandwidth=360e9,
        power_limit=130.0,
    )


def gemm_cases(data: Path) -> Iterator[PowerCase]:
    """Yield the working configurations of the complex matrix product, but for those held back.

    Every block reads its rows and columns once (L2), every warp those of its tile (shared memory); DRAM is
    each matrix once.
    """
    gpu = rtx_4000_ada()
    for row in read_rows(data / "powersensor3_rtx4000ada_gemm" / "complex_gemm_fp16.csv.gz"):
        m, n = int(row["M_PER_BLOCK"]), int(row["N_PER_BLOCK"])
        if m == HELD_BACK or not row["power_w"]:
            continue
        seconds = float(row["time_mean_ms"]) * 1e-3
        work = _gemm_work(gpu, m, n, int(row["block_size_y"]), int(row["block_size_z"]))
        clocks = Clocks(float(row["core_clock_mhz"]) * MHZ, gpu.memory_clock)
        run = PoweredRun(
            f"tile {m} by {n}",
            gpu,
            clocks,
            ((work, seconds, 1.0),),
            float(row["power_w"]),
            float(row["temperature_c"]),
        )
        yield PowerCase(GEMM, f"tile {m} by {n}", run)


def _gemm_work(gpu: Gpu, m: int, n: int, warps_m: int, warps_n: int) -> Activity:
    """Return the work of tiles of m by n, each by ``warps_m`` times ``warps_n`` warps."""
    blocks = (SIZE / m) * (SIZE / n)
    flops = 8.0 * SIZE**3
    tile = blocks * SIZE * (m + n) * COMPLEX_BYTES
    warps = blocks * SIZE * (m * warps_n + n * warps_m) * COMPLEX_BYTES
    issue = flops / MMA_FLOPS + (tile + warps) / 512
    rounds = math.ceil(blocks / gpu.sm_count)
    amounts = {
        "issue": issue, "registers": 32 * issue, "tensor": flops, "shared": tile + warps, "l1": tile,
        "l2": tile, "dram": SIZE**2 * 4 * COMPLEX_BYTES,
    }  # fmt: skip
    return Activity(blocks / rounds, amounts, {})


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
