"""Results of ``warpwatt check`` as text, JSON, GitHub annotations and JUnit XML: ``renderer(format)``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warpwatt.core.budget import CheckResult
    from warpwatt.render.context import Context

    Renderer = Callable[[CheckResult, Context], str]

FORMATS: Mapping[str, str] = {
    "text": "warpwatt.render.check.text:render",
    "json": "warpwatt.render.check.json:render",
    "github": "warpwatt.render.check.github:render",
    "junit": "warpwatt.render.check.junit:render",
}
"""Format to ``module:function``, each imported only when it is asked for."""


def renderer(name: str) -> Renderer:
    """Return the renderer of a format: from a result and a context to text."""
    module, _, function = FORMATS[name].partition(":")
    return cast("Renderer", getattr(import_module(module), function))
