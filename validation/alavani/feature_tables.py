"""The feature and power tables released with Alavani's power model, read with their defects counted.

Origin: https://github.com/santonus/energymodel, folder ``Datasets``, commit 76f3e50 (CSV exports of
spreadsheets, renamed ``power_model_inputs_*.csv``). The files differ in column names and order, hold error
cells of the spreadsheet, blank rows and stray strings: nothing is dropped silently, everything is counted.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

FILES: Mapping[str, str] = {
    "k20_larger": "Tesla K20",
    "k20_smaller": "Tesla K20",
    "maxwell": "Tesla M60",
    "v100": "Tesla V100",
}
"""Data set and its GPU. The Maxwell file names no model; its constants are the thesis' Tesla M60's."""

TEXT_COLUMNS = frozenset({"benchmark", "kernel", "c/m", "sr_no."})
ERROR_CELLS = frozenset({"#DIV/0!", "#VALUE!", "#REF!", "#N/A", "#NAME?"})
_RENAMED = {"kernel_name": "kernel", "global_throughput": "glob_throughput"}


@dataclass(frozen=True, slots=True)
class Row:
    """One launch: line in the file (the header is 1), names, every numeric column (None: no number)."""

    line: int
    benchmark: str
    kernel: str
    values: Mapping[str, float | None]

    def numbers(self, names: Iterable[str]) -> tuple[float, ...] | None:
        """Return the named columns, or None if one of them has no number."""
        found = [self.values.get(name) for name in names]
        numbers = tuple(x for x in found if x is not None)
        return numbers if len(numbers) == len(found) else None


@dataclass(frozen=True, slots=True)
class Defects:
    """What was wrong: blank rows, and cells by column and kind.

    ``error`` are the spreadsheet's error cells, ``stray`` other text where numbers stand, ``blank`` empty
    cells of columns that are filled elsewhere. ``empty`` columns have no value, ``unnamed`` no name.
    """

    blank_rows: int
    error: Mapping[str, int]
    stray: Mapping[str, int]
    blank: Mapping[str, int]
    error_rows: int
    empty: tuple[str, ...]
    unnamed: int


@dataclass(frozen=True, slots=True)
class DataSet:
    """The rows of one file that hold data, and its defects."""

    name: str
    gpu: str
    rows: tuple[Row, ...]
    defects: Defects


def load_all(folder: Path) -> tuple[DataSet, ...]:
    """Return the four data sets of a folder.

    Raises
    ------
    FileNotFoundError
        If one of the files is missing.
    """
    return tuple(load(folder / f"power_model_inputs_{name}.csv", name) for name in FILES)


def load(path: Path, name: str) -> DataSet:
    """Return one data set; ``name`` is a key of :data:`FILES`."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        header, *lines = list(csv.reader(file))
    columns = [canonical(text) for text in header]
    used = [(n, line) for n, line in enumerate(lines, start=2) if _is_data(columns, line)]
    rows = tuple(_row(n, columns, line) for n, line in used)
    return DataSet(name, FILES[name], rows, _defects(columns, lines, [line for _, line in used]))


def canonical(column: str) -> str:
    """Return the name a column has in thesis Table 5.4, in lower case.

    >>> canonical("comp_inst_sim"), canonical("Total Threads"), canonical("global_Throughput")
    ('comp_inst_sm', 'total_threads', 'glob_throughput')
    """
    name = column.strip().lower().replace(" ", "_").replace("_sim", "_sm")
    return _RENAMED.get(name, name)


def _is_data(columns: Sequence[str], line: Sequence[str]) -> bool:
    """Blank trailing rows of the spreadsheet still carry a serial number."""
    return any(c not in ("sr_no.", "") and x.strip() for c, x in zip(columns, line, strict=True))


def _row(number: int, columns: Sequence[str], line: Sequence[str]) -> Row:
    cells = dict(zip(columns, (x.strip() for x in line), strict=True))
    values = {c: _number(x) for c, x in cells.items() if c and c not in TEXT_COLUMNS}
    return Row(number, cells["benchmark"], cells["kernel"], values)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _defects(
    columns: Sequence[str], lines: Sequence[Sequence[str]], used: Sequence[Sequence[str]]
) -> Defects:
    error, stray, blank = Counter[str](), Counter[str](), Counter[str]()
    for line in used:
        for column, cell in zip(columns, line, strict=True):
            text = cell.strip()
            if text in ERROR_CELLS:
                error[column] += 1
            elif column in TEXT_COLUMNS or not column:
                continue
            elif not text:
                blank[column] += 1
            elif _number(text) is None:
                stray[column] += 1
    empty = tuple(c for c in columns if blank[c] + stray[c] == len(used) and c)
    return Defects(
        blank_rows=len(lines) - len(used),
        error=dict(error),
        stray=dict(stray),
        blank={c: n for c, n in blank.items() if c not in empty},
        error_rows=sum(any(x.strip() in ERROR_CELLS for x in line) for line in used),
        empty=empty,
        unnamed=sum(not c for c in columns),
    )
