"""Start the server and stay until it is told to end; a client that sends or reads by drops is let go."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from warpwatt.core.errors import InputError
from warpwatt.server.web.app import create_app
from warpwatt.server.web.settings import bracketed

if TYPE_CHECKING:
    import asyncio

    from warpwatt.server.web.settings import Settings

LINGER_SECONDS = 30.0
"""How long a client may take to read what was sent when the connection is closed."""


class DeadlineProtocol(H11Protocol):
    """uvicorn's own protocol; besides, each request must have arrived whole within ``seconds``."""

    seconds = 20.0

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass data on, and wait on only while a request is incomplete."""
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._await_request()
        else:
            self._stop_waiting()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, and cut it off if its client does not read."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def _await_request(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


HEAD_BYTES = 16 * 1024
"""Of a request: its line and headers."""
BACKLOG = 256


def serve(settings: Settings, ready: Callable[[str], None]) -> None:
    """Listen and serve; ``ready`` hears the address once it is taken.

    Raises
    ------
    InputError
        If the address cannot be listened on.
    """
    listener = listen(settings.host, settings.port)
    settings = replace(settings, port=listener.getsockname()[1])
    DeadlineProtocol.seconds = settings.header_seconds + settings.body_seconds
    config = uvicorn.Config(
        create_app(settings),
        http=DeadlineProtocol,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=settings.connections,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=HEAD_BYTES,
    )
    ready(f"http://{bracketed(settings.host)}:{settings.port}/")
    with suppress(KeyboardInterrupt):  # uvicorn has ended in order, and says so once more
        uvicorn.Server(config).run(sockets=[listener])


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 is any free one. Raise as :func:`serve`."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host.strip("[]"), port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        number = getattr(error, "errno", None)
        reason = (os.strerror(number) if number and number > 0 else str(error)).lower()
        raise InputError(
            f"cannot listen on {host}:{port}: {reason}", hint="name another --port, or 0 for any"
        ) from None
