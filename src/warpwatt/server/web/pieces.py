"""An answer in pieces: the predictions as soon as they are there, and again with advice and a report.

``application/json-seq`` (RFC 7464) with a record separator behind every text too, so that a reader need not
wait for the next one. The last piece holds ``document`` and ``report``, its address, or a ``problem``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.responses import Response, StreamingResponse

from warpwatt.server.web.problems import Problem

PIECES = "application/json-seq"
KINDS = ("application/json", "text/html", PIECES)
"""What an answer with a report may be; the first where a client does not say."""

Done = Callable[[Callable[[dict[str, Any]], object]], Awaitable[dict[str, Any]]]
"""Returns an answer, and tells what is known before."""


def preferred(accept: str) -> str:
    """Return the first of :data:`KINDS` that a client asks for.

    >>> preferred("text/html,application/xhtml+xml"), preferred("*/*")
    ('text/html', 'application/json')
    """
    kinds = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    return next((kind for kind in kinds if kind in KINDS), KINDS[0])


async def in_pieces(done: Done, keep: Callable[[str], str]) -> Response:
    """Return the response; ``keep`` returns the address of a report.

    Raises
    ------
    Problem
        If that is the answer before anything was told.
    """
    early: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
    work = asyncio.ensure_future(done(early.set_result))
    work.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # heard, whoever waits
    try:
        await asyncio.wait({work, early}, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        work.cancel()
        raise
    if not early.done():
        return Response(_text(_last(work.result(), keep)), media_type=PIECES)
    return StreamingResponse(_pieces(early.result(), work, keep), media_type=PIECES)


async def _pieces(
    early: dict[str, Any], work: asyncio.Future[dict[str, Any]], keep: Callable[[str], str]
) -> AsyncIterator[bytes]:
    """Yield what is known, then the rest; whoever goes away in between ends the work."""
    try:
        yield _text(_document(early["document"]))
        await asyncio.wait({work})
        try:
            last = _last(work.result(), keep)
        except Problem as problem:
            last = json.dumps({"problem": problem.body})
        yield _text(last)
    finally:
        work.cancel()


def _last(made: dict[str, Any], keep: Callable[[str], str]) -> str:
    return _document(made["document"], f', "report": {json.dumps(keep(made["report"]))}')


def _document(document: str, more: str = "") -> str:
    """Return the text of a piece; the document is one already."""
    return f'{{"document": {document}{more}}}'


def _text(piece: str) -> bytes:
    return f"\x1e{piece}\n\x1e".encode()
