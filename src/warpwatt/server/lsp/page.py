"""The report of a document's launches as a page."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import UsageError, WarpWattError
from warpwatt.core.prediction import Prediction
from warpwatt.render.context import Context
from warpwatt.render.html import render
from warpwatt.server.lsp.analysis import CancelledError, in_folder_of
from warpwatt.server.lsp.facts import Page, Progress
from warpwatt.server.lsp.module import session_of

if TYPE_CHECKING:
    from warpwatt.server.lsp.analysis import Notify
    from warpwatt.server.lsp.facts import Job


def make_page(job: Job, notify: Notify, cancelled: Callable[[], bool]) -> None:
    """Render the page into the folder ``job.report`` and tell its name, or why there is none."""
    try:
        with in_folder_of(job.path):
            found = list(_predictions(job, notify, cancelled))
        notify(Page(job.number, file=_written(job, found)))
    except WarpWattError as error:
        hint = f" ({error.hint})" if error.hint else ""
        notify(Page(job.number, problem=f"{error.message}{hint}"))


def _predictions(job: Job, notify: Notify, cancelled: Callable[[], bool]) -> Iterator[Prediction]:
    if not job.launches:
        raise UsageError("no launch is known", hint="write a // warpwatt: --grid X --block X line")
    session = session_of(job.path, job.text, job.query, report=True)
    for number, words in enumerate(job.launches):
        if cancelled():
            raise CancelledError
        notify(Progress(job.number, f"report: {words.kernel or 'kernel'}", number / len(job.launches)))
        yield from session.run(words)


def _written(job: Job, predictions: list[Prediction]) -> str:
    """Write the page and return its file."""
    toolkits = dict.fromkeys(p.case.kernel.toolkit for p in predictions if p.case.kernel.toolkit)
    context = Context(
        command=f"warpwatt predict {job.path}",
        toolkits={"CUDA": ", ".join(toolkits)},
        sources={job.path: job.text},
    )
    text = render(predictions, context)
    stem = Path(job.path).stem or "report"
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=job.report, prefix=f"{stem}-", suffix=".html", delete=False
    ) as file:
        file.write(text)
    return file.name
