"""Points without a kernel: idle power, transfers between host and device, what starting a context takes.

What a device offers beyond :class:`~warpwatt.lab.measure.device.Device` is asked for by name:
``pinned(nbytes)``, a page-locked array, and ``context_seconds``, how long opening the device took.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.errors import InputError
from warpwatt.lab.measure import columns, readings
from warpwatt.lab.measure.bench import Point
from warpwatt.lab.measure.microbench.reading import REPEATS
from warpwatt.lab.measure.points import RANKS
from warpwatt.lab.measure.power import SAMPLE_SECONDS
from warpwatt.lab.measure.protocol import Conditions, Status
from warpwatt.lab.measure.results import Group
from warpwatt.lab.measure.statistics import median_error

if TYPE_CHECKING:
    from warpwatt.lab.measure.bench import Bench
    from warpwatt.lab.measure.columns import Row
    from warpwatt.lab.measure.instance import Job
    from warpwatt.lab.measure.prepared import Code
    from warpwatt.lab.measure.results import Store

PROTOCOL = "micro"
SIZES = tuple(4**e for e in range(5, 15))
"""Bytes of a transfer: 1 KiB to 256 MiB."""
SETTLE_SECONDS = 5.0
"""How long the board rests before its idle power is measured."""


class HostPoint(Point):
    """One quantity that needs no kernel: ``idle power``, ``context``, or a transfer."""

    def __init__(self, quantity: str) -> None:
        label = f"micro host/{quantity}"
        key = "host", quantity, "random"
        super().__init__(RANKS["micro"], label, kind=label, guess=10.0, key=key, protocols=(PROTOCOL,))
        self.quantity = quantity

    def identifying_cells(self, bench: Bench, protocol: str, code: Code | None = None) -> list[Row]:
        """Return the cells of the row that stands for all where there are no figures."""
        del code
        return [self._head(bench, protocol, rows=1, index=0)]

    def measure(self, bench: Bench, files: Store, job: Job | None) -> Iterator[Group]:
        """Measure it."""
        del files, job
        rows = _MEASURES[self.quantity](bench)
        heads = [self._head(bench, PROTOCOL, len(rows), index) for index in range(len(rows))]
        yield Group(PROTOCOL, tuple({**head, **row} for head, row in zip(heads, rows, strict=True)))

    def _head(self, bench: Bench, protocol: str, rows: int, index: int) -> Row:
        return {
            **bench.identity(), "protocol": protocol, "program": "host", "family": "host",
            "size": self.quantity, "quantity": self.quantity, "data": "random", "rows": rows,
            "launch": index, "kernel": "none", "attempts": 1, **columns.conditions(Conditions()),
        }  # fmt: skip


def _row(unit: str, values: list[float], **more: Any) -> Row:
    return {
        "status": Status.OK.value, "unit": unit, "value": statistics.median(values),
        "standard_error": median_error(values), "repeats": len(values), **more,
    }  # fmt: skip


def _measure_idle(bench: Bench) -> list[Row]:
    """Return the mean power of a board with a context and no work."""
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
    seen = columns.conditions(Conditions(before, device.sensors.state()))
    return [{**_row("W", [watts]), "standard_error": error, "repeats": len(samples), **seen, "active_sms": 0}]


def _read_context(bench: Bench) -> list[Row]:
    """Return how long opening the device took."""
    seconds = getattr(bench.device, "context_seconds", None)
    if seconds is None:
        raise InputError("the device does not say how long its context took")
    return [_row("s", [float(seconds)])]


def _measure_transfers(bench: Bench, direction: str, memory: str) -> list[Row]:
    """Return seconds against size; each transfer is waited for."""
    move: Callable[[int, Any], None] = getattr(bench.device, direction)
    pinned = getattr(bench.device, "pinned", None) if memory == "pinned" else None
    if memory == "pinned" and pinned is None:
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


_MEASURES: dict[str, Callable[[Bench], list[Row]]] = {
    "idle power": _measure_idle,
    "context": _read_context,
    **{
        f"{direction} {memory}": partial(_measure_transfers, direction=direction, memory=memory)
        for direction in ("upload", "download")
        for memory in ("pageable", "pinned")
    },
}


def host_points() -> list[HostPoint]:
    """Return all points of this module."""
    return [HostPoint(quantity) for quantity in _MEASURES]
