"""Comparisons as text, JSON, HTML and GitHub annotations. Public name: ``renderer(format)``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warpwatt.core.comparison import ComparisonSet
    from warpwatt.render.context import Context

    Renderer = Callable[[ComparisonSet, Context], str]

FORMATS: Mapping[str, str] = {
    "text": "warpwatt.render.compare.text:render",
    "json": "warpwatt.render.compare.json:render",
    "html": "warpwatt.render.compare.page:render",
    "github": "warpwatt.render.compare.github:render",
}
"""Format to ``module:function``, each imported only when it is asked for."""


def renderer(name: str) -> Renderer:
    """Return the renderer of a format: from a comparison and a context to text."""
    module, _, function = FORMATS[name].partition(":")
    return cast("Renderer", getattr(import_module(module), function))
