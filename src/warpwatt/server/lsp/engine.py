"""The analysing process as the server sees it: started, given jobs, and ended at any moment.

Processes are forked from a fork server that has loaded and run everything once, so that a new one is warm at
once; where there is none (Windows) they are spawned.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from warpwatt.server.lsp import worker
from warpwatt.workers.process import ChildProcess, forking_context

if TYPE_CHECKING:
    from warpwatt.server.lsp.facts import Job, Message

logger = logging.getLogger(__name__)


class Engine:
    """One analysing process at a time; ``heard`` takes its messages, ``died`` hears of its unwanted end.

    Both are called in the event loop that called :meth:`start`.
    """

    def __init__(self, heard: Callable[[Message], None], died: Callable[[], None]) -> None:
        self._heard = heard
        self._died = died
        self._context = forking_context("warpwatt.server.lsp.warm")
        self._process: ChildProcess | None = None
        self._starting: asyncio.Task[None] | None = None

    @property
    def ready(self) -> bool:
        """Whether there is a process to give work to."""
        return self._process is not None

    @property
    def pid(self) -> int | None:
        """The process, None while there is none."""
        return self._process.pid if self._process is not None else None

    async def start(self) -> None:
        """Start a process unless there is one; the first waits until everything is loaded."""
        if self.ready:
            return
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._start())
        await asyncio.shield(self._starting)

    async def _start(self) -> None:
        loop = asyncio.get_running_loop()
        process = ChildProcess(self._context, worker.main)
        await loop.run_in_executor(None, process.start)
        self._process = process
        threading.Thread(target=self._read, args=(process, loop), daemon=True).start()

    def _read(self, process: ChildProcess, loop: asyncio.AbstractEventLoop) -> None:
        """Pass messages on until the process ends; runs in a thread of its own."""
        while True:
            try:
                message = process.connection.recv()
            except (EOFError, OSError):
                break
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._hear, process, message)
        process.connection.close()
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._end, process)

    def _hear(self, process: ChildProcess, message: Message) -> None:
        if process is self._process:
            self._heard(message)

    def _end(self, process: ChildProcess) -> None:
        if process is self._process:
            logger.warning("the analysing process has ended by itself")
            self.kill()
            self._died()

    def send(self, job: Job | None) -> None:
        """Give the process a job, or ask it to stop with None; ``died`` tells of one that has ended."""
        if self._process is not None:
            with suppress(OSError):
                self._process.connection.send(job)

    def kill(self) -> None:
        """End the process and the compilers it has started; what it was doing is lost."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
