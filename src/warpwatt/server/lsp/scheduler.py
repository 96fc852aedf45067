"""What is analysed when: the newest text of each document, the one that was asked for last first.

A job whose text is out of date is asked to stop and, if it does not do so at once, its process is killed.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.server.lsp.engine import Engine
from warpwatt.server.lsp.facts import Answer, Done, Page, Problem, Progress, Result

if TYPE_CHECKING:
    from warpwatt.server.lsp.facts import Job, Message

logger = logging.getLogger(__name__)

GRACE_SECONDS = 0.05
"""Time a process has to stop by itself."""
LIMIT_SECONDS = 300.0
"""Time a job may take."""
PATIENCE_SECONDS = 2.0
"""Time after which a job gives way to that of another document."""
ATTEMPTS = 2
"""How often a job is tried whose process ends by itself."""


@dataclass(slots=True)
class Request:
    """A job for a document (or a report of it), and who hears of it. ``version`` is the caller's own."""

    owner: str
    version: int
    job: Job
    on_answer: Callable[[Request, Answer], None]
    on_progress: Callable[[Request, Progress], None]
    on_page: Callable[[Request, Page], None]
    on_end: Callable[[Request], None]
    """Called once, whatever becomes of it."""
    attempts: int = 0
    started: float = 0.0
    answered: bool = False
    """Whether what is left of it is at most advice."""
    finished: bool = False
    """Whether nothing is left of it: only the process has not said so yet."""


class Scheduler:
    """Requests on their way through one engine."""

    def __init__(self) -> None:
        self._engine = Engine(self._heard, self._died)
        self._waiting: list[Request] = []
        self._running: Request | None = None
        self._numbers = itertools.count(1)
        self._timers: list[asyncio.TimerHandle] = []
        self._stopping = False
        self._closed = False
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def pid(self) -> int | None:
        """The analysing process."""
        return self._engine.pid

    def warm(self) -> None:
        """Start the process before somebody needs it."""
        self._spawn()

    def submit(self, request: Request) -> None:
        """Take a request in place of any other of the same owner, before those of others."""
        self.cancel(request.owner)
        request.job = replace(request.job, number=next(self._numbers))
        self._waiting.append(request)
        self._make_way()
        self._pump()

    def _make_way(self) -> None:
        """Put the running job back where only advice is left of it, or where it has run for long."""
        running = self._running
        if running is None:
            return
        age = asyncio.get_running_loop().time() - running.started
        if (running.answered and not running.finished) or age > PATIENCE_SECONDS:
            running.answered = False
            self._stop()
            self._waiting.insert(0, running)

    def cancel(self, owner: str) -> None:
        """Drop what an owner has asked for."""
        for request in [r for r in self._waiting if r.owner == owner]:
            self._waiting.remove(request)
            request.on_end(request)
        if self._running is not None and self._running.owner == owner:
            request = self._running
            self._stop()
            request.on_end(request)

    def _stop(self) -> None:
        """Ask the running job to stop, and see to it that it does."""
        finished = self._running is not None and self._running.finished
        self._running = None
        self._clear_timers()
        self._stopping = True
        self._engine.send(None)
        self._later(LIMIT_SECONDS if finished else GRACE_SECONDS, self._kill)

    def _kill(self) -> None:
        self._clear_timers()
        self._stopping = False
        self._engine.kill()
        self._pump()

    def _pump(self) -> None:
        """Give the process the next job if it is free."""
        if self._closed or self._running is not None or self._stopping:
            return
        if not self._engine.ready:
            self._spawn()
        elif self._waiting:
            self._running = request = self._waiting.pop()
            request.started = asyncio.get_running_loop().time()
            self._later(LIMIT_SECONDS, self._too_long)
            self._engine.send(request.job)

    def _spawn(self) -> None:
        task = asyncio.get_running_loop().create_task(self._start())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _start(self) -> None:
        try:
            await self._engine.start()
        except (OSError, EOFError) as error:
            self._fail_all(f"the analysing process does not start: {error}")
        else:
            self._pump()

    def _fail_all(self, reason: str) -> None:
        for request in self._waiting:
            self._fail(request, reason)
        self._waiting.clear()

    def _fail(self, request: Request, reason: str) -> None:
        if request.job.report:
            request.on_page(request, Page(request.job.number, problem=reason))
        elif not request.answered:
            problem = Problem("internal", reason)
            request.on_answer(request, Answer(request.job.launches, problems=(problem,)))
        request.on_end(request)

    def _too_long(self) -> None:
        request, self._running = self._running, None
        self._kill()
        if request is not None:
            self._fail(request, f"not finished within {LIMIT_SECONDS:g} s: a smaller grid may do")

    def _heard(self, message: Message) -> None:
        """Pass a message on to whom it concerns; those of jobs that were stopped end here."""
        request = self._running
        current = request is not None and request.job.number == message.number
        if isinstance(message, Done):
            if self._stopping or current:
                self._finished()
        elif request is None or not current:
            return
        elif isinstance(message, Result):
            answer = message.answer
            request.answered = answer.complete
            more = request.job.query.advice and not answer.advised and not answer.problems
            request.finished = answer.complete and not more
            request.on_answer(request, message.answer)
        elif isinstance(message, Page):
            request.on_page(request, message)
        else:
            request.on_progress(request, message)

    def _finished(self) -> None:
        request, self._running = self._running, None
        self._clear_timers()
        self._stopping = False
        if request is not None:
            request.on_end(request)
        self._pump()

    def _died(self) -> None:
        """Try again what the process was doing; twice the same end is the job's own."""
        request, self._running = self._running, None
        self._clear_timers()
        self._stopping = False
        if not self._closed:
            self._spawn()
        if request is None:
            return
        request.attempts += 1
        if request.attempts < ATTEMPTS:
            self._waiting.append(request)
        else:
            self._fail(request, "the analysing process ended unexpectedly, twice")

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        self._timers.append(asyncio.get_running_loop().call_later(seconds, call))

    def _clear_timers(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    def kill(self) -> None:
        """End the process; nobody hears of anything any more."""
        self._closed = True
        self._clear_timers()
        self._waiting.clear()
        self._running = None
        self._engine.kill()
