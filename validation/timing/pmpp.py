"""Runs of textbook kernels on GeForce boards: NVBench times, our own kernels, launches as in the data.

Data: github.com/R100001/Programming-Massively-Parallel-Processors, commit a972fb5, folder
``Performance-Tests-NvBench`` (times with a cold L2, buffers full of zeros, default clocks), joined into one
CSV. The kernels are ours (``validation/timing/kernels/pmpp``); sizes, blocks and grids follow the data.
"""

from __future__ import annotations

import csv
import gzip
import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from validation.timing.cases import Code, Measured
from warpwatt.core.arguments import Argument, Buffer, DType, Fill, Scalar
from warpwatt.core.launch import Dim3, Launch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

KERNELS = Path(__file__).parent / "kernels" / "pmpp"
FILE = "pmpp_nvbench/nvbench_times.csv.gz"
NAME = "textbook kernels"
GPUS = {
    "NVIDIA GeForce RTX 2060": "GeForce RTX 2060",
    "NVIDIA GeForce RTX 3060": "GeForce RTX 3060 12GB",
    "NVIDIA GeForce RTX 3060 Ti": "GeForce RTX 3060 Ti",
    "NVIDIA GeForce RTX 3070 Ti": "GeForce RTX 3070 Ti",
}
"""Boards whose specification is known. The RTX 3060 Laptop's power limit, and so its clock, is not."""
SHORTEST_SECONDS = 20e-6
MOST_NOISE = 0.10
SMALLEST_REDUCTION = 1 << 25
"""Shorter reductions spend most of their time on the host, see :data:`INTERCEPT_OF`."""
REDUCTION_LAUNCHES = 3
INTERCEPT_OF = (1 << 22, 1 << 23)
"""Elements of the two reductions whose difference tells what the host does between the dependent launches."""

TINY_KERNEL_SECONDS = 1.1e-6
"""What a kernel that does nothing takes by itself (gpu-benches: a tiny kernel in a graph, A40)."""

Row = dict[str, str]


