"""What a point needs to be measured: device, code, settings, files; and the protocol every point meets."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Protocol

from warpwatt.measure import store, timing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warpwatt.measure.device import Device
    from warpwatt.measure.instance import Instance, Job
    from warpwatt.measure.prepared import Codes
    from warpwatt.measure.protocol import Settings, Status
    from warpwatt.measure.results import Row
    from warpwatt.measure.store import Group, Store
    from warpwatt.measure.supply import Order


def _untaught(instance: Instance) -> None:
    """Tell a real device nothing."""


@dataclass(slots=True)
class Bench:
    """A device with everything around it.

    Attributes
    ----------
    events_s, empty_kernel_s
        The floor of every timing, from :meth:`floor`; None before.
    on_placed
        Called with every instance before it first runs; a simulated device learns the results so.
    """

    device: Device
    codes: Codes
    settings: Settings
    seed: int
    watch: timing.Stopwatch
    on_placed: Callable[[Instance], None] = _untaught
    events_s: float | None = None
    empty_kernel_s: float | None = None

    def floor(self) -> None:
        """Measure what two events cost, with nothing and with an empty kernel between them."""
        self.events_s = median(timing.nothing(self.watch) for _ in range(self.settings.repeats))
        empty = self.codes.empty()
        self.empty_kernel_s = timing.empty_kernel(self.watch, empty) if empty is not None else None

    def identity(self) -> Row:
        """Return the cells that all rows written now share."""
        return store.identity(self.device.info, self.device.clock.utc(), self.seed)


class Point(Protocol):
    """Something to measure. The corpus has its own (``points.py``), microbenchmarks theirs.

    Attributes
    ----------
    value
        Rank: points of a lower one come first.
    label
        Name for people and for ``--only``.
    kind
        Points of one kind take about as long as each other.
    guess
        Seconds it may take before any of its kind was seen.
    order
        Inputs and results to make ahead, or None.
    """

    @property
    def value(self) -> int: ...  # noqa: D102 - see the class
    @property
    def label(self) -> str: ...  # noqa: D102
    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def guess(self) -> float: ...  # noqa: D102
    @property
    def order(self) -> Order | None: ...  # noqa: D102

    def is_pending(self, files: Store) -> bool:
        """Whether anything of it is not in the files yet."""

    def measure(self, bench: Bench, files: Store, job: Job | None) -> Iterator[Group]:
        """Yield what is missing in the files, each group as soon as it is measured.

        Raises
        ------
        WarpWattError
            If it cannot be measured; the campaign then writes :meth:`without_figures`.
        """

    def without_figures(self, bench: Bench, files: Store, status: Status, note: str) -> list[Group]:
        """Return what to write for everything that is missing, where there are no figures."""
