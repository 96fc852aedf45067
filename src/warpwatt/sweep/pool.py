"""A sweep on several processes: rows arrive one by one, and a process that dies costs the row it was at.

Each worker has a pipe of its own, so that none can hold up another, and what it has sent is read even after
it was killed. Into a journal (:mod:`~warpwatt.sweep.journal`) it writes by itself.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from itertools import chain, islice
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from warpwatt.storage.witness import witnessed
from warpwatt.sweep.journal import append
from warpwatt.sweep.units import given_up, units, with_draws, without, work
from warpwatt.workers.process import (
    ChildProcess,
    begin_work,
    interrupts_blocked,
    interrupts_deferred,
    spawned,
)

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from pathlib import Path

    from warpwatt.sweep.rows import Row
    from warpwatt.sweep.sweep import Sweep
    from warpwatt.sweep.units import Known, Unit


def run_pooled(
    sweep: Sweep, done: Container[int] = (), jobs: int = 1, journal: Path | None = None
) -> Iterator[list[Row]]:
    """Yield the rows of a sweep in batches as they are finished, without those numbered in ``done``.

    Where there is a ``journal``, processes other than this one append their rows to that file, too.

    Each of ``jobs`` processes takes one unit of points after the other. Where one dies, another does what is
    left of its unit; where that one dies before its first row, the rows that are left say so. After Ctrl-C,
    rows that are finished still come, then KeyboardInterrupt. Scripts need the usual
    ``if __name__ == "__main__"``.
    """
    todo = units(sweep, done, jobs)
    first = list(islice(todo, 2))
    if jobs <= 1 or len(first) <= 1:
        for row in (row for unit in chain(first, todo) for row in work(sweep, unit)):
            with interrupts_deferred():
                yield [row]
        return
    crew = _Crew(sweep, journal, chain(first, todo), jobs)
    try:
        yield from crew.rows()
    except KeyboardInterrupt:
        with interrupts_deferred():
            yield crew.last_rows()
        raise
    finally:
        crew.end()


class _Crew:
    """Workers that share the units of a sweep."""

    def __init__(self, sweep: Sweep, journal: Path | None, todo: Iterator[Unit], jobs: int) -> None:
        self._sweep, self._journal, self._todo = sweep, journal, todo
        self._workers = [self._worker(unit) for unit in islice(todo, jobs)]

    def rows(self) -> Iterator[list[Row]]:
        """Yield rows as workers send them, until all units are done."""
        while self._workers:
            ready = wait([worker.connection for worker in self._workers])
            for worker in [worker for worker in self._workers if worker.connection in ready]:
                with interrupts_deferred():
                    if rows := self._heard(worker):
                        yield rows

    def last_rows(self) -> list[Row]:
        """End the workers and return what they had sent."""
        for worker in self._workers:
            worker.kill()
        return [row for worker in self._workers for row in worker.sent()]

    def end(self) -> None:
        """End the workers."""
        for worker in self._workers:
            worker.end()

    def _heard(self, worker: _Worker) -> list[Row]:
        """Return what a worker has sent; find more work for it, or somebody else where it died."""
        try:
            row = worker.receive()
        except (EOFError, OSError):
            self._dismiss(worker)
            return self._after_death(worker)
        if row is not None:
            return [row]
        if (unit := next(self._todo, None)) is not None:
            worker.take(unit)
        else:
            self._dismiss(worker)
        return []

    def _after_death(self, dead: _Worker) -> list[Row]:
        """Have another do what a worker has left; return rows that say so where that is in vain."""
        if dead.in_vain:
            self._workers += [self._worker(unit) for unit in islice(self._todo, 1)]
            return given_up(self._sweep, dead.left)
        if dead.left:
            self._workers.append(self._worker(dead.left, again=True))
        return []

    def _worker(self, unit: Unit, *, again: bool = False) -> _Worker:
        return _Worker(self._sweep, self._journal, unit, again=again)

    def _dismiss(self, worker: _Worker) -> None:
        worker.end()
        self._workers.remove(worker)


class _Worker:
    """A process that does units of a sweep and sends each row when it is finished.

    Parameters
    ----------
    again
        Whether a process has died of this unit.
    """

    def __init__(self, sweep: Sweep, journal: Path | None, unit: Unit, *, again: bool = False) -> None:
        self._process = ChildProcess(multiprocessing.get_context("spawn"), _work_for, sweep, journal)
        with interrupts_blocked():
            self._process.start()
        self.connection = self._process.connection
        self.take(unit, again=again)

    def take(self, unit: Unit, *, again: bool = False) -> None:
        """Give it a unit; it has nothing else to do."""
        self._unit, self._again = unit, again
        self._finished: set[int] = set()
        with suppress(OSError):  # it died, which the next to receive from it hears
            self.connection.send(unit)

    @property
    def left(self) -> Unit:
        """What it has not sent of its unit."""
        return without(self._unit, self._finished)

    @property
    def in_vain(self) -> bool:
        """Whether it was not the first at its unit, and has sent nothing of it."""
        return self._again and not self._finished

    def receive(self) -> Row | None:
        """Return the next row, None at the end of the unit; raise EOFError or OSError where it died."""
        row: Row | None = self.connection.recv()
        if row is not None:
            self._finished.add(row.number)
        return row

    def sent(self) -> Iterator[Row]:
        """Yield what it had sent before it was killed."""
        with suppress(EOFError, OSError):
            while True:
                if (row := self.receive()) is not None:
                    yield row

    def kill(self) -> None:
        """Kill it; what it has sent can still be read."""
        self._process.kill()

    def end(self) -> None:
        """Kill it, and let its pipe go."""
        self._process.end()


def _work_for(connection: Connection[Any, Any], sweep: Sweep, journal: Path | None) -> None:
    """Do one unit after the other, as long as there is somebody to send rows to."""
    begin_work()
    with suppress(EOFError, OSError), witnessed() as heard:
        while True:
            for row in work(sweep, connection.recv()):
                if journal is not None:
                    with suppress(OSError):  # who gets the row cannot write it either, and says so
                        append(journal, row, heard)
                connection.send(row)
            connection.send(None)


def outcomes(
    sweep: Sweep, numbers: Container[int], jobs: int = 1, notify: Callable[[Sequence[Known]], object] = len
) -> dict[int, Known]:
    """Return numbered points with their draws, by number; rows without a result say why.

    ``notify`` hears of every batch that is done. Where a process dies this one does what is left.
    """
    todo = list(units(sweep, _Others(numbers), jobs))
    known: dict[int, Known] = {}

    def take(found: dict[int, Known]) -> None:
        known.update(found)
        notify(list(found.values()))

    if jobs > 1 and len(todo) > 1:
        with suppress(BrokenProcessPool), spawned(min(jobs, len(todo)), _take, sweep) as executor:
            for future in as_completed([executor.submit(_outcomes, unit) for unit in todo]):
                take(future.result())
    for unit in todo:
        if unit[0].numbers[0] not in known:
            take(with_draws(sweep, unit))
    return known


class _Others(Container[int]):
    """Every number but some."""

    def __init__(self, numbers: Container[int]) -> None:
        self._numbers = numbers

    def __contains__(self, number: object) -> bool:
        return number not in self._numbers


_given: list[Sweep] = []
"""The sweep that this worker works on, sent once."""


def _take(sweep: Sweep) -> None:
    _given[:] = [sweep]


def _outcomes(unit: Unit) -> dict[int, Known]:
    return with_draws(_given[0], unit)
