"""Runs a campaign in a process of its own, so that no kernel can take the campaign down with it.

A kernel that accesses what it must not makes the driver useless to its process; one that never ends blocks
it. The child says what it begins; if it dies or takes far too long, the supervisor ends it, writes the rows
the child left for that case, and starts another child for the rest.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import DeviceError, WarpWattError
from warpwatt.lab.measure.campaign import Outcome, Unwatched
from warpwatt.lab.measure.device import DeviceLostError
from warpwatt.lab.measure.protocol import Status
from warpwatt.lab.measure.runner import Options, run
from warpwatt.lab.measure.supply import scratch_folder
from warpwatt.workers.process import ChildProcess, end_with_parent

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from warpwatt.lab.measure.bench import Point
    from warpwatt.lab.measure.campaign import Watcher
    from warpwatt.lab.measure.results import Group, Store

MAX_LOSSES = 20
"""This many points that lose the device or hang end a campaign: something is wrong with the machine."""


GRACE_SECONDS = 45.0
"""A point that is still running so long after the budget is over hangs, too."""


@dataclass(frozen=True, slots=True)
class Started:
    """Message: ``count`` points are to be measured into these files."""

    count: int
    files: Store


@dataclass(frozen=True, slots=True)
class Begun:
    """Message: a point begins; ``groups`` are to be written if it does not end within ``limit`` seconds."""

    point: Point
    groups: list[Group]
    limit: float


@dataclass(frozen=True, slots=True)
class Ended:
    """Message: the point's rows are on disk."""

    status: str


Message = Started | Begun | Ended | Outcome | WarpWattError


@dataclass(frozen=True, slots=True)
class _PipeWatcher:
    """The child's watcher: sends what happens to the supervisor."""

    connection: Connection

    def start(self, count: int, files: Store) -> None:
        self.connection.send(Started(count, files.unopened()))

    def begin(self, point: Point, groups: list[Group], limit: float) -> None:
        self.connection.send(Begun(point, groups, limit))

    def end(self, point: Point, status: str) -> None:
        del point
        self.connection.send(Ended(status))


def _child(connection: Connection, options: Options) -> None:
    """Run a campaign and send how it ended."""
    end_with_parent()
    try:
        connection.send(run(options, _PipeWatcher(connection)))
    except WarpWattError as error:
        connection.send(error)


@dataclass(slots=True)
class _Supervision:
    """What is known of the children, above all of the present one."""

    watcher: Watcher
    total: Outcome = field(default_factory=Outcome)
    losses: int = 0
    files: Store | None = None
    begun: Begun | None = None
    outcome: Outcome | None = None
    error: WarpWattError | None = None

    def receive(self, message: Message) -> None:
        """Take a message in."""
        match message:
            case Started():
                if self.files is None:
                    self.watcher.start(message.count, message.files)
                self.files = message.files
            case Begun():
                self.begun = message
                self.watcher.begin(message.point, message.groups, message.limit)
            case Ended():
                self._end(message.status)
            case Outcome():
                self.outcome = message
            case WarpWattError():
                self.error = message

    def _end(self, status: str) -> None:
        assert self.begun is not None
        self.total.statuses[status] += 1
        self.watcher.end(self.begun.point, status)
        self.begun = None

    def record_loss(self, *, hung: bool) -> None:
        """Write the rows of the point that the child did not end.

        Raises
        ------
        WarpWattError
            What the child raised, if no point caused it.
        """
        error, self.error = self.error, None
        if self.begun is None or (error is not None and not isinstance(error, DeviceLostError)):
            raise error or DeviceError("the measuring process died before its first point")
        assert self.files is not None
        status = Status.HUNG if hung else Status.FAILED
        note = "killed: it did not end" if hung else str(error or "the process died")
        with self.files.unopened() as files:
            for group in self.begun.groups:
                rows = tuple({**row, "status": status.value, "note": note} for row in group.rows)
                if not files.contains(group):
                    files.add(replace(group, rows=rows))
        self.losses += 1
        self._end(status.value)


def supervise(options: Options, watcher: Watcher | None = None) -> Outcome:
    """Measure as :func:`~warpwatt.lab.measure.runner.run` does, in child processes.

    Raises
    ------
    DeviceError
        If there is no device, if it fails while no point runs, or if too many points lose it.
    WarpWattError
        As :func:`~warpwatt.lab.measure.runner.run`.
    """
    started, state = time.monotonic(), _Supervision(watcher or Unwatched())
    with scratch_folder() as folder:
        while state.outcome is None:
            spent = time.monotonic() - started
            budget = None if options.budget is None else options.budget - spent
            redo = options.redo if state.files is None else ()  # the rows of lost points must stay
            hung = _run_child(replace(options, budget=budget, redo=redo, scratch=Path(folder)), state)
            if state.outcome is None:
                state.record_loss(hung=hung)
            if state.losses >= MAX_LOSSES:
                raise DeviceError(f"{state.losses} points lost the device or hung: look at the machine")
    last = state.outcome
    return replace(last, statuses=state.total.statuses, seconds=time.monotonic() - started)


def _timeout(state: _Supervision, end: float | None) -> float | None:
    """Return how many seconds the child may be silent; None: while no point runs, for ever."""
    if state.begun is None:
        return None
    return state.begun.limit if end is None else max(0.0, min(state.begun.limit, end - time.monotonic()))


def _run_child(options: Options, state: _Supervision) -> bool:
    """Run one child to its end, listening to it; return whether a point hung and the child was killed."""
    end = None if options.budget is None else time.monotonic() + options.budget + GRACE_SECONDS
    context = get_context("spawn")  # a fork would share the driver's state
    child = ChildProcess(context, _child, options, daemon=False)  # it has workers of its own
    child.start()
    try:
        while child.connection.poll(_timeout(state, end)):
            state.receive(child.connection.recv())
    except EOFError:
        return False
    else:
        return True
    finally:
        child.end(None)
