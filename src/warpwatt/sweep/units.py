"""Pieces of a sweep that one worker does in one go, made as they are needed."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.sweep.outcome import Outcome, with_outcome
from warpwatt.sweep.rows import Row
from warpwatt.sweep.run import evaluated, run_group

if TYPE_CHECKING:
    from warpwatt.frontend.compiled import Source
    from warpwatt.sweep.sweep import Group, Sweep

DIED = "the process working on it died, perhaps for lack of memory"
"""Why a row has no result whose unit kills whoever works on it."""
MOST_POINTS = 2_000
"""Points of one unit, about: what is handed out in one go."""
MOST_GROUPS = 16
"""Launches of one unit."""
PER_WORKER = 4
"""Units for each worker at least, so that the last ones end together."""


@dataclass(frozen=True, slots=True)
class Part:
    """Numbered points of one group."""

    group: Group
    numbers: tuple[int, ...]


Unit = tuple[Part, ...]
"""Parts that share a compiled kernel."""
Known = tuple[Row, Outcome | None]
"""A point and what the models say of it, None where it has no result."""


def units(sweep: Sweep, done: Container[int], workers: int) -> Iterator[Unit]:
    """Yield everything that is not done, in pieces for so many workers.

    Launches of one kernel stay together, and so do the points of a launch, which share what is emulated;
    where there are fewer launches than workers, points are split, since the others would have nothing to do.
    """
    parts = _parts(sweep, done)
    ahead = list(itertools.islice(parts, PER_WORKER * workers * MOST_GROUPS))
    parts = itertools.chain(ahead, parts)
    if len(ahead) < workers:
        parts = _split(parts, workers)
    together = max(1, len(ahead) // (PER_WORKER * workers))
    for _, alike in itertools.groupby(parts, lambda part: _kernel(sweep, part)):
        yield from _bundled(alike, together)


def work(sweep: Sweep, unit: Unit) -> Iterator[Row]:
    """Yield the rows of a unit."""
    for part in unit:
        yield from run_group(sweep, part.group, frozenset(part.numbers))


def with_draws(sweep: Sweep, unit: Unit) -> dict[int, Known]:
    """Return the points of a unit with what the models say of each, draws and all."""
    found = {}
    for part in unit:
        for row, outcome in evaluated(sweep, part.group, sweep.rows(part.group, frozenset(part.numbers))):
            found[row.number] = (row if outcome is None else with_outcome(row, outcome), outcome)
    return found


def given_up(sweep: Sweep, unit: Unit) -> list[Row]:
    """Return the rows of a unit that nobody survives."""
    rows = [row for part in unit for row in sweep.rows(part.group, frozenset(part.numbers))]
    return [replace(row, error=DIED) for row in rows]


def without(unit: Unit, numbers: Container[int]) -> Unit:
    """Return what is left of a unit without some points."""
    left = (
        replace(part, numbers=tuple(number for number in part.numbers if number not in numbers))
        for part in unit
    )
    return tuple(part for part in left if part.numbers)


def size(unit: Unit) -> int:
    """Return the points of a unit."""
    return sum(len(part.numbers) for part in unit)


def _parts(sweep: Sweep, done: Container[int]) -> Iterator[Part]:
    for group in sweep.groups():
        left = tuple(number for number, *_ in sweep.at(group) if number not in done)
        if left:
            yield Part(group, left)


def _split(parts: Iterator[Part], workers: int) -> Iterator[Part]:
    """Yield parts of parts, one for each worker."""
    for part in parts:
        step = -(-len(part.numbers) // workers)
        for at in range(0, len(part.numbers), step):
            yield Part(part.group, part.numbers[at : at + step])


def _kernel(sweep: Sweep, part: Part) -> tuple[int, Source, str]:
    group = part.group
    return group.configuration, sweep.tasks[group.launch].source, group.target


def _bundled(parts: Iterator[Part], together: int) -> Iterator[Unit]:
    bundle: list[Part] = []
    points = 0
    for part in parts:
        bundle.append(part)
        points += len(part.numbers)
        if len(bundle) >= together or points >= MOST_POINTS:
            yield tuple(bundle)
            bundle, points = [], 0
    if bundle:
        yield tuple(bundle)
