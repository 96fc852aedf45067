"""Measured power of a complex matrix product on tensor cores, analysed from its public source.

powersensor3_rtx4000ada_gemm: 4096³ on an RTX 4000 Ada, many tilings at ten clocks, by an external sensor. The
kernel is ccglib's (``kernels/gemm_kernel_float.cu`` at 4555a75); the tuner's host code fills the matrices
with zeros. Of each tile the fastest of the measured configurations is taken.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from validation.power.by_hand import GEMM, PowerCase, read_rows
from validation.timing.cases import Code, Measured, cases
from warpwatt.core.arguments import Fill, parse_arguments
from warpwatt.core.gpu import Clocks
from warpwatt.core.launch import Dim3, L2State, Launch
from warpwatt.gpus import find
from warpwatt.lab.measure.components import PoweredRun
from warpwatt.models.component.activity import Activity, activity
from warpwatt.models.component.parameters import specification
from warpwatt.models.registry import time_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from warpwatt.core.case import Case

GPU = "NVIDIA RTX 4000 Ada Generation"
SOURCE = "ccglib"
"""Folder of the checkout."""
SIZE = 4096
"""Rows, columns and depth of the matrices."""
WMMA = 16
"""The same of one warp-wide product."""
HELD_BACK = 64
"""Rows with this M_PER_BLOCK are kept for the final judgement."""
MHZ = 1e6


@dataclass(frozen=True, slots=True)
class Tiling:
    """Rows and columns of a block, warps along both, and buffers in shared memory."""

    m: int
    n: int
    warps_n: int
    warps_m: int
    buffers: int

    @property
    def name(self) -> str:
        """The block's tile, as the page calls it."""
        return f"tile {self.m} by {self.n}"


def gemm_cases(data: Path, checkouts: Path) -> Iterator[PowerCase]:
    """Yield the fastest configuration of each tile at every clock, but for those held back."""
    measured: dict[Tiling, list[Mapping[str, str]]] = defaultdict(list)
    for row in read_rows(data / "powersensor3_rtx4000ada_gemm" / "complex_gemm_fp16.csv.gz"):
        if row["power_w"] and int(row["M_PER_BLOCK"]) != HELD_BACK:
            names = ("M_PER_BLOCK", "N_PER_BLOCK", "block_size_y", "block_size_z", "NBUFFER")
            measured[Tiling(*(int(row[name]) for name in names))].append(row)
    fastest: dict[str, Tiling] = {}
    for tiling, rows in measured.items():
        before = fastest.get(tiling.name)
        if before is None or _least(rows) < _least(measured[before]):
            fastest[tiling.name] = tiling
    for tiling in fastest.values():
        yield from _analysed(tiling, measured[tiling], checkouts / SOURCE)


def _least(rows: list[Mapping[str, str]]) -> float:
    return min(float(row["time_mean_ms"]) for row in rows)


def _analysed(tiling: Tiling, rows: list[Mapping[str, str]], checkout: Path) -> Iterator[PowerCase]:
    (case,) = cases(_launched(tiling, checkout), time_model("pipeline").levels)
    work, toggle = _work(case)
    for row in rows:
        clocks = Clocks(float(row["core_clock_mhz"]) * MHZ, case.gpu.memory_clock)
        parts = ((work, float(row["time_mean_ms"]) * 1e-3, toggle),)
        watts, celsius = float(row["power_w"]), float(row["temperature_c"])
        run = PoweredRun(tiling.name, case.gpu, clocks, parts, watts, celsius)
        yield PowerCase(GEMM, tiling.name, run)


def _launched(tiling: Tiling, checkout: Path) -> Measured:
    """Return the launch; seconds are those of no row."""
    values = {
        "BATCH_SIZE": 1, "M_GLOBAL": SIZE, "N_GLOBAL": SIZE, "K_GLOBAL": SIZE, "NBIT": 16, "WARP_SIZE": 32,
        "M_PER_BLOCK": tiling.m, "N_PER_BLOCK": tiling.n, "NBUFFER": tiling.buffers,
        "M_PER_WARP": tiling.m // tiling.warps_m, "N_PER_WARP": tiling.n // tiling.warps_n,
        "M_PER_WMMA": WMMA, "N_PER_WMMA": WMMA, "K_PER_WMMA": WMMA,
        "block_size_x": 32, "block_size_y": tiling.warps_n, "block_size_z": tiling.warps_m,
        "COMPLEX_MIDDLE": 1, "A_ROW_MAJOR": 1, "B_COL_MAJOR": 1, "C_ROW_MAJOR": 1,
    }  # fmt: skip
    code = Code(
        checkout / "kernels" / "gemm_kernel_float.cu",
        "wmma_complex_gemm_opt",
        defines=tuple(f"{name}={value}" for name, value in values.items()),
        include=(str(checkout / "include"), str(checkout / "kernels")),
    )
    arguments = [
        f"{name}={kind}[{2 * SIZE**2}]:zeros" for name, kind in (("C", "f32"), ("A", "f16"), ("B", "f16"))
    ]
    grid, block = Dim3(SIZE // tiling.n, SIZE // tiling.m), Dim3(32, tiling.warps_n, tiling.warps_m)
    launch = Launch(grid, block, l2=L2State.WARM, arguments=parse_arguments(arguments))
    return Measured(GEMM, GPU, tiling.name, str(tiling), code, (launch,), math.nan)


def _work(case: Case) -> tuple[Activity, float]:
    """Return what the launch does and how much zeros toggle; tensor instructions toggle still less."""
    known, work = specification(find(GPU)), activity(case)
    toggle, tensor = known.toggles[Fill.ZEROS], known.tensor_toggles[Fill.ZEROS]
    amounts = {**work.amounts, "tensor": work.amounts.get("tensor", 0.0) * tensor / toggle}
    return replace(work, amounts=amounts), toggle
