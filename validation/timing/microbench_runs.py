"""Runs of gpu-benches: streams at low occupancy, L1 and L2 bandwidth, latency, back-to-back small kernels.

Data: github.com/te42kyfo/gpu-benches, commit 1c36d50 (results only). The kernels are ours
(``validation/timing/kernels/gpu_benches``), of the shape the benchmark's have. **Development data**: load
latency, queueing, block dispatch, launch overhead and several bandwidths of the packaged GPUs come from these
very files, so this part shows that the models reproduce what they were given, not that they predict it.
"""

from __future__ import annotations

import csv
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from validation.timing.cases import Code, Measured
from validation.timing.contents import saved
from warpwatt.core.arguments import Argument, Buffer, DType, Fill, Scalar
from warpwatt.core.launch import Dim3, L2State, Launch
from warpwatt.gpus import find
from warpwatt.models.overhead import launch_overhead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KERNELS = Path(__file__).parent / "kernels" / "gpu_benches"
FOLDER = "gpu_benches_microbench"
NAME, SEED = "microbenchmarks", 0
GPUS = {
    "V100": "Tesla V100 PCIe 16GB",
    "A100 40GB": "NVIDIA A100-SXM4-40GB",
    "A100 80GB": "NVIDIA A100-SXM4-80GB",
    "A40": "NVIDIA A40",
    "L40": "NVIDIA L40",
    "H100 PCIe": "NVIDIA H100 PCIe",
    "H200": "NVIDIA H200",
}
"""A40 and L40 read 98 % of their peak in these files, as no GDDR6 board does with error correction on."""
STREAMS = {"init": 1, "read": 1, "scale": 2, "triad": 3, "stencil3pt": 2, "stencil5pt": 2}
"""Streaming kernels and the arrays of traffic that the benchmark counts."""
STREAM_ELEMENTS = 128 * 2**20 + 2
UNUSED_SHARED, RESIDENT = 6144, 2
"""Shared memory of a streaming block in bytes, and the blocks per SM that the carve-out is chosen for."""
L2_BLOCKS, L2_THREADS, L2_LOADS = 200_000, 1024, 64
L1_LOADED, L1_THREADS = 50_000_000, 256
"""About so many numbers each block reads from L1: fewer than measured, the bandwidth being steady."""
CHASE_STRIDE, LONGEST_CHAIN = 8, 1_000_000
"""The chain's links are so many 8-byte words apart; chains of more links are left out."""
SHORTEST_SECONDS = 3e-6
SAMPLES = {"stream": 4, "L2": 8, "L1": 6, "latency": 8, "small kernels": 8}
"""Rows per GPU (small kernels: and way of launching)."""

Row = dict[str, str]


def runs(folder: Path) -> tuple[list[Measured], Counter[str]]:
    """Return a seeded sample of every file on every GPU, and how many rows it leaves out."""
    found, left_out = [], Counter[str]()
    for kind, (file, of_row) in _KINDS.items():
        groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
        with (folder / FOLDER / file).open(newline="") as lines:
            for row in csv.DictReader(lines):
                groups[row["gpu"], row.get("launch_mode", "")].append(row)
        for rows in groups.values():
            reasons = [_unusable(row) for row in rows]
            left_out.update(reason for reason in reasons if reason)
            usable = [row for row, reason in zip(rows, reasons, strict=True) if not reason]
            sample = random.Random(SEED).sample(usable, min(SAMPLES[kind], len(usable)))
            left_out["not in the sample"] += len(usable) - len(sample)
            found += [run for row in sample for run in of_row(row)]
    long = [run for run in found if run.seconds >= SHORTEST_SECONDS]
    left_out[f"shorter than {SHORTEST_SECONDS * 1e6:.0f} µs without its launch"] += len(found) - len(long)
    return long, left_out


def _unusable(row: Row) -> str:
    if row.get("launch_mode") in ("pt", "gsync"):
        return "several kernels in one, synchronised by the grid"
    if int(row.get("iterations", 0)) > LONGEST_CHAIN:
        return "chain of more than a million links"
    return ""


