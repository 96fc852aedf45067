"""The JSON schemas that ship in the package, as pages with a table per object and the file itself."""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

from docs._pages.text import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VERBS = {
    "prediction": "predict --format json",
    "brief": "predict --format brief",
    "ncu": "predict --format ncu-json",
    "sweep": "sweep -o FILE.json",
    "comparison": "compare --format json",
    "rank": "rank --format json",
    "check": "check --format json",
    "features": "features --format json",
    "port": "port --format json",
    "simulation": "simulate --format json",
    "run": "run --format json",
}


def pages() -> Mapping[str, str]:
    """Return page and file names to texts."""
    folder = resources.files("warpwatt.render").joinpath("schema")
    texts = {
        file.name: file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith(".json")
    }
    newest = {re.sub(r"-[\d.]+json$", "", name): name for name in sorted(texts)}
    parts = [_HEAD]
    for kind, name in sorted(
        newest.items(), key=lambda pair: list(VERBS).index(pair[0]) if pair[0] in VERBS else 99
    ):
        schema = json.loads(texts[name])
        verb = f"`warpwatt {VERBS[kind]}`: " if kind in VERBS else ""
        parts += [f"## {schema['title']}\n", f"{verb}[{name}](schemas/{name})\n", *_objects(schema)]
    return {"reference/schemas.md": "\n".join(parts)} | {
        f"reference/schemas/{n}": t for n, t in texts.items()
    }


_HEAD = """# JSON schemas

Every JSON result names its schema and a semantic version. Fields are added, never removed; all
quantities are in SI units. The schemas ship in the package (`warpwatt/render/schema`) and
every format is tested against its own.
"""


def _objects(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table for the document and for every named object."""
    yield _fields(schema)
    for name, inner in schema.get("$defs", {}).items():
        if inner.get("properties"):
            yield f'??? note "{name}: {inner.get("description", "")}"\n'
            yield "\n".join(f"    {line}" for line in _fields(inner).splitlines()) + "\n"


def _fields(schema: Mapping[str, Any]) -> str:
    rows = [
        (f"`{name}`", _type(field), field.get("description", ""))
        for name, field in schema["properties"].items()
    ]
    return table(("field", "type", "meaning"), rows)


def _type(field: Mapping[str, Any]) -> str:
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "anyOf" in field:
        return " or ".join(_type(one) for one in field["anyOf"])
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    kind = field.get("type", "any")
    kinds = " or ".join(kind) if isinstance(kind, list) else str(kind)
    return f"array of {_type(field['items'])}" if kinds == "array" and "items" in field else kinds
