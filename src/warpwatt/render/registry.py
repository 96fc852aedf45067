"""Formats by name, each imported only when it is asked for: text must not pay for HTML."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from warpwatt.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from warpwatt.core.prediction import ApplicationPrediction, Prediction
    from warpwatt.render.context import Context

    Renderer = Callable[[Sequence[Prediction], Context], str]
    ApplicationRenderer = Callable[[Sequence[ApplicationPrediction], Context], str]

FORMATS: Mapping[str, str] = {
    "text": "warpwatt.render.text:render",
    "explain": "warpwatt.render.explain:render",
    "json": "warpwatt.render.json:render",
    "csv": "warpwatt.render.csv:render",
    "html": "warpwatt.render.html:render",
}
"""Format to ``module:function`` for sequences of predictions."""
APPLICATION_FORMATS: Mapping[str, str] = {
    "text": "warpwatt.render.application:render_text",
    "json": "warpwatt.render.application:render_json",
}
"""Format to ``module:function`` for sequences of application predictions."""


def renderer(name: str) -> Renderer:
    """Return the renderer of a format.

    Raises
    ------
    UsageError
        If there is no such format.

    >>> renderer("text").__module__
    'warpwatt.render.text'
    """
    return cast("Renderer", _load(FORMATS, name))


def application_renderer(name: str) -> ApplicationRenderer:
    """Return the renderer of a format for applications; raise :class:`UsageError` where there is none."""
    return cast("ApplicationRenderer", _load(APPLICATION_FORMATS, name))


def _load(formats: Mapping[str, str], name: str) -> object:
    if name not in formats:
        raise UsageError(f"no output format {name!r}", hint=f"formats: {' '.join(formats)}")
    module, _, function = formats[name].partition(":")
    return getattr(import_module(module), function)
