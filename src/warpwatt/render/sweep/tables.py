"""Sweeps as tables for other programs: CSV and JSON with the same columns (Parquet: :mod:`.parquet`)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from warpwatt.render.csv import cell
from warpwatt.render.json import dump, header
from warpwatt.render.sweep.columns import SCHEMA, Survey, names, record

if TYPE_CHECKING:
    from typing import BinaryIO

    from warpwatt.render.context import Context
    from warpwatt.sweep.rows import Row


def records(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return column to value for every row."""
    survey = Survey.of(rows)
    return [record(row, survey) for row in rows]


def write_csv(rows: Sequence[Row], _: Context, file: BinaryIO) -> None:
    """Write a header line and one line per row, CRLF line ends as RFC 4180 asks; truth as 0 or 1.

    Rows are taken one at a time: there may be more than memory holds.
    """
    survey = Survey.of(rows)
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    writer = csv.DictWriter(text, names(survey), lineterminator="\r\n")
    if len(rows):
        writer.writeheader()
    for row in rows:
        writer.writerow(_cells(record(row, survey)))
    text.detach()


def csv_of(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return records as CSV; the columns are those of all of them, in order."""
    columns = list(dict.fromkeys(column for line in lines for column in line))
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(_cells(line) for line in lines)
    return buffer.getvalue()


def _cells(record: Mapping[str, Any]) -> dict[str, Any]:
    return {k: cell(int(v) if isinstance(v, bool) else v) for k, v in record.items()}


def render_json(rows: Sequence[Row], context: Context) -> str:
    """Return one JSON document; its schema ships beside that of predictions."""
    return dump({**header(context, SCHEMA), "rows": records(rows)})
