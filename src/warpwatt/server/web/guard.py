"""In front of everything: only requests that this server's own page, or a program, could have sent.

No foreign page may use a browser on this machine to reach us. A name that an attacker lets point here (DNS
rebinding) fails at ``Host``; a form or a script elsewhere fails at ``Origin``, ``Sec-Fetch-Site`` or, since
we grant no CORS, at the content type that a form cannot send.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from warpwatt.server.web.problems import Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from warpwatt.server.web.settings import Settings

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
"""Sent with every answer that does not say otherwise."""
API_POLICY = "default-src 'none'; frame-ancestors 'none'"


class Guard:
    """Middleware that refuses foreign requests and adds the headers every answer carries."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with what is wrong."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in (*HEADERS.items(), ("content-security-policy", API_POLICY)):
                    headers.setdefault(name, value)
            await send(message)

        problem = self._problem(scope["method"], Headers(scope=scope))
        answer = self.app if problem is None else problem.response()
        await answer(scope, receive, send_guarded)

    def _problem(self, method: str, headers: Headers) -> Problem | None:
        """Return what is wrong with a request, None if nothing is."""
        hosts = [host.lower() for host in headers.getlist("host")]
        if len(hosts) != 1 or hosts[0] not in self.settings.hosts:
            hint = "ask for it by the address it printed, or name yours with --allowed-host"
            return Problem(421, "host", "this server does not answer to that name", hint, headers=CLOSE)
        if method in SAFE_METHODS:
            return None
        origins = headers.getlist("origin")
        if any(origin.lower() not in self.settings.origins for origin in origins):
            return Problem(
                403, "origin", "another page sent this request", "use the server's own page", headers=CLOSE
            )
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return Problem(
                403, "origin", "another page sent this request", "use the server's own page", headers=CLOSE
            )
        return None


CLOSE = {"connection": "close"}
"""The rest of a refused request is not read."""
