"""Start the server and stay until it is told to end."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import uvicorn

from warpwatt.core.errors import InputError
from warpwatt.server.web.app import create_app
from warpwatt.server.web.protocol import DeadlineProtocol
from warpwatt.server.web.settings import bracketed

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpwatt.server.web.settings import Settings

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