def _streams(row: Row) -> Iterator[Measured]:
    block = int(row["block_size"])
    for kernel, arrays in STREAMS.items():
        seconds = arrays * STREAM_ELEMENTS * 8 / (float(row[f"{kernel}_gbs"]) * 1e9)
        buffers = {name: _buffer(DType.F64, STREAM_ELEMENTS) for name in "abc"}
        launch = Launch(
            Dim3(STREAM_ELEMENTS // block + 1),
            Dim3(block),
            carveout=_carveout(GPUS[row["gpu"]]),
            l2=L2State.WARM,
            arguments=buffers | {"n": Scalar(STREAM_ELEMENTS), "never": Scalar(0)},
        )
        yield _run(
            f"stream {kernel}", row, f"{block} threads", Code(KERNELS / "stream.cu", kernel), launch, seconds
        )


def _carveout(gpu: str) -> int:
    """Return the smallest percentage of shared memory with which :data:`RESIDENT` blocks fit."""
    cap = find(gpu).capability
    needed = RESIDENT * (UNUSED_SHARED + cap.reserved_shared_per_block)
    fitting = min(size for size in cap.shared_carveouts if size >= needed)
    below = max((size for size in cap.shared_carveouts if size < fitting), default=0)
    return below * 100 // cap.max_shared_per_sm + 1


def _l1(row: Row) -> Iterator[Measured]:
    elements = int(row["data_set_kb"]) * 256
    repeats = L1_LOADED // elements + 2
    sms = find(GPUS[row["gpu"]]).sm_count
    seconds = elements * 4 * sms * repeats / (float(row["eff_bw_gbs"]) * 1e9)
    arguments: dict[str, Argument] = {
        "out": _buffer(DType.F32, L1_THREADS),
        "x": _buffer(DType.F32, elements),
        "zero": Scalar(0),
    }
    code = Code(KERNELS / "caches.cu", "l1_sum", (f"ELEMENTS={elements}", f"REPEATS={repeats}"))
    launch = Launch(Dim3(sms), Dim3(L1_THREADS), l2=L2State.WARM, arguments=arguments)
    yield _run("L1 bandwidth", row, f"{row['data_set_kb']} kB", code, launch, seconds)


def _l2(row: Row) -> Iterator[Measured]:
    pieces = int(row["total_kb"]) // int(row["data_set_kb"])
    elements = pieces * L2_THREADS * L2_LOADS
    seconds = L2_LOADS * L2_THREADS * 8 * L2_BLOCKS / (float(row["eff_bw_gbs"]) * 1e9)
    arguments: dict[str, Argument] = {
        "out": _buffer(DType.F64, L2_THREADS),
        "x": _buffer(DType.F64, elements),
        "pieces": Scalar(pieces),
    }
    launch = Launch(Dim3(L2_BLOCKS), Dim3(L2_THREADS), l2=L2State.WARM, arguments=arguments)
    yield _run(
        "L2 bandwidth", row, f"{row['total_kb']} kB", Code(KERNELS / "caches.cu", "l2_sum"), launch, seconds
    )


def _latency(row: Row) -> Iterator[Measured]:
    links, loads = int(row["data_set_kb"]) * 1024 // (8 * CHASE_STRIDE), int(row["iterations"])
    chain = np.random.default_rng(SEED).permutation(links)
    following = np.zeros(links * CHASE_STRIDE, np.int64)
    following[chain * CHASE_STRIDE] = np.roll(chain, -1) * CHASE_STRIDE
    path = saved(f"chain_{links}", following)
    arguments: dict[str, Argument] = {
        "next": Buffer(DType.I64, (len(following),), Fill.FILE, path=path),
        "out": _buffer(DType.I64, 1),
        "loads": Scalar(loads),
    }
    launch = Launch(Dim3(1), Dim3(64), l2=L2State.WARM, arguments=arguments)
    seconds = float(row["time_ms"]) * 1e-3
    yield _run(
        "latency", row, f"{row['data_set_kb']} kB", Code(KERNELS / "caches.cu", "chase"), launch, seconds
    )


def _small(row: Row) -> Iterator[Measured]:
    elements, gpu = int(row["elements"]), GPUS[row["gpu"]]
    between = launch_overhead(find(gpu), graph=row["launch_mode"] == "graph").value
    for block in (64, 256, 1024):
        seconds = elements * 16 / (float(row[f"gbs_block{block}"]) * 1e9) - between
        buffers = {name: _buffer(DType.F64, elements) for name in "ab"}
        grid = Dim3(elements // block + 1)
        launch = Launch(grid, Dim3(block), l2=L2State.WARM, arguments=buffers | {"n": Scalar(elements)})
        what = f"{elements} elements, {block} threads, {row['launch_mode']}"
        yield _run("small kernels", row, what, Code(KERNELS / "stream.cu", "scale_small"), launch, seconds)


def _run(program: str, row: Row, what: str, code: Code, launch: Launch, seconds: float) -> Measured:
    return Measured(NAME, GPUS[row["gpu"]], program, what, code, (launch,), seconds, ecc=False)


def _buffer(dtype: DType, *shape: int) -> Buffer:
    return Buffer(dtype, shape, Fill.ZEROS)


_KINDS: dict[str, tuple[str, Callable[[Row], Iterator[Measured]]]] = {
    "stream": ("stream_bandwidth_vs_occupancy.csv", _streams),
    "L2": ("l2_bandwidth.csv", _l2),
    "L1": ("l1_bandwidth.csv", _l1),
    "latency": ("pointer_chase_latency.csv", _latency),
    "small kernels": ("small_kernel_bandwidth.csv", _small),
}
