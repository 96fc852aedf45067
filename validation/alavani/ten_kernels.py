"""Features of our own kernels beside the rows that were released for kernels of the same kind.

The released rows are of benchmarks whose sources are not with them; ours are own versions of the same kernels
(``examples/published``), compiled by today's compiler. Launches are those of the rows.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from warpwatt.core.arguments import parse_arguments
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Level
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import find
from warpwatt.published.alavani.features import NAMES, Convention
from warpwatt.published.alavani.features.launches import launch_features

if TYPE_CHECKING:
    from collections.abc import Mapping

DATA = ROOT.parent / "shared" / "data" / "alavani_power" / "power_model_inputs_k20_larger.csv"
KERNELS = ROOT / "examples" / "published"
EQUAL, CLOSE = 0.01, 0.25
"""Relative differences below which two values count as equal, and as close."""
SPELLINGS = {"total_threads": "Total Threads"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A released row, by benchmark, kernel and launch, and our kernel of the same kind."""

    benchmark: str
    released: str
    grid: int
    block: int
    file: str
    kernel: str
    arguments: tuple[str, ...] = ()
    shape: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    """Grid and block of ours, where they have more than one dimension."""


WIDTH = ("width=2048",)
TRANSPOSE = ((64, 64), (32, 8))
PAIRS = (
    Pair("NN", "euclid", 168, 256, "nn.cu", "euclid", ("count=43008",)),
    Pair("Vector Addition", "vectorAdd", 128, 16, "vectors.cu", "vector_add", ("n=2048",)),
    Pair("saxpy", "Saxpy", 128, 16, "vectors.cu", "saxpy", ("n=2048",)),
    Pair("Transpose", "Tpose0_simple copy", 4096, 256, "transpose.cu", "copy", WIDTH, TRANSPOSE),
    Pair("Transpose", "Tpose2_Naive", 4096, 256, "transpose.cu", "transpose_naive", WIDTH, TRANSPOSE),
    Pair("Transpose", "Tpose3_coalesced", 4096, 256, "transpose.cu", "transpose_coalesced", WIDTH, TRANSPOSE),
    Pair("Transpose", "Tpose4_optimized", 4096, 256, "transpose.cu", "transpose_padded", WIDTH, TRANSPOSE),
    Pair("Transpose", "Tpose7_diagonal", 4096, 256, "transpose.cu", "transpose_diagonal", WIDTH, TRANSPOSE),
    Pair("Gaussian", "GaussF1_1000", 1, 1024, "gaussian.cu", "multipliers", ("size=1000", "t=0")),
    Pair("K means", "KmeansInvert", 841, 256, "kmeans.cu", "invert", ("points=215296", "features=24")),
    Pair("CFD", "CFDTimeStep_97K", 506, 192, "euler.cu", "time_step", ("cells=97152", "stage=0")),
    Pair("BFS", "BFSv2_4096 Kernel2", 4, 1024, "bfs.cu", "advance", ("nodes=4096",)),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Compared:
    """A pair and its values, ours and the released ones, by feature."""

    pair: Pair
    ours: Mapping[str, float]
    released: Mapping[str, float]

    def within(self, most: float) -> list[str]:
        """Return the features whose values differ by less than a share of the larger."""
        return [name for name, value in self.released.items() if _differs(self.ours[name], value) <= most]

    @property
    def off(self) -> list[str]:
        """Features that are not equal, the farthest first."""
        found = {name: _differs(self.ours[name], value) for name, value in self.released.items()}
        return [name for name in sorted(found, key=lambda name: -found[name]) if found[name] > EQUAL]


def compared() -> Iterator[Compared]:
    """Yield every pair whose row is in the released table."""
    rows = _rows()
    for pair in PAIRS:
        row = next(
            r
            for r in rows
            if (r["Benchmark"].strip(), r["Kernel Name"].strip()) == (pair.benchmark, pair.released)
            and (r["grid_size"], r["block_size"]) == (str(pair.grid), str(pair.block))
        )
        released = {name: value for name in NAMES if (value := _number(row, name)) is not None}
        yield Compared(pair, _features(pair), released)


def _rows() -> list[dict[str, str]]:
    with Path(DATA).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def _number(row: Mapping[str, str], name: str) -> float | None:
    try:
        value = float(row[SPELLINGS.get(name, name)])
    except (KeyError, ValueError):
        return None
    return value if math.isfinite(value) else None


def _features(pair: Pair) -> dict[str, float]:
    gpu = find("Tesla K20")
    options = CompileOptions(levels=frozenset({Level.PTX}))
    kernel = load_kernel(KERNELS / pair.file, gpu.target, options, pair.kernel)
    grid, block = pair.shape or ((pair.grid,), (pair.block,))
    launch = Launch(Dim3(*grid), Dim3(*block), arguments=parse_arguments(pair.arguments))
    found = launch_features(kernel, launch, gpu, Convention.PUBLISHED).features
    return {name: float(value or 0.0) for name, value in asdict(found).items() if name in NAMES}


def _differs(ours: float, released: float) -> float:
    largest = max(abs(ours), abs(released))
    return abs(ours - released) / largest if largest else 0.0


def table() -> list[str]:
    """Return the comparison as lines of Markdown."""
    lines = [
        "| released row | launch | ours | equal | close | farthest off (ours, released) |",
        "|---|---|---|---:|---:|---|",
    ]
    for one in compared():
        far = "; ".join(f"{n} {one.ours[n]:.4g}, {one.released[n]:.4g}" for n in one.off[:4])
        pair, count = one.pair, len(one.released)
        lines.append(
            f"| {pair.benchmark}, {pair.released} | {pair.grid}x{pair.block} | {pair.file} {pair.kernel} "
            f"| {len(one.within(EQUAL))} of {count} | {len(one.within(CLOSE))} of {count} | {far} |"
        )
    return lines


def main() -> None:
    """Print the comparison."""
    print("\n".join(table()))


if __name__ == "__main__":
    main()
