"""A sweep on several processes; a process that dies costs the rows it was working on, nothing else."""

from __future__ import annotations

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.advise.run import run, run_group

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from warpwatt.advise.rows import Row
    from warpwatt.advise.sweep import Group, Sweep

DIED = "the process working on it died, perhaps for lack of memory"


def run_pooled(sweep: Sweep, done: Collection[int] = (), jobs: int = 1) -> Iterator[list[Row]]:
    """Yield the rows of a sweep in batches as they are finished, without those numbered in ``done``.

    Each of ``jobs`` processes takes one group of points after the other. Where one dies, nobody knows which
    group killed it: all unfinished ones are done again, each in a process of its own, and a group whose
    process dies once more gets rows that say so. Scripts need the usual ``if __name__ == "__main__"``.
    """
    left = [group for group in sweep.groups() if _unfinished(sweep, group, done)]
    if jobs <= 1 or len(left) <= 1:
        yield from ([row] for row in run(sweep, done))
        return
    finished: set[Group] = set()
    try:
        for group, rows in _together(sweep, left, done, min(jobs, len(left))):
            finished.add(group)
            yield rows
    except BrokenProcessPool:
        for group in left:
            if group not in finished:
                yield _alone(sweep, group, done)


def _together(
    sweep: Sweep, groups: Sequence[Group], done: Collection[int], jobs: int
) -> Iterator[tuple[Group, list[Row]]]:
    with _executor(jobs) as executor:
        futures = {executor.submit(_rows, sweep, group, frozenset(done)): group for group in groups}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            executor.shutdown(wait=False, cancel_futures=True)


def _alone(sweep: Sweep, group: Group, done: Collection[int]) -> list[Row]:
    with _executor(1) as executor:
        try:
            return executor.submit(_rows, sweep, group, frozenset(done)).result()
        except BrokenProcessPool:
            return [replace(row, error=DIED) for row in _unfinished(sweep, group, done)]


def _executor(jobs: int) -> ProcessPoolExecutor:
    # A fresh interpreter each: a fork would copy locks that threads of this process may hold.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_end_with_parent)


def _end_with_parent() -> None:
    """Let this worker end when the process that started it is killed; it would wait for work for ever."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _rows(sweep: Sweep, group: Group, done: Collection[int]) -> list[Row]:
    return list(run_group(sweep, group, done))


def _unfinished(sweep: Sweep, group: Group, done: Collection[int]) -> list[Row]:
    """Return the rows of a group that are not done, still without results."""
    return [row for row in sweep.rows(group) if row.number not in done]
