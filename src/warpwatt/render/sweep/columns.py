"""The columns of a sweep: what they are called, their types and units; the same in CSV, JSON and Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from warpwatt.core.estimate import Estimate
from warpwatt.render.json import Schema
from warpwatt.sweep.rows import Row, pareto
from warpwatt.sweep.sizes import is_number

if TYPE_CHECKING:
    from warpwatt.sweep.rows import Range

SCHEMA = Schema("sweep", "1.1.0")
DEFINE, ARGUMENT = "define.", "argument."
"""In front of the names of macros and of scalar arguments that are columns."""
UNITS = {"_s": "s", "_w": "W", "_j": "J", "_js": "J s", "_hz": "Hz"}
"""Unit by the end of a column's name; bytes and counts say so in words."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What has to be known of all rows before the first can be written.

    ``arguments`` maps names to ``"integer"``, ``"number"`` or ``"string"``: what every value can be read as.
    """

    macros: tuple[str, ...]
    arguments: Mapping[str, str]
    front: frozenset[int]

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Survey:
        """Look at every row once."""
        macros: dict[str, None] = {}
        arguments: dict[str, str] = {}

        def seen() -> Iterator[Row]:
            for row in rows:
                macros.update(dict.fromkeys(name for name, _ in row.defines))
                for name, value in row.arguments:
                    arguments[name] = max(arguments.get(name, "integer"), kind_of(value), key=_WIDTH.index)
                yield row

        front = pareto(seen())
        return cls(tuple(macros), arguments, front)


_WIDTH = ("integer", "number", "string")


def kind_of(value: str) -> str:
    """Return the narrowest type that holds what is written.

    >>> kind_of("0x10"), kind_of("1e3"), kind_of("true")
    ('integer', 'number', 'string')
    """
    if not is_number(value):
        return "string"
    try:
        int(value, 0)
    except ValueError:
        return "number"
    return "integer"


def record(row: Row, survey: Survey) -> dict[str, Any]:
    """Return column to value; all rows of a survey have the same columns in the same order, SI units."""
    defined, given = dict(row.defines), dict(row.arguments)
    return {
        "number": row.number,
        "input": row.input,
        "launch": row.launch,
        "kernel": row.kernel,
        "gpu": row.gpu,
        **{DEFINE + name: defined.get(name) for name in survey.macros},
        **{ARGUMENT + name: _read(given.get(name), kind) for name, kind in survey.arguments.items()},
        "maxrregcount": row.max_registers,
        "grid": row.grid,
        "block": row.block,
        "dynamic_shared_bytes": row.shared,
        "sm_clock_hz": row.sm_clock,
        "memory_clock_hz": row.memory_clock,
        "clocks_fixed": row.clocks_fixed,
        **interval_columns("time", "_s", row.time),
        **interval_columns("power", "_w", row.power),
        **interval_columns("energy", "_j", row.energy),
        "energy_delay_js": row.energy_delay,
        "pareto": row.number in survey.front,
        "bottleneck": row.limited_by,
        "limited_by_power": row.at_power_limit,
        "occupancy": row.occupancy,
        "registers_per_thread": row.registers,
        "spill_bytes_per_thread": row.spills,
        "toolkit": row.toolkit,
        "warnings": "; ".join(row.warnings),
        "error": row.error,
    }


def _read(value: str | None, kind: str) -> int | float | str | None:
    if value is None or kind == "string":
        return value
    return int(value, 0) if kind == "integer" else float(value)


def interval_columns(name: str, unit: str, value: Range | Estimate | None) -> dict[str, float | None]:
    """Return value and interval by column; ``unit`` ends the names (``"_s"``, or empty)."""
    numbers = (value.value, value.low, value.high) if value is not None else (None, None, None)
    return dict(zip((f"{name}{unit}", f"{name}_low{unit}", f"{name}_high{unit}"), numbers, strict=True))


def names(survey: Survey) -> tuple[str, ...]:
    """Return all columns in order."""
    return tuple(record(Row(0, 0, ""), survey))


def unit_of(column: str) -> str:
    """Return the unit of a column, empty where it has none.

    >>> unit_of("time_low_s"), unit_of("energy_delay_js"), unit_of("gpu"), unit_of("dynamic_shared_bytes")
    ('s', 'J s', '', 'byte')
    """
    if "bytes" in column:
        return "byte"
    return UNITS.get(f"_{column.rpartition('_')[2]}", "") if "_" in column else ""


def type_of(column: str, survey: Survey) -> str:
    """Return the JSON type of a column: integer, number, boolean or string."""
    if column.startswith(ARGUMENT):
        return survey.arguments[column.removeprefix(ARGUMENT)]
    said = _columns().get(column, {}).get("type", "string")
    return said if isinstance(said, str) else next(kind for kind in said if kind != "null")


def description_of(column: str) -> str:
    """Return what a column holds, in words."""
    for prefix, text in ((DEFINE, "value of a macro"), (ARGUMENT, "value of a scalar argument")):
        if column.startswith(prefix):
            return text
    return str(_columns()[column]["description"])


@lru_cache(maxsize=1)
def _columns() -> dict[str, Any]:
    columns: dict[str, Any] = SCHEMA.load()["properties"]["rows"]["items"]["properties"]
    return columns
