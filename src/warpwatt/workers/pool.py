"""A bounded number of workers at a time, a bounded queue in front of them, every worker ended in time.

Workers are forked from one process that has everything loaded (``multiprocessing``'s fork server), so that
each request has a process of its own and none waits for imports.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import forkserver
from typing import TYPE_CHECKING, Any

from warpwatt.core.errors import WarpWattError
from warpwatt.workers import child
from warpwatt.workers.family import resident
from warpwatt.workers.limits import MIB, Limits
from warpwatt.workers.process import ChildProcess, forking_context, only_needed_environment

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext

WATCH_SECONDS = 0.05
"""How often a worker's memory is looked at."""

log = logging.getLogger("warpwatt.serve")
Early = Callable[[dict[str, Any]], object]
"""Hears what a task knows before its answer."""


class BusyError(Exception):
    """Every worker is busy and the queue is full."""


class LimitError(WarpWattError):
    """A request went beyond a limit of this server; its process was ended."""


class CrashError(Exception):
    """A worker died or failed in a way nobody expected."""


class RefusedError(Exception):
    """The worker's answer is an error the user can mend: the fields of ``described``."""

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__(fields["message"])
        self.fields = fields


class Worker(ChildProcess):
    """A process at work in a folder of its own."""

    def __init__(
        self,
        context: BaseContext,
        work: str,
        task: str,
        request: dict[str, Any],
        limits: Limits,
        *,
        early: bool = False,
    ) -> None:
        self.folder = tempfile.mkdtemp(prefix="warpwatt-serve-")
        main = partial(child.main, early=early)
        super().__init__(context, main, work, task, request, self.folder, limits)

    def end(self, seconds: float | None = 5.0) -> None:
        """End it and what it has started, and remove its folder."""
        super().end(seconds)
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(slots=True)
class Pool:
    """At most ``workers`` requests run, at most ``queue`` wait; the rest are refused at once."""

    work: str
    """Module of the tasks, as :func:`~warpwatt.workers.child.main` takes it."""
    preload: str
    """Module that the process all workers are forked from imports first, so that each begins warm."""
    limits: Limits = field(default_factory=Limits)
    workers: int = 2
    queue: int = 16
    running: int = field(default=0, init=False)
    waiting: int = field(default=0, init=False)
    confined: bool = field(default=False, init=False)
    """Whether the system keeps files from workers (known once started)."""
    _context: BaseContext = field(init=False)
    _free_workers: asyncio.Semaphore = field(init=False)
    _alive: set[Worker] = field(default_factory=set, init=False)
    _threads: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self._context = forking_context(self.preload)
        self._free_workers = asyncio.Semaphore(self.workers)
        self._threads = ThreadPoolExecutor(2 * self.workers, thread_name_prefix="worker-pipe")

    async def start(self) -> None:
        """Start the process that workers are forked from; return once it is warm and a worker has answered.

        Raises
        ------
        CrashError
            If workers do not start.
        """
        with only_needed_environment():
            await asyncio.to_thread(forkserver.ensure_running)
        self.confined = bool((await self.run("walls", {}))["confined"])

    async def stop(self) -> None:
        """End every worker, and return when nothing is left of them."""
        for worker in list(self._alive):
            await asyncio.to_thread(worker.end)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, task: str, request: dict[str, Any], early: Early | None = None) -> dict[str, Any]:
        """Return the answer of a task; ``early`` hears what the task knows before, once at most.

        Cancelling the call ends the worker.

        Raises
        ------
        BusyError
            If the queue is full.
        LimitError
            If the request took too much time or memory.
        RefusedError
            If the task found the request at fault.
        CrashError
            If the worker failed.
        """
        async with self._reserve_worker():
            answer = await self._worker(task, request, early)
        if "good" in answer:
            good: dict[str, Any] = answer["good"]
            return good
        if "error" in answer:
            raise RefusedError(answer["error"])
        log.error("a worker failed at %s:\n%s", task, answer.get("crash"))
        raise CrashError

    @asynccontextmanager
    async def _reserve_worker(self) -> AsyncIterator[None]:
        if self._free_workers.locked() and self.waiting >= self.queue:
            raise BusyError
        self.waiting += 1
        try:
            await self._free_workers.acquire()
        finally:
            self.waiting -= 1
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._free_workers.release()

    async def _worker(self, task: str, request: dict[str, Any], early: Early | None) -> dict[str, Any]:
        """Run a worker to its end, whatever that is, and leave nothing of it behind."""
        worker = Worker(self._context, self.work, task, request, self.limits, early=early is not None)
        loop = asyncio.get_running_loop()
        told = early and (lambda found: loop.call_soon_threadsafe(early, found))
        self._alive.add(worker)
        try:
            await loop.run_in_executor(self._threads, worker.start)
            receive = partial(_received, worker.connection, self.limits.answer, told)
            received = loop.run_in_executor(self._threads, receive)
            return await self._watched(worker, received)
        finally:
            await asyncio.shield(loop.run_in_executor(None, worker.end))
            self._alive.discard(worker)

    async def _watched(self, worker: Worker, received: asyncio.Future[dict[str, Any]]) -> dict[str, Any]:
        """Wait for the answer; raise where the worker exceeds its limits first."""
        deadline = time.monotonic() + self.limits.seconds
        while True:
            done, _ = await asyncio.wait({received}, timeout=WATCH_SECONDS)
            if done:
                return received.result()
            if time.monotonic() > deadline:
                raise LimitError(
                    f"stopped after {self.limits.seconds:g} s, the limit of this server", hint=child.LESS
                )
            assert worker.pid is not None
            if resident(worker.pid) > self.limits.memory:
                raise LimitError(
                    f"stopped at {self.limits.memory // MIB} MiB of memory, the limit of this server",
                    hint=child.LESS,
                )


def _received(pipe: Connection, most: int, early: Callable[..., object] | None) -> dict[str, Any]:
    """Return what a worker sends; JSON, because a hostile pickle would run here."""
    try:
        answer: dict[str, Any] = json.loads(pipe.recv_bytes(most))
        if early is not None and "early" in answer:
            early(answer["early"])
            answer = json.loads(pipe.recv_bytes(most))
    except (EOFError, OSError) as error:
        return {"crash": f"the worker died: {error!r}"}
    return answer
