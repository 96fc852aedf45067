"""The points of the microbenchmarks: what a campaign measures, curve by curve, and the columns it fills."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import WarpWattError
from warpwatt.lab.measure import columns
from warpwatt.lab.measure.bench import Point
from warpwatt.lab.measure.columns import MICRO
from warpwatt.lab.measure.device import DeviceLostError
from warpwatt.lab.measure.microbench.host import PROTOCOL, host_points
from warpwatt.lab.measure.microbench.model import Microbenchmark, Reading
from warpwatt.lab.measure.microbench.placing import place_on_device, read_code
from warpwatt.lab.measure.microbench.reading import Result, read
from warpwatt.lab.measure.microbench.suite import microbenchmarks
from warpwatt.lab.measure.points import RANKS
from warpwatt.lab.measure.prepared import Code, digest
from warpwatt.lab.measure.protocol import Status
from warpwatt.lab.measure.results import Group

if TYPE_CHECKING:
    from warpwatt.lab.measure.bench import Bench
    from warpwatt.lab.measure.columns import Row
    from warpwatt.lab.measure.device import DeviceInfo
    from warpwatt.lab.measure.instance import Job
    from warpwatt.lab.measure.results import Store

SWEPT = ("ilp", "warps", "blocks", "active_sms", "footprint", "stride", "loads", "stores")
FILES = {PROTOCOL: MICRO}
"""Columns by protocol; ``program`` is the probe, ``family`` its group, ``size`` the quantity."""


def label_of(one: Microbenchmark) -> str:
    """Return the label of the point that a microbenchmark is part of."""
    return f"micro {'/'.join(one.curve)}"


class CurvePoint(Point):
    """All readings of one probe, quantity and data; curves of one quantity take about equally long."""

    def __init__(self, curve: tuple[Microbenchmark, ...], code: Code) -> None:
        first = curve[0]
        super().__init__(
            rank=RANKS["micro"],
            label=label_of(first),
            kind=f"micro {first.quantity}",
            guess=(4.0 if first.reading is Reading.POWER else 0.3) * len(curve),
            key=first.curve,
            protocols=(PROTOCOL,),
        )
        self.curve, self.code = curve, code

    def identifying_cells(self, bench: Bench, protocol: str, code: Code | None = None) -> list[Row]:
        """Return the cells of a row for each reading."""
        del protocol, code
        return [self._head(bench, index, one) for index, one in enumerate(self.curve)]

    def measure(self, bench: Bench, files: Store, job: Job | None) -> Iterator[Group]:
        """Measure all readings; one that fails has a row that says why."""
        del files, job
        module = bench.device.load(self.code.cubin)
        try:
            rows = tuple(self._row(bench, module, index, one) for index, one in enumerate(self.curve))
        finally:
            bench.device.unload(module)
        yield Group(PROTOCOL, rows)

    def _row(self, bench: Bench, module: object, index: int, one: Microbenchmark) -> Row:
        try:
            with place_on_device(bench.device, module, one) as here:
                result = read(bench, here)
        except DeviceLostError:
            raise
        except WarpWattError as error:
            return {**self._head(bench, index, one), "status": Status.FAILED.value, "note": str(error)}
        return {**self._head(bench, index, one), **_figures(one, result)}

    def _head(self, bench: Bench, index: int, one: Microbenchmark) -> Row:
        return {
            **bench.identity(),
            "protocol": PROTOCOL,
            "toolkit": self.code.toolkit,
            "cubin": self.code.digest,
            "program": one.probe.name,
            "family": one.probe.group,
            "size": one.quantity,
            "data": str(one.data),
            "rows": len(self.curve),
            "launch": index,
            "kernel": one.probe.name,
            "quantity": one.quantity,
            "unit": one.unit,
            **{name: one.sweep.get(name) for name in SWEPT},
        }


def _figures(one: Microbenchmark, result: Result) -> Row:
    return {
        "status": result.status.value,
        "attempts": 1,
        "value": result.value,
        "standard_error": result.standard_error,
        "repeats": result.repeats,
        "launch_s": result.seconds,
        "work": one.per_pass * result.passes if result.power is not None else None,
        **columns.conditions(result.conditions),
        "note": result.power.problems if result.power is not None else "",
    }


def points(prepared: Path | None, info: DeviceInfo, *, simulated: bool = False) -> list[Point]:
    """Return the points of a device.

    ``prepared`` is a folder with machine code; None: compile now, or, for a simulated device, do without.

    Raises
    ------
    InputError
        If the folder holds no microbenchmarks.
    ToolchainError
        If there is no folder and no compiler.
    """
    code = _code(prepared, info.target, simulated=simulated)
    runnable = [one for one in microbenchmarks(info) if not one.probe.needs]
    there = [one for one in runnable if not code.parameters or one.probe.name in code.parameters]
    return [*curves(there, code), *host_points()]


def curves(all_of_them: Sequence[Microbenchmark], code: Code) -> list[Point]:
    """Return a point for each probe, quantity and kind of data."""
    curve = attrgetter("curve")
    return [CurvePoint(tuple(group), code) for _, group in groupby(sorted(all_of_them, key=curve), curve)]


_NO_CODE = Code(b"microbenchmarks", digest(b"microbenchmarks"), "none", {})
"""Stands in for machine code in a simulation."""


def _code(prepared: Path | None, target: str, *, simulated: bool) -> Code:
    """Return prepared machine code, none for a simulation without, or compile now."""
    if prepared is not None:
        return read_code(prepared)
    if simulated:
        return _NO_CODE
    # imported here because a machine with a GPU may lack what compiling needs
    from warpwatt.lab.measure.microbench import machine_code

    made = machine_code.compile_for(target)
    return Code(made.cubin, digest(made.cubin), made.toolkit, {})
