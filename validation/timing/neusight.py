"""Runs of PyTorch's elementwise, softmax and layer-norm kernels: NeuSight's measurements on five GPUs.

Data: github.com/sitar-lab/NeuSight, commit 6945927, training split of the vector operators (MIT): PyTorch
2.1.0, CUDA 12.1, clocks not locked, tensors of 2 to 63 million elements. The kernels are ours
(``validation/timing/kernels/neusight``), of the shape that names, grids and blocks in the data show.
"""

from __future__ import annotations

import csv
import gzip
import math
import random
import statistics
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from validation.timing.cases import Code, Measured
from validation.timing.pmpp import TINY_KERNEL_SECONDS
from warpwatt.core.arguments import Argument, Buffer, DType, Fill, Scalar
from warpwatt.core.launch import Dim3, Launch

if TYPE_CHECKING:
    from collections.abc import Mapping

KERNELS = Path(__file__).parent / "kernels" / "neusight"
FILE = "neusight_ops/elementwise_softmax_layernorm_train.csv.gz"
NAME = "operators"
GPUS = {
    "Tesla P4": "Tesla P4",
    "Tesla P100-PCIE-16GB": "Tesla P100 PCIe 16GB",
    "Tesla V100-PCIE-32GB": "Tesla V100 PCIe 16GB",
    "Tesla T4": "Tesla T4",
    "NVIDIA A100-PCIE-40GB": "NVIDIA A100-PCIE-40GB",
}
"""Names in the data to ours; the two V100 boards differ in the size of their memory only."""
SAMPLE, SEED = 8, 0
"""Rows per operator and GPU."""
UNARY: Mapping[str, tuple[str, Mapping[str, float]]] = {
    "addu": ("add_scalar", {"k": 1.5}),
    "mulu": ("mul_scalar", {"k": 1.5}),
    "divu": ("mul_scalar", {"k": 1.5}),
    "powu": ("power_scalar", {"k": 1.5}),
    "relu": ("relu", {"low": 0.0, "high": math.inf}),
    "gelu": ("gelu", {}),
    "tanh": ("hyperbolic_tangent", {}),
}
"""Operator to our kernel and its parameters; dividing by a scalar is multiplying by its inverse."""
BINARY: Mapping[str, tuple[str, Mapping[str, float]]] = {
    "add": ("add", {"k": 1.0}),
    "mul": ("mul", {}),
    "div": ("divide", {}),
    "pow": ("power", {}),
}
PLAIN = "add"
"""The operator whose times say what is measured around a kernel."""
WARP_ROWS = 1024
"""Columns up to which one warp keeps a row of softmax."""

Row = dict[str, str]


def runs(folder: Path) -> tuple[list[Measured], Counter[str]]:
    """Return a seeded sample of every operator on every GPU, and how many rows it leaves out."""
    groups: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    with gzip.open(folder / FILE, "rt", newline="") as file:
        for row in csv.DictReader(file):
            groups[row["device"], row["op"], _program(row)].append(row)
    around = {device: _around(rows) for (device, op, _), rows in groups.items() if op == PLAIN}
    found, left_out = [], Counter[str]()
    for rows in groups.values():
        sample = random.Random(SEED).sample(rows, min(SAMPLE, len(rows)))
        left_out["not in the sample"] += len(rows) - len(sample)
        found += [_run(row, around[row["device"]]) for row in sample]
    return found, left_out


def _program(row: Row) -> str:
    if row["op"] == "softmax":
        return "softmax_warp" if int(row["cols"]) <= WARP_ROWS else "softmax_block"
    return row["op"]


def _around(rows: list[Row]) -> float:
    """Return the seconds that are measured around a kernel: where a line of time against size meets size 0.

    A sum of two tensors does nothing but stream.
    """
    sizes = [float(row["rows"]) * float(row["cols"]) for row in rows]
    times = [float(row["latency_ms"]) * 1e-3 for row in rows]
    return statistics.linear_regression(sizes, times).intercept - TINY_KERNEL_SECONDS


def _run(row: Row, around: float) -> Measured:
    code, dynamic, arguments = _KINDS.get(row["op"], _elementwise)(row)
    grid, block = (Dim3(*(int(row[f"{what}_{axis}"]) for axis in "xyz")) for what in ("grid", "block"))
    return Measured(
        data=NAME,
        gpu=GPUS[row["device"]],
        program=_program(row),
        configuration=f"{row['rows']} x {row['cols']}",
        code=code,
        launches=(Launch(grid, block, dynamic, arguments=arguments),),
        seconds=float(row["latency_ms"]) * 1e-3 - around,
    )


def _elementwise(row: Row) -> tuple[Code, int, dict[str, Argument]]:
    n = int(row["rows"]) * int(row["cols"])
    kernel, parameters = BINARY.get(row["op"]) or UNARY[row["op"]]
    inputs = ("x", "y") if row["op"] in BINARY else ("x",)
    arguments: dict[str, Argument] = {"n": Scalar(n)}
    arguments |= {name: Scalar(value) for name, value in parameters.items()}
    arguments |= {name: _buffer(n) for name in (*inputs, "out")}
    return Code(KERNELS / "elementwise.cu", kernel), 0, arguments


def _softmax(row: Row) -> tuple[Code, int, dict[str, Argument]]:
    rows, columns = int(row["rows"]), int(row["cols"])
    arguments: dict[str, Argument] = {"out": _buffer(rows, columns), "x": _buffer(rows, columns)}
    kernel = _program(row)
    if kernel == "softmax_warp":
        arguments |= {"rows": Scalar(rows), "stride": Scalar(columns)}
    arguments["columns"] = Scalar(columns)
    dynamic = 0 if kernel == "softmax_warp" else int(row["block_x"]) // 32 * 4
    return Code(KERNELS / "softmax.cu", kernel), dynamic, arguments


def _layer_norm(row: Row) -> tuple[Code, int, dict[str, Argument]]:
    rows, columns = int(row["rows"]), int(row["cols"])
    arguments: dict[str, Argument] = {"columns": Scalar(columns), "eps": Scalar(1e-5)}
    arguments |= {"x": _buffer(rows, columns), "y": _buffer(rows, columns)}
    arguments |= {name: _buffer(columns) for name in ("gamma", "beta")}
    arguments |= {name: _buffer(rows) for name in ("mean", "rstd")}
    return Code(KERNELS / "layer_norm.cu", "layer_norm"), int(row["block_y"]) * 3 // 2 * 4, arguments


def _buffer(*shape: int) -> Buffer:
    return Buffer(DType.F32, shape, Fill.RANDOM)


_KINDS = {"softmax": _softmax, "ln": _layer_norm}
