"""Columns of the result files: name, type, unit, meaning (``columns.toml``)."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from importlib.resources import files

Value = str | int | float | None


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
