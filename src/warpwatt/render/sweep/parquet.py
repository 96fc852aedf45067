"""Sweeps as Parquet: typed columns with units, provenance in the file's metadata, one row group at a time."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from warpwatt.core.errors import ToolchainError
from warpwatt.render.sweep.columns import (
    SCHEMA,
    Survey,
    description_of,
    names,
    record,
    type_of,
    unit_of,
)

if TYPE_CHECKING:
    from typing import BinaryIO

    from warpwatt.render.context import Context
    from warpwatt.sweep.rows import Row

ROW_GROUP = 65_536
"""Rows of one row group: so many are in memory."""
PREFIX = "warpwatt."
"""Of the keys in the metadata of the file."""
REQUIRED = ("number", "launch", "gpu", "clocks_fixed", "pareto", "limited_by_power")
"""Columns that always have a value."""


def check() -> None:
    """Raise ToolchainError where pyarrow is not installed."""
    if find_spec("pyarrow") is None:
        hint = "pip install 'warpwatt[cluster]', or write CSV or JSON"
        raise ToolchainError("Parquet needs pyarrow", hint=hint)


def write(rows: Sequence[Row], context: Context, file: BinaryIO) -> None:
    """Write a Parquet file.

    Raises
    ------
    ToolchainError
        If pyarrow is not installed.
    """
    check()
    import pyarrow
    from pyarrow import parquet

    survey = Survey.of(rows)
    schema = _schema(survey, context)
    remaining = iter(rows)
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while group := [record(row, survey) for row in itertools.islice(remaining, ROW_GROUP)]:
            writer.write_table(pyarrow.Table.from_pylist(group, schema=schema))


def _schema(survey: Survey, context: Context) -> Any:
    """Return names, types, units and descriptions of the columns, and where the file comes from."""
    import pyarrow

    types = {
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
        "string": pyarrow.string(),
    }
    fields = [
        pyarrow.field(
            column,
            types[type_of(column, survey)],
            nullable=column not in REQUIRED,
            metadata={
                "description": description_of(column),
                **({"unit": unit_of(column)} if unit_of(column) else {}),
            },
        )
        for column in names(survey)
    ]
    return pyarrow.schema(fields, metadata=provenance(context))


def provenance(context: Context) -> dict[str, str]:
    """Return where a file comes from: version, command, seed and the schema of the columns."""
    return {
        f"{PREFIX}version": context.version,
        f"{PREFIX}command": context.command,
        f"{PREFIX}seed": str(context.seed),
        f"{PREFIX}schema": SCHEMA.url,
        f"{PREFIX}schema_version": SCHEMA.version,
        **{f"{PREFIX}{name}": value for name, value in context.toolkits.items()},
    }
