"""What a point needs to be measured: device, code, settings, files; and what every point has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from warpwatt.lab.measure import columns, timing
from warpwatt.lab.measure.results import Group

if TYPE_CHECKING:
    from warpwatt.lab.measure.columns import Row
    from warpwatt.lab.measure.device import Device
    from warpwatt.lab.measure.instance import Instance, Job
    from warpwatt.lab.measure.prepared import Code, Codes
    from warpwatt.lab.measure.protocol import Settings, Status
    from warpwatt.lab.measure.results import Store
    from warpwatt.lab.measure.supply import Order


@dataclass(slots=True)
class Bench:
    """A device with everything around it.

    Attributes
    ----------
    events_s, empty_kernel_s
        The floor of every timing, from :meth:`measure_floor`; None before.
    on_placed
        Called with every instance before it first runs; a simulated device gets the results so.
    """

    device: Device
    codes: Codes
    settings: Settings
    seed: int
    watch: timing.Stopwatch
    on_placed: Callable[[Instance], object] = lambda _: None
    events_s: float | None = None
    empty_kernel_s: float | None = None

    def measure_floor(self) -> None:
        """Measure what two events cost, with nothing and with an empty kernel between them."""
        self.events_s = median(timing.time_nothing(self.watch) for _ in range(self.settings.repeats))
        empty = self.codes.empty()
        self.empty_kernel_s = timing.time_empty_kernel(self.watch, empty) if empty is not None else None

    def identity(self) -> Row:
        """Return the cells that all rows written now share."""
        return columns.identity(self.device.info, self.device.clock.utc(), self.seed)


@dataclass
class Point(ABC):
    """Something to measure: a size of a program of the corpus, a curve of microbenchmarks, a host quantity.

    Attributes
    ----------
    rank
        Points of a lower one come first.
    label
        Name for people and for ``--only``.
    kind
        Points of one kind take about as long as each other.
    guess
        Seconds it may take before any of its kind was seen.
    key
        Program, size and data, as the result files have them.
    protocols
        Names of the result files that it has rows in.
    order
        Inputs and results to make ahead, or None.
    """

    rank: int
    label: str
    kind: str
    guess: float
    key: tuple[str, str, str]
    protocols: tuple[str, ...]
    order: Order | None = None

    def missing(self, files: Store) -> list[str]:
        """Return the protocols that have no rows of it yet."""
        return [protocol for protocol in self.protocols if not files.has(protocol, *self.key)]

    def is_pending(self, files: Store) -> bool:
        """Whether anything of it is not in the files yet."""
        return bool(self.missing(files))

    @abstractmethod
    def identifying_cells(self, bench: Bench, protocol: str, code: Code | None = None) -> list[Row]:
        """Return the cells that say what was measured, for every row of it in a protocol's file."""

    @abstractmethod
    def measure(self, bench: Bench, files: Store, job: Job | None) -> Iterator[Group]:
        """Yield what is missing in the files, each group as soon as it is measured.

        Raises
        ------
        WarpWattError
            If it cannot be measured; the campaign then writes :meth:`without_figures`.
        """

    def without_figures(
        self, bench: Bench, files: Store, status: Status, note: str, code: Code | None = None
    ) -> list[Group]:
        """Return what to write for everything that is missing, where there are no figures."""
        reason: Row = {"status": status.value, "note": note}
        return [
            Group(
                protocol,
                tuple({**cells, **reason} for cells in self.identifying_cells(bench, protocol, code)),
            )
            for protocol in self.missing(files)
        ]
