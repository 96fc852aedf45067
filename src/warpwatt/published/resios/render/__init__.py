"""Reports of ``warpwatt port``: text for people, JSON for programs.

Public name: :func:`renderer`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from warpwatt.published.resios.port import Agreement, Port
    from warpwatt.render.context import Context

    Renderer = Callable[[Sequence[Port], Sequence[Agreement], Context], str]


def renderer(name: str) -> Renderer:
    """Return the renderer of a format, ``"text"`` or ``"json"``; only that one is imported.

    >>> renderer("json").__module__
    'warpwatt.published.resios.render.json'
    """
    return cast("Renderer", import_module(f"warpwatt.published.resios.render.{name}").render)
