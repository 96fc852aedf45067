"""Points without a kernel: idle power, transfers between host and device, what starting a context takes.

What a device offers beyond :class:`~warpwatt.measure.device.Device` is asked for by name: ``pinned(nbytes)``,
a page-locked array, and ``context_seconds``, how long opening the device took.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.errors import InputError
from warpwatt.measure import readings, store
from warpwatt.measure.microbench.reading import REPEATS, median_error, no_conditions
from warpwatt.measure.points import VALUES
from warpwatt.measure.power import SAMPLE_SECONDS
from warpwatt.measure.protocol import Conditions, Status
from warpwatt.measure.store import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warpwatt.measure.bench import Bench
    from warpwatt.measure.instance import Job
    from warpwatt.measure.results import Row
    from warpwatt.measure.store import Store

PROTOCOL = "micro"
SIZES = tuple(4**e for e in range(5, 15))
"""Bytes of a transfer: 1 KiB to 256 MiB."""
SETTLE_SECONDS = 5.0
"""How long the board rests before its idle power is measured."""


@dataclass(frozen=True, slots=True)
class HostPoint:
    """One quantity that needs no kernel: ``idle power``, ``context``, or a transfer."""

    quantity: str

    @property
    def value(self) -> int:
        """Rank among the points."""
        return VALUES["micro"]

    @property
    def label(self) -> str:
        """The quantity."""
        return f"micro host/{self.quantity}"

    @property
    def kind(self) -> str:
        """Each is its own kind."""
        return self.label

    @property
    def guess(self) -> float:
        """Seconds."""
        return 10.0

    @property
    def order(self) -> None:
        """No inputs."""

    def is_pending(self, files: Store) -> bool:
        """Whether the file lacks it."""
        return not files.has(PROTOCOL, "host", self.quantity, "random")

    def measure(self, bench: Bench, files: Store, job: Job | None) -> Iterator[Group]:
        """Measure it."""
        del files, job
        rows = _MEASURES[self.quantity.partition(" ")[0]](bench, self.quantity)
        whole = [{**self._head(bench, len(rows), index), **row} for index, row in enumerate(rows)]
        yield Group(PROTOCOL, tuple(whole))

    def _head(self, bench: Bench, rows: int, index: int) -> Row:
        return {
            **bench.identity(), "protocol": PROTOCOL, "program": "host", "family": "host",
            "size": self.quantity, "quantity": self.quantity, "data": "random", "rows": rows,
            "launch": index, "kernel": "none", "attempts": 1, **store.conditions(no_conditions()),
        }  # fmt: skip

    def without_figures(self, bench: Bench, files: Store, status: Status, note: str) -> list[Group]:
        """Return one row."""
        if not self.is_pending(files):
            return []
        return [Group(PROTOCOL, ({**self._head(bench, 1, 0), "status": status.value, "note": note},))]


def _row(unit: str, values: list[float], **more: Any) -> Row:
    return {
        "status": Status.OK.value, "unit": unit, "value": statistics.median(values),
        "standard_error": median_error(values), "repeats": len(values), **more,
    }  # fmt: skip


def _idle(bench: Bench, quantity: str) -> list[Row]:
    """Return the mean power of a board with a context and no work."""
    del quantity
    device, clock = bench.device, bench.device.clock
    device.synchronise()
    clock.sleep(SETTLE_SECONDS)
    before, samples, end = device.sensors.state(), [], clock.now() + bench.settings.power_seconds
    while clock.now() < end:
        samples.append(device.sensors.sample())
        clock.sleep(SAMPLE_SECONDS)
    counted, sampled = readings.counted_power(samples), readings.sampled_power(samples)
    watts = counted.watts if counted.watts is not None else sampled.watts
    if watts is None:
        raise InputError(f"{counted.problem}; {sampled.problem}")
    error = abs(sampled.watts - watts) if sampled.watts is not None else 0.0
    seen = store.conditions(Conditions(before, device.sensors.state()))
    return [{**_row("W", [watts]), "standard_error": error, "repeats": len(samples), **seen, "active_sms": 0}]


def _context(bench: Bench, quantity: str) -> list[Row]:
    """Return how long opening the device took."""
    del quantity
    seconds = getattr(bench.device, "context_seconds", None)
    if seconds is None:
        raise InputError("the device does not say how long its context took")
    return [_row("s", [float(seconds)])]


def _upload(bench: Bench, quantity: str) -> list[Row]:
    return _transfers(bench, quantity, bench.device.upload)


def _download(bench: Bench, quantity: str) -> list[Row]:
    return _transfers(bench, quantity, bench.device.download)


def _transfers(bench: Bench, quantity: str, move: Callable[[int, Any], None]) -> list[Row]:
    """Return seconds against size; each transfer is waited for."""
    pinned = getattr(bench.device, "pinned", None) if "pinned" in quantity else None
    if "pinned" in quantity and pinned is None:
        raise InputError("the device offers no page-locked memory")
    rows = []
    for nbytes in SIZES:
        array = pinned(nbytes) if pinned is not None else np.ones(nbytes, np.uint8)
        address = bench.device.allocate(nbytes)
        try:
            move(address, array)
            rows.append(
                _row("s", [_timed(bench, move, address, array) for _ in range(REPEATS)], footprint=nbytes)
            )
        finally:
            bench.device.free(address)
    return rows


def _timed(bench: Bench, move: Callable[[int, Any], None], address: int, array: Any) -> float:
    bench.device.synchronise()
    start = bench.device.clock.now()
    move(address, array)
    bench.device.synchronise()
    return bench.device.clock.now() - start


_MEASURES: dict[str, Callable[[Bench, str], list[Row]]] = {
    "idle": _idle,
    "context": _context,
    "upload": _upload,
    "download": _download,
}
QUANTITIES = (
    "idle power",
    "context",
    "upload pageable",
    "upload pinned",
    "download pageable",
    "download pinned",
)


def host_points() -> list[HostPoint]:
    """Return all points of this module."""
    return [HostPoint(quantity) for quantity in QUANTITIES]
