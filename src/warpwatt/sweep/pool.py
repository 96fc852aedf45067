"""A sweep on several processes; a process that dies costs the rows it was working on, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING

from warpwatt.sweep.units import given_up, units, with_draws, work
from warpwatt.workers.process import spawned

if TYPE_CHECKING:
    from concurrent.futures import Future

    from warpwatt.sweep.rows import Row
    from warpwatt.sweep.sweep import Sweep
    from warpwatt.sweep.units import Known, Unit

AHEAD = 2
"""Units handed out beyond those that are worked on, for each process: no worker waits, no queue grows."""


def run_pooled(sweep: Sweep, done: Container[int] = (), jobs: int = 1) -> Iterator[list[Row]]:
    """Yield the rows of a sweep in batches as they are finished, without those numbered in ``done``.

    Each of ``jobs`` processes takes one unit of points after the other. Where one dies, nobody knows which
    unit killed it: all that were handed out and are not finished are done again, each in a process of its
    own, and a unit whose process dies once more gets rows that say so; then the others go on. Scripts need
    the usual ``if __name__ == "__main__"``.
    """
    todo = units(sweep, done, jobs)
    first = list(islice(todo, 2))
    if jobs <= 1 or len(first) <= 1:
        yield from ([row] for unit in chain(first, todo) for row in work(sweep, unit))
        return
    todo = chain(first, todo)
    while True:
        handed_out: dict[int, Unit] = {}
        try:
            yield from _together(sweep, todo, handed_out, jobs)
        except BrokenProcessPool:
            for unit in handed_out.values():
                yield _alone(sweep, unit)
        else:
            return


def _together(
    sweep: Sweep, todo: Iterator[Unit], handed_out: dict[int, Unit], jobs: int
) -> Iterator[list[Row]]:
    """Yield the rows of one unit after the other; ``handed_out`` holds those that are not finished."""
    numbered = enumerate(todo)
    with spawned(jobs, _take, sweep) as executor:
        waiting: dict[Future[list[Row]], int] = {}
        while True:
            for number, unit in islice(numbered, jobs * (1 + AHEAD) - len(waiting)):
                handed_out[number] = unit
                waiting[executor.submit(_rows, unit)] = number
            if not waiting:
                return
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                rows = future.result()
                del handed_out[waiting.pop(future)]
                yield rows


def _alone(sweep: Sweep, unit: Unit) -> list[Row]:
    try:
        with spawned(1, _take, sweep) as executor:
            return executor.submit(_rows, unit).result()
    except BrokenProcessPool:
        return given_up(sweep, unit)


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


def _rows(unit: Unit) -> list[Row]:
    return list(work(_given[0], unit))


def _outcomes(unit: Unit) -> dict[int, Known]:
    return with_draws(_given[0], unit)
