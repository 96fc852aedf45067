"""A campaign: many points, the most valuable first, within a budget of time, resumable."""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from warpwatt.core.errors import WarpWattError
from warpwatt.lab.measure.device import DeviceLostError
from warpwatt.lab.measure.protocol import Status

if TYPE_CHECKING:
    from warpwatt.lab.measure.bench import Bench, Point
    from warpwatt.lab.measure.instance import Job
    from warpwatt.lab.measure.results import Group, Store
    from warpwatt.lab.measure.supply import Supply

SAFETY = 1.3
"""Factor on what a point is expected to take."""


class Watcher(Protocol):
    """Who follows how a campaign goes."""

    def start(self, count: int, files: Store) -> None:
        """Note how many points there are to measure, and into which files."""

    def begin(self, point: Point, groups: list[Group], limit: float) -> None:
        """Note a point that begins: ``groups`` are to be written if it does not end in ``limit`` seconds."""

    def end(self, point: Point, status: str) -> None:
        """Note that the point's rows are on disk, and its worst status."""


class Unwatched:
    """Nobody."""

    def start(self, count: int, files: Store) -> None:
        """Do nothing."""

    def begin(self, point: Point, groups: list[Group], limit: float) -> None:
        """Do nothing."""

    def end(self, point: Point, status: str) -> None:
        """Do nothing."""


@dataclass(slots=True)
class Estimates:
    """How long points take, learned while they are measured."""

    seen: dict[str, deque[float]] = field(default_factory=dict)

    def note(self, point: Point, seconds: float) -> None:
        """Remember what a point took."""
        self.seen.setdefault(point.kind, deque(maxlen=8)).append(seconds)

    def seconds(self, point: Point) -> float:
        """Return what a point will take at most, most likely: the longest of the last eight of its kind."""
        return SAFETY * max(self.seen.get(point.kind, (point.guess,)))


@dataclass(slots=True)
class Outcome:
    """What a campaign did: points by status, how many are left, and why it ended.

    ``unprepared`` points were left out, because what they run is not in the prepared folder.
    """

    statuses: Counter[str] = field(default_factory=Counter)
    left: int = 0
    seconds: float = 0.0
    out_of_time: bool = False
    unprepared: int = 0

    def __str__(self) -> str:
        """Return one line.

        >>> str(Outcome(Counter(ok=3, wrong=1), left=2, seconds=61.3, out_of_time=True))
        '4 points in 61 s (3 ok, 1 wrong), 2 left: out of time'
        """
        parts = ", ".join(f"{count} {status}" for status, count in sorted(self.statuses.items()))
        text = f"{self.statuses.total()} points in {self.seconds:.0f} s" + (f" ({parts})" if parts else "")
        text += f", {self.left} left" + (": out of time" if self.out_of_time else "")
        return text + (f"; {self.unprepared} not prepared" if self.unprepared else "")


def plan(points: Iterable[Point], seed: int) -> list[Point]:
    """Return points by rank; those of one rank in an order that depends on the seed alone."""
    chosen = sorted(points, key=lambda point: point.label)
    random.Random(seed).shuffle(chosen)  # noqa: S311 - an order, no secret
    return sorted(chosen, key=lambda point: point.rank)


@dataclass(slots=True)
class Campaign:
    """Measures points and writes their rows."""

    bench: Bench
    files: Store
    supply: Supply
    watcher: Watcher = field(default_factory=Unwatched)
    estimates: Estimates = field(default_factory=Estimates)

    def run(self, planned: list[Point], budget: float | None = None, started: float | None = None) -> Outcome:
        """Measure what is not in the files yet, as far as the budget goes.

        Parameters
        ----------
        budget
            Seconds on the device's clock; no point is begun that would probably overrun it. None: no end.
        started
            When the budget began to run; None: now.

        Raises
        ------
        DeviceLostError
            If the device is gone; the point in progress has no rows yet.
        InputError
            If rows cannot be written.
        """
        clock = self.bench.device.clock
        started = clock.now() if started is None else started
        pending = [point for point in planned if point.is_pending(self.files)]
        outcome = Outcome(left=len(pending))
        self.watcher.start(len(pending), self.files)

        def remaining() -> float | None:
            return None if budget is None else budget - (clock.now() - started)

        for index, job in self.supply.jobs([point.order for point in pending], remaining):
            point, time_left = pending[index], remaining()
            if time_left is not None and self.estimates.seconds(point) > time_left:
                break
            begun = clock.now()
            outcome.statuses[self._measure(point, job)] += 1
            outcome.left -= 1
            self.estimates.note(point, clock.now() - begun)
        outcome.out_of_time = outcome.left > 0
        outcome.seconds = clock.now() - started
        return outcome

    def _measure(self, point: Point, job: Job | WarpWattError | None) -> str:
        """Measure one point and write its rows; return its worst status."""
        lost = point.without_figures(self.bench, self.files, Status.HUNG, "")
        settings = self.bench.settings
        limit = max(settings.hang, settings.patience * self.estimates.seconds(point))
        self.watcher.begin(point, lost, limit)
        statuses = []
        for group in self._groups(point, job):
            self.files.add(group)
            statuses += [str(row["status"]) for row in group.rows]
        worst = next((status for status in statuses if status != Status.OK), Status.OK.value)
        self.watcher.end(point, worst)
        return worst

    def _groups(self, point: Point, job: Job | WarpWattError | None) -> Iterator[Group]:
        try:
            if isinstance(job, WarpWattError):
                raise job
            yield from point.measure(self.bench, self.files, job)
        except DeviceLostError:
            raise
        except WarpWattError as error:
            yield from point.without_figures(self.bench, self.files, Status.FAILED, str(error))
