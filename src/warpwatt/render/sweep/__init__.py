"""Sweeps as text, CSV, JSON, Parquet and one HTML page with plots. Public name: ``renderer(format)``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from warpwatt.advise.rows import Row
    from warpwatt.render.context import Context

    Renderer = Callable[[Sequence[Row], Context], str | bytes]

FORMATS: Mapping[str, str] = {
    "text": "warpwatt.render.sweep.text:render",
    "csv": "warpwatt.render.sweep.tables:render_csv",
    "json": "warpwatt.render.sweep.tables:render_json",
    "parquet": "warpwatt.render.sweep.tables:render_parquet",
    "html": "warpwatt.render.sweep.page:render",
}
"""Format to ``module:function``, each imported only when it is asked for."""


def renderer(name: str) -> Renderer:
    """Return the renderer of a format: from rows in order and a context to text, or bytes (Parquet)."""
    module, _, function = FORMATS[name].partition(":")
    return cast("Renderer", getattr(import_module(module), function))
