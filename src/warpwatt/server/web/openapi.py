"""The OpenAPI 3.1 document: every path, what it takes, everything it may answer."""

from __future__ import annotations

import copy
import json
from functools import cache
from importlib import resources
from typing import Any

from warpwatt.core.version import __version__
from warpwatt.render.json import SCHEMA

API = "/api/v1"
_SCHEMAS = "#/components/schemas/"
_REFUSALS = {
    400: "The body is not JSON",
    403: "Another page sent the request",
    408: "The body arrived too slowly",
    413: "The body is too large",
    415: "The body is not declared as plain JSON",
    421: "The server does not answer to that host name",
    422: "The request, the source or the launch is at fault; says where and what would help",
    500: "The server is at fault",
    503: "Every worker is busy, or a compiler is missing here",
}


@cache
def schemas() -> dict[str, Any]:
    """Return every schema by name: requests, answers, and the predictions' own with its parts."""
    found = {**_file("requests.json"), **_file("answers.json")}
    predictions = copy.deepcopy(SCHEMA.load())
    parts = predictions.pop("$defs")
    for key in ("$id", "$schema"):
        predictions.pop(key, None)
    renamed = json.dumps(
        {"Predictions": predictions, **{f"Prediction_{name}": part for name, part in parts.items()}}
    )
    found.update(json.loads(renamed.replace('"#/$defs/', f'"{_SCHEMAS}Prediction_')))
    return found


@cache
def document() -> dict[str, Any]:
    """Return the whole document.

    >>> document()["openapi"], sorted(document()["paths"])[0]
    ('3.1.0', '/api/v1/compare')
    """
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "WarpWatt",
            "version": __version__,
            "summary": "Time, power and energy of CUDA kernels, predicted without running them.",
            "description": "Quantities are in SI units. Sources reach no file of the server; each request "
            "runs in a process of its own with limits on time and memory.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": _paths(),
        "components": {"schemas": {name: copy.deepcopy(schema) for name, schema in schemas().items()}},
    }


def _paths() -> dict[str, Any]:
    report = {"text/html": {"schema": {"type": "string"}}}
    told = "JSON texts: the predictions without advice, then with it and the report's address, or a problem"
    pieces = {"application/json-seq": {"schema": {"type": "string", "description": told}}}
    return {
        f"{API}/kernels": _post(
            "kernels", "Kernels of a source, their parameters, the launches it describes", "Kernels"
        ),
        f"{API}/predict": _post("predict", "Predict launches of a kernel", "Predictions", report | pieces),
        f"{API}/compare": _post(
            "compare", "Predict two kernels and what changed between them", "Comparison", report | pieces
        ),
        f"{API}/reports/{{id}}": {
            "get": {
                "operationId": "report",
                "summary": "A report as one page; the link to it comes with the prediction and expires",
                "parameters": [
                    {
                        "name": "id",
                        "in": "path",
                        "required": True,
                        "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
                    }
                ],
                "responses": {
                    "200": {"description": "The report", "content": report},
                    "404": _problem("No such report, or no longer"),
                    "421": _problem(_REFUSALS[421]),
                },
            }
        },
        f"{API}/gpus": _get("gpus", "The known GPUs", "GpuList"),
        f"{API}/models": _get("models", "The time and power models", "Models"),
        f"{API}/examples": _get("examples", "Kernels to start from", "Examples"),
        f"{API}/openapi.json": {
            "get": {
                "operationId": "openapi",
                "summary": "This document",
                "responses": {
                    "200": {
                        "description": "OpenAPI 3.1",
                        "content": {"application/json": {"schema": {"type": "object"}}},
                    },
                    "421": _problem(_REFUSALS[421]),
                },
            }
        },
        "/healthz": _get("healthz", "Whether the server is up, and how busy", "Health"),
    }


def _get(name: str, summary: str, answer: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": _SCHEMAS + answer}}}
    return {
        "get": {
            "operationId": name,
            "summary": summary,
            "responses": {
                "200": {"description": summary, "content": content},
                "421": _problem(_REFUSALS[421]),
            },
        }
    }


def _post(name: str, summary: str, answer: str, more: dict[str, Any] | None = None) -> dict[str, Any]:
    request = {"$ref": f"{_SCHEMAS}{name.capitalize()}Request"}
    good: dict[str, Any] = {
        "description": summary,
        "content": {"application/json": {"schema": {"$ref": _SCHEMAS + answer}}, **(more or {})},
    }
    if more:
        good["headers"] = {
            "Link": {
                "description": "The same as a page: rel=alternate, type=text/html",
                "schema": {"type": "string"},
            }
        }
    return {
        "post": {
            "operationId": name,
            "summary": summary,
            "requestBody": {"required": True, "content": {"application/json": {"schema": request}}},
            "responses": {"200": good, **{str(status): _problem(text) for status, text in _REFUSALS.items()}},
        }
    }


def _problem(description: str) -> dict[str, Any]:
    return {
        "description": description,
        "content": {"application/problem+json": {"schema": {"$ref": f"{_SCHEMAS}Problem"}}},
    }


def _file(name: str) -> dict[str, Any]:
    text = resources.files("warpwatt.server.web").joinpath("schema", name).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
