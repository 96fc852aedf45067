"""JSON: strictly valid, versioned, described by the schema that ships beside this file."""

from __future__ import annotations

import json
import math
from importlib import resources
from typing import TYPE_CHECKING, Any

from warpwatt.render.document import prediction_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.core.prediction import Prediction
    from warpwatt.render.context import Context

SCHEMA_VERSION = "1.2.0"
"""Semantic: a new field raises the second number; a removed or changed one would raise the first."""
SCHEMA_FILE = "prediction-1.2.json"
SCHEMA_URL = (
    f"https://raw.githubusercontent.com/warpwatt/warpwatt/main/src/warpwatt/render/schema/{SCHEMA_FILE}"
)


def render(predictions: Sequence[Prediction], context: Context) -> str:
    """Return the predictions as one JSON document with a final newline."""
    return dump({**header(context), "predictions": [prediction_document(p) for p in predictions]})


def header(context: Context) -> dict[str, Any]:
    """Return the fields in front of every document: schema, tool, command, seed."""
    return {
        "$schema": SCHEMA_URL,
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "warpwatt", "version": context.version, "toolkits": dict(context.toolkits)},
        "command": context.command,
        "seed": context.seed,
    }


def dump(document: Any) -> str:
    """Return ``document`` as JSON text; numbers JSON cannot hold (NaN, infinities) become null.

    >>> print(dump({"a": [1.0, float("nan")]}), end="")
    {
      "a": [
        1.0,
        null
      ]
    }
    """
    return json.dumps(finite(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def finite(value: Any) -> Any:
    """Return ``value`` with every number JSON cannot hold replaced by None, containers included.

    >>> finite({"x": (float("inf"), 2)})
    {'x': [None, 2]}
    """
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the output.

    >>> schema()["title"]
    'WarpWatt predictions'
    """
    text = resources.files("warpwatt.render").joinpath("schema", SCHEMA_FILE).read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
