"""From bytes of a request's body to a checked request, by the schema that the OpenAPI document publishes."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from jsonschema import Draft202012Validator, ValidationError, validators
from jsonschema.exceptions import best_match

from warpwatt.server.web.guard import CLOSE
from warpwatt.server.web.openapi import schemas
from warpwatt.server.web.problems import UNPROCESSABLE, Problem

if TYPE_CHECKING:
    from starlette.requests import Request

    from warpwatt.server.web.settings import Settings

DEEPEST = 16
"""Nesting of a body; a request has five levels."""


async def read(request: Request, schema: str, settings: Settings) -> dict[str, Any]:
    """Return the body of a request, checked.

    Raises
    ------
    Problem
        If it is not JSON, too large, too slow, or not what the schema says.
    """
    _check_headers(request, settings)
    try:
        async with asyncio.timeout(settings.body_seconds):
            body = await _body(request, settings.body)
    except TimeoutError:
        message = f"the request did not arrive within {settings.body_seconds:g} s"
        raise Problem(408, "slow", message, "send it again", headers=CLOSE) from None
    return await asyncio.to_thread(lambda: checked(parsed(body), schema))


def _check_headers(request: Request, settings: Settings) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        hint = "send JSON with the header Content-Type: application/json"
        raise Problem(415, "content-type", "the body is not declared as JSON", hint, headers=CLOSE)
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Problem(
            415, "content-encoding", "compressed bodies are not accepted", "send it plain", headers=CLOSE
        )
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > settings.body:
        raise _too_large(settings.body)


async def _body(request: Request, most: int) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise _too_large(most)
    return bytes(body)


def _too_large(most: int) -> Problem:
    return Problem(
        413, "too-large", f"the body is larger than {most >> 10} KiB", "send less source", headers=CLOSE
    )


def parsed(body: bytes) -> Any:
    """Return the value that JSON text holds; stricter than Python's reader: no NaN, no lone surrogates.

    >>> parsed(b'{"a": [1]}')
    {'a': [1]}
    """
    try:
        text = body.decode("utf-8")
        if too_deep(text):
            raise Problem(400, "json", f"nested deeper than {DEEPEST} levels", "send a flatter value")
        value = json.loads(text, parse_constant=_no_constant)
        text.encode("utf-8")
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # escapes may spell half a character
    except UnicodeError:
        raise Problem(400, "json", "the body is not UTF-8 text", "encode it as UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise Problem(
            400, "json", f"the body is not JSON: {error}", "check commas, quotes and braces"
        ) from None
    return value


def too_deep(text: str) -> bool:
    """Return whether brackets outside strings nest too deeply; Python's reader would recurse into them.

    >>> too_deep("[" * 17), too_deep('["' + "[" * 17 + '"]')
    (True, False)
    """
    depth = 0
    for mark in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text):
        if mark[0] in ("[", "{"):
            depth += 1
            if depth > DEEPEST:
                return True
        elif mark[0] in ("]", "}"):
            depth -= 1
    return False


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def checked(value: Any, schema: str) -> dict[str, Any]:
    """Return a value that a schema of ``requests.json`` allows.

    Raises
    ------
    Problem
        If it does not; names the place by a JSON pointer.
    """
    root = {"$ref": f"#/components/schemas/{schema}", "components": {"schemas": schemas()}}
    error = best_match(_Validator(root).iter_errors(value))
    if error is None:
        request: dict[str, Any] = value
        return request
    pointer = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in error.absolute_path)
    message = f"{pointer or 'the body'}: {_said(error)}"
    raise Problem(UNPROCESSABLE, "request", message, "see /api/v1/openapi.json", pointer=pointer)


def _said(error: ValidationError) -> str:
    """Return the library's message without the value, which may be a megabyte of source."""
    expected = json.dumps(error.validator_value, ensure_ascii=False)
    rules = {
        "required": "is missing a field of",
        "additionalProperties": "has a field that is none of",
        "propertyNames": "has a name that does not match",
    }
    if error.validator == "additionalProperties":
        expected = ", ".join(error.schema.get("properties", {}))
    if error.validator in ("oneOf", "anyOf"):
        return str(error.schema.get("description", "is none of what is allowed"))
    rule = rules.get(str(error.validator), f"does not keep to {error.validator}")
    return f"{rule} {expected[:300]}"


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ARG001
    """Match as JSON Schema means it: ``$`` is the end of the text, not a newline in front of it."""
    if isinstance(instance, str) and not re.search(re.sub(r"(?<!\\)\$$", r"\\Z", pattern), instance):
        yield ValidationError("does not match")


_Validator = validators.extend(Draft202012Validator, {"pattern": _pattern})
