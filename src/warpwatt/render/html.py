"""HTML: one self-contained page that works offline, prints well and follows the reader's light or dark mode.

The page allows itself nothing from outside and no script but its own (Content-Security-Policy with the
hash of that script), so that a hostile kernel name or source line stays text even if escaping failed.
"""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from warpwatt.render import plot
from warpwatt.render.page import page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.core.prediction import Prediction
    from warpwatt.render.context import Context


def render(predictions: Sequence[Prediction], context: Context) -> str:
    """Return the page of the predictions as one HTML document."""
    script = _asset("page.js")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html").render(
        page=page(predictions, context),
        plot=plot,
        style=Markup(_asset("page.css")),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        policy=content_policy(script),
    )


def content_policy(script: str) -> str:
    """Return the Content-Security-Policy that allows exactly this script and nothing from outside.

    >>> content_policy("")[:26]
    "default-src 'none'; script"
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'"


def _asset(name: str) -> str:
    return resources.files("warpwatt.render").joinpath("templates", name).read_text(encoding="utf-8")
