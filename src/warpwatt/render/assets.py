"""The package's templates, styles and scripts."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from warpwatt.render.console import plain
from warpwatt.render.words import GLOSSARY


def environment() -> jinja2.Environment:
    """Return the templates of this package; everything they place is escaped."""
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        finalize=_visible,
    )
    made.globals["glossary"] = GLOSSARY
    return made


def _visible(value: Any) -> Any:
    """Return what a template places, control characters of hostile names and sources made visible."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return value if value.isprintable() else "\n".join(plain(line) for line in value.split("\n"))


def concatenate(names: Sequence[str]) -> str:
    """Return several of the package's own files one after the other."""
    return "\n".join(asset(name) for name in names)


def asset(name: str) -> str:
    """Return the text of a template, style or script of this package."""
    return resources.files("warpwatt.render").joinpath("templates", name).read_text(encoding="utf-8")
