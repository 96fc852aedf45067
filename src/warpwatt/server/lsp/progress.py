"""Progress in the client's own bar, of work that takes a while."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from warpwatt.server.lsp.facts import Progress
    from warpwatt.server.lsp.scheduler import Request

PATIENCE_SECONDS = 0.5
"""Work that is done within this time is not worth a bar."""


@dataclass(slots=True)
class _Bar:
    request: Request
    token: str
    latest: Progress
    timer: asyncio.TimerHandle | None = None
    begun: bool = False
    ended: bool = False


class Reporter:
    """Bars of the requests that are being worked on, where the client has any."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._bars: dict[int, _Bar] = {}
        self._numbers = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()

    def report(self, request: Request, progress: Progress) -> None:
        """Take what a request is doing; advice is sought silently."""
        window = self._server.client_capabilities.window
        if request.answered or window is None or not window.work_done_progress:
            return
        bar = self._bars.get(id(request))
        if bar is None:
            bar = _Bar(request, f"warpwatt-{next(self._numbers)}", progress)
            self._bars[id(request)] = bar
            bar.timer = asyncio.get_running_loop().call_later(PATIENCE_SECONDS, self._show, bar)
        bar.latest = progress
        if bar.begun:
            report = types.WorkDoneProgressReport(
                message=progress.text, percentage=round(100 * progress.share), cancellable=True
            )
            self._server.work_done_progress.report(bar.token, report)

    def end(self, request: Request) -> None:
        """Take the request's bar away."""
        bar = self._bars.pop(id(request), None)
        if bar is None:
            return
        bar.ended = True
        if bar.timer is not None:
            bar.timer.cancel()
        if bar.begun:
            self._server.work_done_progress.end(bar.token, types.WorkDoneProgressEnd())
            self._server.work_done_progress.tokens.pop(bar.token, None)

    def cancelled(self, token: object) -> Request | None:
        """Return the request whose bar the user has cancelled."""
        return next((bar.request for bar in self._bars.values() if bar.token == token), None)

    def _show(self, bar: _Bar) -> None:
        task = asyncio.get_running_loop().create_task(self._begin(bar))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _begin(self, bar: _Bar) -> None:
        await self._server.work_done_progress.create_async(bar.token)
        if bar.ended:
            self._server.work_done_progress.tokens.pop(bar.token, None)
            return
        begin = types.WorkDoneProgressBegin(
            "WarpWatt",
            cancellable=True,
            message=bar.latest.text,
            percentage=round(100 * bar.latest.share),
        )
        self._server.work_done_progress.begin(bar.token, begin)
        bar.begun = True