def runs(folder: Path) -> tuple[list[Measured], Counter[str]]:
    """Return the usable runs and how many rows were left out, by reason."""
    with gzip.open(folder / FILE, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    around = _around(rows)
    found, left_out = [], Counter[str]()
    for row in rows:
        reason = _unusable(row)
        if reason:
            left_out[reason] += 1
        else:
            found.append(_run(row, around[_kind(row)]))
    return found, left_out


def _kind(row: Row) -> tuple[str, str]:
    """Return what rows with the same work around the kernels have in common."""
    return row["gpu"], _title(row) if row["family"] == "reduction" else row["family"]


def _around(rows: list[Row]) -> dict[tuple[str, str], float]:
    """Return the seconds that events and host add around the kernels, by board and family or reduction.

    The smallest problems have two elements, so their kernels do nothing: the shortest time of the family.
    A reduction copies vectors with host and device in step between its three launches; as the kernels' own
    time grows with the elements, what is left at none is what half and whole of a size say.
    """
    shortest: dict[tuple[str, str], float] = {}
    reductions: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for row in rows:
        if not row["gpu_time_cold_s"]:
            continue
        seconds = float(row["gpu_time_cold_s"])
        if row["family"] == "reduction":
            reductions[_kind(row)][_int(row, "array_size")] = seconds
        else:
            shortest[_kind(row)] = min(shortest.get(_kind(row), math.inf), seconds)
    around = {key: seconds - TINY_KERNEL_SECONDS for key, seconds in shortest.items()}
    half, whole = INTERCEPT_OF
    for key, times in reductions.items():
        around[key] = 2 * times[half] - times[whole] - REDUCTION_LAUNCHES * TINY_KERNEL_SECONDS
    return around


def _unusable(row: Row) -> str:
    if row["gpu"] not in GPUS:
        return "board without a known specification (RTX 3060 Laptop)"
    if _title(row) not in VARIANTS:
        return "variant not known"
    if not row["gpu_time_cold_s"] or float(row["gpu_time_cold_s"]) < SHORTEST_SECONDS:
        return f"shorter than {SHORTEST_SECONDS * 1e6:.0f} µs"
    if not row["gpu_noise_rel"] or float(row["gpu_noise_rel"]) > MOST_NOISE:
        return f"noise above {MOST_NOISE:.0%}"
    if row["family"] == "reduction" and _int(row, "array_size") < SMALLEST_REDUCTION:
        return "reduction of less than 2^25 elements (host work between its launches)"
    return ""


def _run(row: Row, around: float) -> Measured:
    kernel, launches = VARIANTS[_title(row)]
    columns = ("axis_size", "array_size", "num_rows", "num_rows_1", "mask_width", "num_channels")
    blocks = ("block_dim", "block_axis_dim", "num_threads")
    text = " ".join(f"{c}={_int(row, c)}" for c in (*columns, *blocks) if row[c])
    return Measured(
        data=NAME,
        gpu=GPUS[row["gpu"]],
        program=kernel,
        configuration=text,
        code=Code(KERNELS / f"{row['family']}.cu", kernel),
        launches=launches(row),
        seconds=float(row["gpu_time_cold_s"]) - around,
    )


def _title(row: Row) -> str:
    return row["benchmark"].partition(" (")[0]


def _int(row: Row, column: str) -> int:
    return int(float(row[column]))


def _blocks(size: int, block: int) -> int:
    return -(-size // block)


def _buffer(dtype: DType, *shape: int) -> Buffer:
    return Buffer(dtype, shape, Fill.ZEROS)


def _scalars(**values: int) -> dict[str, Argument]:
    return {name: Scalar(value) for name, value in values.items()}


def _array_add(row: Row) -> tuple[Launch, ...]:
    n = _int(row, "axis_size")
    buffers = {name: _buffer(DType.F32, n, n) for name in "abc"}
    grid = _blocks(n, 16)
    return (Launch(Dim3(grid, grid), Dim3(16, 16), arguments=buffers | _scalars(n=n)),)


def _grayscale(row: Row) -> tuple[Launch, ...]:
    n, block = _int(row, "axis_size"), _int(row, "num_threads")
    buffers = {"rgb": _buffer(DType.U8, n, n, 3), "gray": _buffer(DType.U8, n, n)}
    grid = Dim3(_blocks(n, block), _blocks(n, block))
    return (Launch(grid, Dim3(block, block), arguments=buffers | _scalars(width=n, height=n)),)


def _mat_vec(shared: bool) -> Callable[[Row], tuple[Launch, ...]]:
    def launches(row: Row) -> tuple[Launch, ...]:
        rows, cols, block = _int(row, "num_rows"), _int(row, "num_cols"), _int(row, "num_threads")
        buffers = {
            "y": _buffer(DType.U32, rows),
            "a": _buffer(DType.U32, rows, cols),
            "x": _buffer(DType.U32, cols),
        }
        arguments = buffers | _scalars(rows=rows, cols=cols)
        dynamic = 4 * block if shared else 0
        return (Launch(Dim3(_blocks(rows, block)), Dim3(block), dynamic, arguments=arguments),)

    return launches


def _mat_mul(tiles: int, columns: float) -> Callable[[Row], tuple[Launch, ...]]:
    """``tiles`` in shared memory; a block advances by ``columns`` of its width along x."""

    def launches(row: Row) -> tuple[Launch, ...]:
        n, inner, m = (_int(row, c) for c in ("num_rows_1", "num_cols_1_rows_2", "num_cols_2"))
        block = _int(row, "num_threads")
        buffers = {
            "a": _buffer(DType.U32, n, inner),
            "b": _buffer(DType.U32, inner, m),
            "c": _buffer(DType.U32, n, m),
        }
        grid = Dim3(_blocks(m, int(block * columns)), _blocks(n, block))
        arguments = buffers | _scalars(rows=n, inner=inner, cols=m)
        return (Launch(grid, Dim3(block, block), 4 * tiles * block * block, arguments=arguments),)

    return launches


def _histogram(shared: bool) -> Callable[[Row], tuple[Launch, ...]]:
    def launches(row: Row) -> tuple[Launch, ...]:
        n, bins, block = _int(row, "array_size"), _int(row, "num_bins"), _int(row, "num_threads")
        buffers = {"in": _buffer(DType.U32, n), "bins": _buffer(DType.U32, bins)}
        arguments = buffers | _scalars(n=n, nbins=bins)
        dynamic = 4 * bins if shared else 0
        return (Launch(Dim3(_blocks(n, block)), Dim3(block), dynamic, arguments=arguments),)

    return launches


def _reduction(loads: int) -> Callable[[Row], tuple[Launch, ...]]:
    """Return launches until one sum is left; a thread loads ``loads`` elements."""

    def launches(row: Row) -> tuple[Launch, ...]:
        n, block = _int(row, "array_size"), _int(row, "num_threads")
        found = []
        while n > 1:
            grid = _blocks(n, block * loads)
            buffers = {"x": _buffer(DType.U32, n), "y": _buffer(DType.U32, grid)}
            found.append(Launch(Dim3(grid), Dim3(block), 4 * block, arguments=buffers | _scalars(n=n)))
            n = grid
        return tuple(found)

    return launches


def _conv1d(kind: str) -> Callable[[Row], tuple[Launch, ...]]:
    def launches(row: Row) -> tuple[Launch, ...]:
        n, width, block = _int(row, "array_size"), _int(row, "mask_width"), _int(row, "block_dim")
        buffers = {"in": _buffer(DType.F32, n), "out": _buffer(DType.F32, n)}
        if kind == "basic":
            buffers["weights"] = _buffer(DType.F32, width)
        dynamic = {"tiled": 4 * (block + width - 1), "cached": 4 * block}.get(kind, 0)
        arguments = buffers | _scalars(width=width, n=n)
        return (Launch(Dim3(_blocks(n, block)), Dim3(block), dynamic, arguments=arguments),)

    return launches


def _conv2d(kind: str) -> Callable[[Row], tuple[Launch, ...]]:
    def launches(row: Row) -> tuple[Launch, ...]:
        n, channels = _int(row, "axis_size"), _int(row, "num_channels")
        width, block = _int(row, "mask_width"), _int(row, "block_axis_dim")
        buffers = {"in": _buffer(DType.F32, n, n, channels), "out": _buffer(DType.F32, n, n, channels)}
        if kind == "basic":
            buffers["weights"] = _buffer(DType.F32, width, width)
        side = _blocks(n, block - width + 1 if kind == "tiled" else block)
        dynamic = 4 * block * block if kind == "tiled" else 0
        sizes = _scalars(high=width, wide=width, height=n, width=n, channels=channels)
        return (Launch(Dim3(side, side), Dim3(block, block), dynamic, arguments=buffers | sizes),)

    return launches


VARIANTS: Mapping[str, tuple[str, Callable[[Row], tuple[Launch, ...]]]] = {
    "Coalesced": ("add_coalesced", _array_add),
    "Not Coalesced": ("add_not_coalesced", _array_add),
    "Image to Grayscale": ("grayscale", _grayscale),
    "Simple Matrix Vector Multiplication": ("mat_vec", _mat_vec(shared=False)),
    "Matrix Vector Multiplication with Shared Memory": ("mat_vec_shared", _mat_vec(shared=True)),
    "Simple Matrix Matrix Multiplication": ("mat_mul", _mat_mul(0, 1)),
    "Matrix Matrix Multiplication with Tiles": ("mat_mul_tiles", _mat_mul(2, 1)),
    "Matrix Matrix Multiplication with Rectangular Tiles": ("mat_mul_wide_tiles", _mat_mul(3, 0.5)),
    "Simple Histogram": ("histogram_global", _histogram(shared=False)),
    "Histogram Shared Bins": ("histogram_shared", _histogram(shared=True)),
    "Simple Reduction": ("reduce_simple", _reduction(1)),
    "Reduction - Adjacent Threads": ("reduce_adjacent", _reduction(1)),
    "Reduction - Sequential Addressing": ("reduce_sequential", _reduction(1)),
    "Reduction - Two Loads per Thread": ("reduce_two_loads", _reduction(2)),
    "Reduction - Unroll Last Warp": ("reduce_last_warp", _reduction(2)),
    "Reduction - Completely Unrolled": ("reduce_unrolled", _reduction(2)),
    "Reduction - Multiple Loads": ("reduce_many_loads", _reduction(2)),
    "Convolution 1D Basic": ("conv1d", _conv1d("basic")),
    "Convolution 1D Constant Memory": ("conv1d_constant", _conv1d("constant")),
    "Convolution 1D Tiled": ("conv1d_tiled", _conv1d("tiled")),
    "Convolution 1D Tiled and Caching": ("conv1d_tiled_cached", _conv1d("cached")),
    "Convolution 2D Basic": ("conv2d", _conv2d("basic")),
    "Convolution 2D Constant Memory": ("conv2d_constant", _conv2d("constant")),
    "Convolution 2D Tiled": ("conv2d_tiled", _conv2d("tiled")),
}
"""Title of a benchmark to our kernel and its launches."""
