"""The analysing process as the server sees it: started, given jobs, and ended at any moment.

Processes are forked from a fork server that has loaded and run everything once, so that a new one is warm at
once; where there is none (Windows) they are spawned.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from warpwatt.server.lsp import worker
from warpwatt.workers.trees import kill_tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

    from warpwatt.server.lsp.facts import Job, Message

logger = logging.getLogger(__name__)


def _context() -> BaseContext:
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["warpwatt.server.lsp.warm"])
    return context


class Engine:
    """One analysing process at a time; ``heard`` takes its messages, ``died`` hears of its unwanted end.

    Both are called in the event loop that called :meth:`start`.
    """

    def __init__(self, heard: Callable[[Message], None], died: Callable[[], None]) -> None:
        self._heard = heard
        self._died = died
        self._context = _context()
        self._process: BaseProcess | None = None
        self._connection: Connection[Any, Any] | None = None
        self._starting: asyncio.Task[None] | None = None

    @property
    def ready(self) -> bool:
        """Whether there is a process to give work to."""
        return self._connection is not None

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
        process, connection = await loop.run_in_executor(None, self._fork)
        self._process, self._connection = process, connection
        reader = threading.Thread(target=self._read, args=(connection, loop), daemon=True)
        reader.start()

    def _fork(self) -> tuple[BaseProcess, Connection[Any, Any]]:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(  # type: ignore[attr-defined] # every context has it
            target=worker.main, args=(theirs,), daemon=True, name="warpwatt-analysis"
        )
        process.start()
        theirs.close()
        return process, ours

    def _read(self, connection: Connection[Any, Any], loop: asyncio.AbstractEventLoop) -> None:
        """Pass messages on until the process ends; runs in a thread of its own."""
        while True:
            try:
                message = connection.recv()
            except (EOFError, OSError):
                break
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._hear, connection, message)
        connection.close()
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._end, connection)

    def _hear(self, connection: Connection[Any, Any], message: Message) -> None:
        if connection is self._connection:
            self._heard(message)

    def _end(self, connection: Connection[Any, Any]) -> None:
        if connection is self._connection:
            logger.warning("the analysing process has ended by itself")
            self.kill()
            self._died()

    def send(self, job: Job | None) -> None:
        """Give the process a job, or ask it to stop with None; ``died`` tells of one that has ended."""
        if self._connection is not None:
            with suppress(OSError):
                self._connection.send(job)

    def kill(self) -> None:
        """End the process and the compilers it has started; what it was doing is lost."""
        process = self._process
        self._process = self._connection = None
        if process is not None and process.pid is not None:
            kill_tree(process.pid)
