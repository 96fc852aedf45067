"""Columns of the result files: name, type, unit, meaning (``columns.toml``); cells that all points have."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from warpwatt.lab.measure.protocol import VERSION

if TYPE_CHECKING:
    from datetime import datetime

    from warpwatt.lab.measure.corpus import CorpusProgram
    from warpwatt.lab.measure.device import DeviceInfo
    from warpwatt.lab.measure.protocol import Conditions

Value = str | int | float | None
Row = dict[str, Value]
"""A row by column name; a column that is missing is empty."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column; ``kind`` is ``str``, ``int`` or ``float``. An empty cell means not known."""

    name: str
    kind: type
    meaning: str

    def format(self, value: Value) -> str:
        """Return a cell; line breaks become spaces, so that a row is always one line.

        >>> Column("time_s", float, "").format(1 / 3), Column("note", str, "").format(None)
        ('0.333333333', '')
        """
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return ""
        if self.kind is float:
            return f"{value:.9g}"
        return " ".join(str(value).split())

    def read(self, cell: str) -> Value:
        """Return the value of a cell.

        Raises
        ------
        ValueError
            If it is not of the column's type.
        """
        if self.kind is str:
            return cell
        return self.kind(cell) if cell else None


_KINDS = {"str": str, "int": int, "float": float}


def _columns(*tables: str) -> tuple[Column, ...]:
    """Return the columns of some tables of ``columns.toml``."""
    return tuple(
        Column(name, _KINDS[kind], meaning)
        for table in tables
        for name, (kind, meaning) in _TABLES[table].items()
    )


_TABLES = tomllib.loads(files(__package__).joinpath("columns.toml").read_text(encoding="utf-8"))
TIME, POWER, MICRO = (_columns("identity", own, "conditions", "note") for own in ("time", "power", "micro"))
FILES = {"time_cold": TIME, "time_warm": TIME, "power": POWER}
"""Columns by protocol of the corpus."""


def identity(info: DeviceInfo, date: datetime, seed: int) -> Row:
    """Return the cells that all rows of a session share."""
    return {
        "version": VERSION,
        "date": date.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "gpu": info.name,
        "uuid_hash": info.uuid_hash,
        "driver": info.driver,
        "target": info.target,
        "seed": seed,
    }


def describe(program: CorpusProgram, size: str, data: str) -> Row:
    """Return the cells that name a point."""
    return {
        "program": program.name,
        "family": program.family,
        "split": program.split,
        "size": size,
        "data": data,
    }


def conditions(seen: Conditions) -> Row:
    """Return the cells of clocks, temperature and throttling."""
    return {
        "sm_clock_before_hz": seen.before.sm_clock,
        "sm_clock_after_hz": seen.after.sm_clock,
        "memory_clock_before_hz": seen.before.memory_clock,
        "memory_clock_after_hz": seen.after.memory_clock,
        "temperature_before_c": seen.before.temperature,
        "temperature_after_c": seen.after.temperature,
        "throttle": "+".join(seen.throttle),
    }
