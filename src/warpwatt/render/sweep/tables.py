"""Sweeps as tables for other programs: CSV, JSON and Parquet with the same columns."""

from __future__ import annotations

import csv
import io
import json
from importlib import import_module, resources
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from warpwatt.advise.rows import pareto
from warpwatt.core.errors import ToolchainError
from warpwatt.render.csv import cell
from warpwatt.render.json import dump, header

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpwatt.advise.rows import Range, Row
    from warpwatt.render.context import Context

    ParquetWriter = Callable[[list[dict[str, Any]], io.BytesIO], None]

SCHEMA_VERSION = "1.0.0"
"""Semantic: a new column raises the second number; a removed or changed one would raise the first."""
SCHEMA_FILE = "sweep-1.0.json"
SCHEMA_URL = (
    f"https://raw.githubusercontent.com/warpwatt/warpwatt/main/src/warpwatt/render/schema/{SCHEMA_FILE}"
)
DEFINE = "define."
"""In front of the names of macros that are columns."""


def records(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return column to value for every row; all have the same columns in the same order, SI units."""
    macros = list(dict.fromkeys(name for row in rows for name, _ in row.defines))
    front = pareto(rows)
    return [_record(row, macros, on_front=row.number in front) for row in rows]


def _record(row: Row, macros: Sequence[str], *, on_front: bool) -> dict[str, Any]:
    defined = dict(row.defines)
    return {
        "number": row.number,
        "launch": row.launch,
        "kernel": row.kernel,
        "gpu": row.gpu,
        **{DEFINE + name: defined.get(name) for name in macros},
        "maxrregcount": row.max_registers,
        "grid": row.grid,
        "block": row.block,
        "dynamic_shared_bytes": row.shared,
        "sm_clock_hz": row.sm_clock,
        "memory_clock_hz": row.memory_clock,
        "clocks_fixed": row.clocks_fixed,
        **_quantity("time", "s", row.time),
        **_quantity("power", "w", row.power),
        **_quantity("energy", "j", row.energy),
        "energy_delay_js": row.energy_delay,
        "pareto": on_front,
        "bottleneck": row.limited_by,
        "limited_by_power": row.at_power_limit,
        "occupancy": row.occupancy,
        "registers_per_thread": row.registers,
        "spill_bytes_per_thread": row.spills,
        "warnings": "; ".join(row.warnings),
        "error": row.error,
    }


def _quantity(name: str, unit: str, value: Range | None) -> dict[str, float | None]:
    if value is None:
        return {f"{name}_{unit}": None, f"{name}_low_{unit}": None, f"{name}_high_{unit}": None}
    return {f"{name}_{unit}": value.value, f"{name}_low_{unit}": value.low, f"{name}_high_{unit}": value.high}


def render_csv(rows: Sequence[Row], _: Context) -> str:
    """Return a header line and one line per row, CRLF line ends as RFC 4180 asks; truth as 0 or 1."""
    found = records(rows)
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(found[0]) if found else [], lineterminator="\r\n")
    writer.writeheader()
    for record in found:
        writer.writerow({k: cell(int(v) if isinstance(v, bool) else v) for k, v in record.items()})
    return buffer.getvalue()


def render_json(rows: Sequence[Row], context: Context) -> str:
    """Return one JSON document; its schema ships beside that of predictions."""
    said = {**header(context), "$schema": SCHEMA_URL, "schema_version": SCHEMA_VERSION}
    return dump({**said, "rows": records(rows)})


def render_parquet(rows: Sequence[Row], _: Context) -> bytes:
    """Return a Parquet file; raise as :func:`parquet_writer`."""
    buffer = io.BytesIO()
    parquet_writer()(records(rows), buffer)
    return buffer.getvalue()


def parquet_writer() -> ParquetWriter:
    """Return what writes records as Parquet: polars, or pandas where it can.

    Raises
    ------
    ToolchainError
        If neither is installed.
    """
    if find_spec("polars") is not None:
        return _with_polars
    if find_spec("pandas") is not None and (find_spec("pyarrow") or find_spec("fastparquet")):
        return _with_pandas
    hint = "pip install polars, or write CSV or JSON"
    raise ToolchainError("Parquet needs polars, or pandas with pyarrow", hint=hint)


def _with_polars(found: list[dict[str, Any]], buffer: io.BytesIO) -> None:
    polars = import_module("polars")
    polars.DataFrame(found, infer_schema_length=None).write_parquet(buffer)


def _with_pandas(found: list[dict[str, Any]], buffer: io.BytesIO) -> None:
    pandas = import_module("pandas")
    pandas.DataFrame(found).to_parquet(buffer)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a sweep.

    >>> schema()["title"]
    'WarpWatt sweep'
    """
    text = resources.files("warpwatt.render").joinpath("schema", SCHEMA_FILE).read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
