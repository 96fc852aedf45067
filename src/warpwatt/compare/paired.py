"""Options with two values: ``--clock 1410/1200`` means 1410 on the old side and 1200 on the new one."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from warpwatt.request.fields import FIELDS

if TYPE_CHECKING:
    from warpwatt.request.launch_text import LaunchText
    from warpwatt.request.options import CompilationOptions, ModelOptions

    Options = TypeVar("Options", LaunchText, CompilationOptions, ModelOptions)

SEPARATOR = "/"
_PAIRED = {field.name: field for field in FIELDS if field.paired}


def split_pairs(options: Options) -> tuple[Options, Options, tuple[str, str]]:
    """Return options of the old and the new side, and what tells the sides apart.

    >>> from warpwatt.request.launch_text import LaunchText
    >>> old, new, labels = split_pairs(LaunchText(grid="64", block="256/128", arg=("n=4",)))
    >>> old.block, new.block, labels
    ('256', '128', ('block 256', 'block 128'))
    """
    left: dict[str, Any] = {}
    right: dict[str, Any] = {}
    labels: list[tuple[str, str]] = []
    for field in fields(options):
        value = getattr(options, field.name)
        described = _PAIRED.get(field.name)
        if described is None or not value:
            continue
        if not described.repeated:
            left[field.name], right[field.name] = _split(value)
            if left[field.name] != right[field.name]:
                labels.append((f"{field.name} {left[field.name]}", f"{field.name} {right[field.name]}"))
        else:
            pairs = [_split_value(text) for text in value]
            left[field.name], right[field.name] = (tuple(side) for side in zip(*pairs, strict=True))
            labels += [pair for pair in pairs if pair[0] != pair[1]]
    named = tuple(", ".join(side) for side in zip(*labels, strict=True)) if labels else ("", "")
    return replace(options, **left), replace(options, **right), (named[0], named[1])


def _split_value(text: str) -> tuple[str, str]:
    """Split the value of ``NAME=VALUE``; of a text without a name, the text."""
    name, equals, value = text.rpartition("=") if "=" not in text else text.partition("=")
    old, new = _split(value)
    return f"{name}{equals}{old}", f"{name}{equals}{new}"


def _split(text: str) -> tuple[str, str]:
    """Return both values; the same twice unless exactly one separator stands outside quotes and brackets.

    >>> _split("1410/1200"), _split("(1/2)"), _split("x.npy")
    (('1410', '1200'), ('(1/2)', '(1/2)'), ('x.npy', 'x.npy'))
    """
    quoted = any(mark in text for mark in ("(", '"', "'")) or text.endswith(".npy")
    if quoted or text.count(SEPARATOR) != 1:
        return text, text
    old, _, new = text.partition(SEPARATOR)
    return (old, new) if old and new else (text, text)
