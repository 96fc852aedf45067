"""The analysing process: takes one job at a time from a pipe and answers through it.

It may be killed at any moment; what it has found out that is worth keeping lies in the cache.
"""

from __future__ import annotations

import gc
import os
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from warpwatt.core.garbage import give_back
from warpwatt.server.lsp.facts import Answer, Done, Page, Problem, Result
from warpwatt.workers.family import resident
from warpwatt.workers.process import end_with_parent

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from warpwatt.server.lsp.facts import Job

GARBAGE_THRESHOLD = 200_000
MOST_BYTES = 2**29
"""Memory held from which on a job is followed by a look for what is no longer used."""
NICENESS = 5
"""Editors come first."""


def main(connection: Connection[Any, Any]) -> None:
    """Serve jobs until the other end is closed."""
    from warpwatt.server.lsp.warm import silence

    silence()
    with suppress(OSError, AttributeError):
        os.nice(NICENESS)
    end_with_parent()
    gc.freeze()  # what was loaded before stays shared with the other processes
    gc.set_threshold(GARBAGE_THRESHOLD)
    while True:
        try:
            job: Job | None = connection.recv()
        except (EOFError, OSError):
            return
        if job is not None:
            _do(job, connection)
            with suppress(OSError):
                connection.send(Done(job.number))
            if resident(os.getpid()) > MOST_BYTES:
                give_back()


def _do(job: Job, connection: Connection[Any, Any]) -> None:
    """Do one job; a message that arrives meanwhile means: stop."""
    from warpwatt.server.lsp.analysis import Analysis, CancelledError
    from warpwatt.server.lsp.page import make_page

    try:
        if job.report:
            make_page(job, connection.send, connection.poll)
        else:
            Analysis(job, connection.send, connection.poll).run()
    except CancelledError:
        return
    except Exception as error:  # noqa: BLE001 - a bug in a model must not take the editor's server with it
        traceback.print_exc()
        text = f"{type(error).__name__}: {error} (a bug of WarpWatt; the server's log has the traceback)"
        if job.report:
            connection.send(Page(job.number, problem=text))
        else:
            answer = Answer(job.launches, problems=(Problem("internal", text),))
            connection.send(Result(job.number, answer))
