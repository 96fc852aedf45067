"""The package's templates, styles and scripts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup, escape

from warpwatt.render.console import plain
from warpwatt.render.words import GLOSSARY, STALL_REASONS

EXPLAINED = {**{str(stall): said for stall, said in STALL_REASONS.items()}, **GLOSSARY}
_WORDS = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in sorted(EXPLAINED, key=len, reverse=True)))


@cache
def environment() -> jinja2.Environment:
    """Return the templates of this package, each compiled once; everything they place is escaped."""
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
    made.filters["explained"] = explained
    return made


def explained(text: str) -> Markup:
    """Return a text whose words of the glossary say on a touch what they mean.

    >>> print(explained("latency (Barrier) <2"))
    latency (<abbr title="waiting for other warps of the block at a barrier">Barrier</abbr>) &lt;2
    """
    parts, last = [], 0
    for found in _WORDS.finditer(text):
        parts += [
            escape(_visible(text[last : found.start()])),
            Markup('<abbr title="{}">{}</abbr>').format(EXPLAINED[found[0]], found[0]),
        ]
        last = found.end()
    return Markup("").join([*parts, escape(_visible(text[last:]))])


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
