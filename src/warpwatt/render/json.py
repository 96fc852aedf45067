"""JSON: strictly valid, versioned, described by the schema that ships beside this file."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from warpwatt.core.prediction import Prediction
from warpwatt.render.document import prediction_document

if TYPE_CHECKING:
    from warpwatt.render.context import Context

SCHEMAS = "https://raw.githubusercontent.com/warpwatt/warpwatt/main/src/warpwatt/render/schema/"


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON Schema that ships in ``schema``.

    ``version`` is semantic: a new field raises the second number; a removed or changed one would raise the
    first.
    """

    name: str
    version: str

    @property
    def file(self) -> str:
        """The file's name, with the first two numbers of the version.

        >>> SCHEMA.file
        'prediction-1.2.json'
        """
        return f"{self.name}-{self.version.rpartition('.')[0]}.json"

    @property
    def url(self) -> str:
        """Where the schema can be read."""
        return SCHEMAS + self.file

    def load(self) -> dict[str, Any]:
        """Return the JSON Schema.

        >>> SCHEMA.load()["title"]
        'WarpWatt predictions'
        """
        text = resources.files("warpwatt.render").joinpath("schema", self.file).read_text(encoding="utf-8")
        loaded: dict[str, Any] = json.loads(text)
        return loaded


SCHEMA = Schema("prediction", "1.2.0")


def render(predictions: Sequence[Prediction], context: Context) -> str:
    """Return the predictions as one JSON document with a final newline."""
    return dump({**header(context), "predictions": [prediction_document(p) for p in predictions]})


def header(context: Context, schema: Schema = SCHEMA) -> dict[str, Any]:
    """Return the fields in front of every document: schema, tool, command, seed."""
    return {
        "$schema": schema.url,
        "schema_version": schema.version,
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
