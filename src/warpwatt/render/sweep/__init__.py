"""Sweeps as text, CSV, JSON, Parquet and one HTML page with plots. Public name: ``write``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from warpwatt.render.registry import load

if TYPE_CHECKING:
    from typing import BinaryIO

    from warpwatt.render.context import Context
    from warpwatt.sweep.rows import Row

WHOLE: Mapping[str, str] = {
    "text": "warpwatt.render.sweep.text:render",
    "json": "warpwatt.render.sweep.tables:render_json",
    "html": "warpwatt.render.sweep.page:render",
}
"""Format to ``module:function`` that returns the text, each imported only when it is asked for."""
STREAMED: Mapping[str, str] = {
    "csv": "warpwatt.render.sweep.tables:write_csv",
    "parquet": "warpwatt.render.sweep.parquet:write",
}
"""Format to ``module:function`` that writes to a file row by row."""


def write(name: str, rows: Sequence[Row], context: Context, file: BinaryIO) -> None:
    """Write rows, which are in order, in one of the formats."""
    if name in STREAMED:
        load(STREAMED, name)(rows, context, file)
    else:
        file.write(load(WHOLE, name)(rows, context).encode())
