"""What is wrong, as ``application/problem+json`` (RFC 9457), with the command line's message and fix."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse

MEDIA_TYPE = "application/problem+json"
_STATUS = {"ToolchainError": 503, "DeviceError": 503}
"""Errors that are this machine's; every other one is the request's."""
UNPROCESSABLE = 422


class Problem(Exception):  # noqa: N818 - RFC 9457's word
    """A refusal: status, kind and message, what would help, and what else RFC 9457 lets us say."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        hint: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = dict(headers or {})
        self.body = {
            "type": f"urn:warpwatt:problem:{kind}",
            "title": title(kind),
            "status": status,
            "detail": detail,
            "hint": hint,
            **more,
        }

    def response(self) -> JSONResponse:
        """Return the response that says so."""
        return JSONResponse(self.body, self.status, self.headers, MEDIA_TYPE)


def of_error(fields: Mapping[str, Any]) -> Problem:
    """Return the problem for an error's fields, as :func:`~warpwatt.workers.child.described` has them.

    >>> of_error({"kind": "CompileError", "message": "no", "hint": "yes", "line": 3}).body["type"]
    'urn:warpwatt:problem:compile'
    """
    kind = fields["kind"]
    more = {key: fields[key] for key in ("file", "line", "details", "exit_code", "side") if key in fields}
    status = _STATUS.get(kind, UNPROCESSABLE)
    return Problem(status, kind_of(kind), fields["message"], fields.get("hint", ""), **more)


def of_status(status: int) -> Problem:
    """Return the problem for a bare status, such as 404."""
    phrase = HTTPStatus(status).phrase
    return Problem(status, re.sub(r"[^a-z]+", "-", phrase.lower()), phrase)


def kind_of(name: str) -> str:
    """Return the kind of an error's class.

    >>> kind_of("UnknownGpuError"), kind_of("LimitError")
    ('unknown-gpu', 'limit')
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name.removesuffix("Error")).lower()


def title(kind: str) -> str:
    """Return a kind for people.

    >>> title("unknown-gpu")
    'Unknown GPU'
    """
    return (
        kind.replace("-", " ")
        .replace("gpu", "GPU")
        .replace("json", "JSON")
        .capitalize()
        .replace("gpu", "GPU")
        .replace("json", "JSON")
    )
