"""How one point is measured. Raise ``VERSION`` whenever a figure would mean something else.

A run whose board was throttled, or whose figures scatter, is rejected and repeated; the last one is kept
with its status.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeVar

from warpwatt.lab.measure import timing
from warpwatt.lab.measure.device import State
from warpwatt.lab.measure.statistics import Summary

if TYPE_CHECKING:
    from warpwatt.lab.measure.device import Device
    from warpwatt.lab.measure.instance import Instance

VERSION = 1
BENIGN = frozenset({"gpu_idle", "applications_clocks_setting", "display_clock_setting"})
"""Throttle reasons that are no throttling: nothing to do, or the user's own setting."""
POWER_CAP = "sw_power_cap"


class Status(StrEnum):
    """What became of a point."""

    OK = "ok"
    WRONG = "wrong"
    """The result is not the reference's; nothing was timed."""
    THROTTLED = "throttled"
    """The board held its clocks back in every attempt."""
    CAPPED = "capped"
    """The power limit holds the clocks back: the power protocol's steady state, not repeated."""
    UNSTEADY = "unsteady"
    """Figures scattered, or the clock changed, in every attempt."""
    SENSOR = "sensor"
    """No power sensor gave a usable figure."""
    FAILED = "failed"
    """The program, its inputs or the device refused; the note says why."""
    HUNG = "hung"
    """It did not end in time and was killed."""


_RETRIED = (Status.THROTTLED, Status.UNSTEADY)


@dataclass(frozen=True, slots=True)
class Settings:
    """The numbers of the protocol.

    Attributes
    ----------
    repeats
        Timed runs of each point; at least 32.
    retries
        How often a rejected run is repeated.
    warm_up, warm_up_limit
        Seconds that a program runs before it is timed: at least, and at most until the clock is steady.
    spread, resolution
        A timing is unsteady where its interquartile range exceeds both ``spread`` times the median and
        ``resolution`` seconds.
    clock_change
        A run is unsteady where the SM clock changed by more than this fraction.
    batch_below
        Launches shorter than this are also timed in batches.
    rise, power_seconds
        Seconds discarded at the start of a power run, and measured after it.
    drift
        A power run is unsteady where its first and second half differ by more than this fraction.
    pause
        Seconds to wait before a rejected run is repeated.
    hang, patience
        A point hangs that takes longer than ``hang`` seconds and than ``patience`` times what is expected.
    """

    repeats: int = 32
    retries: int = 3
    warm_up: float = 0.05
    warm_up_limit: float = 1.0
    spread: float = 0.05
    resolution: float = 0.5e-6
    clock_change: float = 0.02
    batch_below: float = 50e-6
    rise: float = 1.0
    power_seconds: float = 2.0
    drift: float = 0.03
    pause: float = 0.2
    hang: float = 90.0
    patience: float = 10.0


@dataclass(frozen=True, slots=True)
class Conditions:
    """The board right before and right after a run, both while it was busy or just had been."""

    before: State = field(default_factory=State)
    after: State = field(default_factory=State)

    @property
    def throttle(self) -> tuple[str, ...]:
        """Reasons that held clocks back, by name."""
        return tuple(sorted({*self.before.throttle, *self.after.throttle} - BENIGN))

    def clock_change(self) -> float:
        """Return by which fraction the SM clock changed; 0 where it is not known."""
        first, last = self.before.sm_clock, self.after.sm_clock
        return abs(last - first) / first if first and last else 0.0


@dataclass(frozen=True, slots=True)
class TimeRun:
    """Times of one run: one summary for each launch; ``batch`` in seconds per launch or None."""

    status: Status
    launches: tuple[Summary, ...]
    batch: float | None
    conditions: Conditions


class Mode(StrEnum):
    """The two time protocols; the values name their files."""

    COLD = "time_cold"
    WARM = "time_warm"


def measure_time(
    watch: timing.Stopwatch, instance: Instance, mode: Mode, settings: Settings
) -> tuple[TimeRun, int]:
    """Time every launch of a checked instance; return the accepted or last run, and how many were made."""
    return retry_rejected(watch.device, settings, lambda: _time_once(watch, instance, mode, settings))


def _time_once(watch: timing.Stopwatch, instance: Instance, mode: Mode, settings: Settings) -> TimeRun:
    once = timing.time_cold if mode is Mode.COLD else timing.time_warm
    before = warm_up(watch.device, instance, settings)
    runs = [once(watch, instance) for _ in range(settings.repeats)]
    after = watch.device.sensors.state()
    launches = tuple(Summary.of(times) for times in zip(*runs, strict=True))
    conditions = Conditions(before, after)
    steady = conditions.clock_change() <= settings.clock_change and all(
        one.interquartile <= max(settings.spread * one.median, settings.resolution) for one in launches
    )
    status = Status.THROTTLED if conditions.throttle else Status.OK if steady else Status.UNSTEADY
    batch = None
    if mode is Mode.WARM and _batches(instance, launches, settings):
        batch = timing.time_batch(watch, instance.launches[0].run)
    return TimeRun(status, launches, batch, conditions)


def _batches(instance: Instance, launches: Sequence[Summary], settings: Settings) -> bool:
    """Whether a launch may follow itself at once and is so short that its gap to the next one counts."""
    alone = len(launches) == 1 and instance.launches[0].executions == 1
    return alone and not instance.restores and launches[0].median < settings.batch_below


def warm_up(device: Device, instance: Instance, settings: Settings) -> State:
    """Run until clocks are up and steady; return the board's state."""
    clock = device.clock
    start, last = clock.now(), State()
    while True:
        device.keep_busy(settings.warm_up / 5)
        instance.restore()
        instance.run()
        device.synchronise()
        spent = clock.now() - start
        if spent < settings.warm_up:
            continue
        state = device.sensors.state()
        steady = last.sm_clock is not None and Conditions(last, state).clock_change() <= 0.01
        if steady or state.sm_clock is None or spent >= settings.warm_up_limit:
            return state
        last = state


class _HasStatus(Protocol):
    @property
    def status(self) -> Status: ...


Run = TypeVar("Run", bound=_HasStatus)


def retry_rejected(device: Device, settings: Settings, run_once: Callable[[], Run]) -> tuple[Run, int]:
    """Run until the status is none that is retried, at most ``retries`` times more; return the last run."""
    attempts = 0
    while True:
        attempts += 1
        run = run_once()
        if run.status not in _RETRIED or attempts > settings.retries:
            return run, attempts
        device.clock.sleep(settings.pause)
