"""The published times of Alavani's thesis and the error figures printed with them."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FOLDER = Path(__file__).parent / "data" / "alavani_thesis"
GPUS: Mapping[str, str] = {
    "K20": "Tesla K20",
    "K4200": "Quadro K4200",
    "M60": "Tesla M60 (per GPU)",
    "GTX1050": "GeForce GTX 1050",
}
"""Columns of Table 4.8 and our names of the GPUs."""
_TABLE_4_2_NAMES = {
    "Black Holes": "BlackScholes",
    "Breadth First Search": "Breadth-First Search",
    "CFD": "CFD Solver",
    "Convolution Text": "Convolution Texture",
    "LUD": "LU Decomposition",
    "NW": "Needleman-Wunsch",
    "saxpy": "Saxpy",
    "Stereo": "Stereo Disparity",
}
"""Benchmarks that Table 4.2 calls otherwise than Table 4.7."""


@dataclass(frozen=True, slots=True)
class Row:
    """A published pair of times in microseconds."""

    benchmark: str
    kernel: str
    actual: float
    predicted: float

    @property
    def error(self) -> float:
        """(actual − predicted)/actual in percent: the sign the thesis' mean percentage errors need."""
        return 100 * (self.actual - self.predicted) / self.actual


def table_4_2() -> tuple[Row, ...]:
    """Return the first model's times on the Tesla K20."""
    rows = _read("table_4_2.csv")
    return tuple(
        Row(r["benchmark"], r["kernel"], float(r["actual_us"]), float(r["predicted_us"])) for r in rows
    )


def table_4_8(column: str) -> tuple[Row, ...]:
    """Return the second model's times on the GPU of a column (a key of :data:`GPUS`)."""
    return tuple(
        Row(r["benchmark"], r["kernel"], float(r[f"{column}_actual_us"]), float(r[f"{column}_predicted_us"]))
        for r in _read("table_4_8.csv")
    )


def mean_percentage_error(rows: Iterable[Row]) -> float:
    """Return MPE in percent."""
    errors = [r.error for r in rows]
    return sum(errors) / len(errors)


def mean_absolute_percentage_error(rows: Iterable[Row]) -> float:
    """Return MAPE in percent."""
    errors = [abs(r.error) for r in rows]
    return sum(errors) / len(errors)


def by_dwarf(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each dwarf of Table 4.7; a misprinted dwarf goes to the one it resembles.

    Tables 4.7 and 4.8 spell some kernels differently. A kernel that 4.7 lacks takes the dwarf of its
    benchmark, if that has only one.
    """
    of_kernel: dict[tuple[str, str], str] = {}
    of_benchmark: dict[str, set[str]] = defaultdict(set)
    for line in _read("table_4_7.csv"):
        dwarf = "Unstructured Grid" if line["dwarf"].startswith("Unstructured") else line["dwarf"]
        of_kernel[line["benchmark"], line["kernel"]] = dwarf
        of_benchmark[line["benchmark"]].add(dwarf)
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        single = of_benchmark[_TABLE_4_2_NAMES.get(row.benchmark, row.benchmark)]
        dwarf = of_kernel.get((row.benchmark, row.kernel)) or (min(single) if len(single) == 1 else "(none)")
        found[dwarf].append(row)
    return dict(found)


def printed_by_dwarf(table: str, column: str) -> dict[str, float]:
    """Return the printed errors of a table by dwarf."""
    return {r["dwarf"]: float(r[column]) for r in _read(table)}


def _read(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(newline="") as file:
        return list(csv.DictReader(file))
