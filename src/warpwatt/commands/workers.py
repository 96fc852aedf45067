"""Who does the points of a sweep: this process, several, or a dask cluster; and the bar that shows it."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from warpwatt.commands.options import group
from warpwatt.commands.progress import is_shown, show_bar
from warpwatt.core.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from warpwatt.sweep.rows import Row
    from warpwatt.sweep.sweep import Sweep

    Advance = Callable[[list[Row]], None]


@dataclass(frozen=True, slots=True)
class Workers:
    """Processes, or the address of a scheduler; None for one process per processor."""

    jobs: int | None = None
    dask: str | None = None

    def check(self) -> None:
        """Raise UsageError where both are given, ToolchainError where dask is missing."""
        if self.dask is None:
            return
        if self.jobs is not None:
            raise UsageError(
                "--jobs and --dask exclude each other", hint="the cluster's workers do the points"
            )
        from warpwatt.sweep.cluster import check

        check()

    @property
    def processes(self) -> int:
        """As asked for, else one per processor that this one may run on."""
        if self.jobs is not None:
            return self.jobs
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


workers_options = group(
    "workers",
    Workers,
    click.option(
        "--jobs", type=click.IntRange(1), metavar="N", help="Processes; default: one per processor."
    ),
    click.option(
        "--dask", metavar="ADDRESS", help="Workers of a dask scheduler (tcp://HOST:8786, or its file)."
    ),
)


def _batches(
    sweep: Sweep, workers: Workers, done: Container[int], journal: Path | None
) -> Generator[list[Row]]:
    if workers.dask is not None:
        from warpwatt.sweep.cluster import run_on_cluster

        yield from run_on_cluster(sweep, done, workers.dask)
    else:
        from warpwatt.sweep.pool import run_pooled

        yield from run_pooled(sweep, done, workers.processes, journal)


def run_all(
    sweep: Sweep,
    workers: Workers,
    done: Container[int],
    keep: Callable[[list[Row]], object],
    before: int = 0,
    journal: Path | None = None,
) -> None:
    """Hand every finished batch of rows to ``keep``; ``before`` points were done before.

    Processes append their rows to the file of the ``journal`` themselves.

    Raises
    ------
    ClusterError
        If the cluster cannot be used or was lost.
    """
    with progress(len(sweep), before) as advance, closing(_batches(sweep, workers, done, journal)) as batches:
        for batch in batches:
            keep(batch)
            advance(batch)


@contextmanager
def progress(total: int, before: int) -> Iterator[Advance]:
    """Yield a function that moves a bar on stderr on; there is a bar only on a terminal."""
    if not is_shown():
        yield lambda _: None
        return
    from rich import progress as bars

    columns = (
        bars.TextColumn("points"),
        bars.BarColumn(bar_width=None),
        bars.MofNCompleteColumn(),
        bars.TextColumn("{task.fields[rate]}"),
        bars.TextColumn("{task.fields[failed]}", style="red"),
        bars.TimeElapsedColumn(),
        bars.TextColumn("left"),
        bars.TimeRemainingColumn(),
    )
    with show_bar(*columns) as bar:
        task = bar.add_task("points", total=total, completed=before, rate="", failed="")
        failed = 0

        def advance(batch: list[Row]) -> None:
            nonlocal failed
            failed += sum(bool(row.error) for row in batch)
            bar.advance(task, len(batch))
            speed = bar.tasks[0].speed
            said = f"{speed:,.3g}/s" if speed and speed < 1000 else f"{speed:,.0f}/s" if speed else ""
            bar.update(task, rate=said, failed=f"{failed} without result" if failed else "")

        yield advance
