"""The points of the microbenchmarks: what a campaign measures, curve by curve, and the columns it fills."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from warpwatt.core.errors import WarpWattError
from warpwatt.measure import store
from warpwatt.measure.columns import CONDITIONS, IDENTITY, NOTE, Column
from warpwatt.measure.device import DeviceLostError
from warpwatt.measure.microbench.host import host_points
from warpwatt.measure.microbench.model import Microbenchmark, Reading
from warpwatt.measure.microbench.placing import Code, placed, read_code
from warpwatt.measure.microbench.reading import Result, read
from warpwatt.measure.microbench.suite import microbenchmarks
from warpwatt.measure.points import VALUES
from warpwatt.measure.protocol import Status
from warpwatt.measure.store import Group

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from warpwatt.measure.bench import Bench, Point
    from warpwatt.measure.device import DeviceInfo
    from warpwatt.measure.instance import Job
    from warpwatt.measure.results import Row
    from warpwatt.measure.store import Store

PROTOCOL = "micro"
SWEPT = ("ilp", "warps", "blocks", "active_sms", "footprint", "stride", "loads", "stores")
COLUMNS = (
    *IDENTITY,
    Column("quantity", str, "what is measured: the same as size"),
    Column("ilp", int, "independent chains in each warp"),
    Column("warps", int, "warps of a block (power: of an SM)"),
    Column("blocks", int, "blocks of the grid"),
    Column("active_sms", int, "SMs that have work"),
    Column("footprint", int, "bytes that are touched"),
    Column("stride", int, "bytes between neighbours of a chain, or between lanes"),
    Column("loads", int, "loads of a pass"),
    Column("stores", int, "stores of a pass"),
    Column("unit", str, "unit of value; cycle: per step, 1/cycle and B/cycle: per SM"),
    Column("value", float, "median over repeats"),
    Column("standard_error", float, "of that median; of a power: difference between counter and samples"),
    Column("repeats", int, "runs the median is taken of"),
    Column("launch_s", float, "seconds of a launch (power)"),
    Column("work", float, "warp instructions, or bytes, of a launch (power)"),
    *CONDITIONS,
    NOTE,
)
FILES = {PROTOCOL: COLUMNS}
"""Columns by protocol; ``program`` is the probe, ``family`` its group, ``size`` the quantity."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """All readings of one probe and quantity."""

    curve: tuple[Microbenchmark, ...]
    code: Code

    @property
    def first(self) -> Microbenchmark:
        """One of the curve; all have its probe, quantity and data."""
        return self.curve[0]

    @property
    def value(self) -> int:
        """Rank among the points."""
        return VALUES["micro"]

    @property
    def label(self) -> str:
        """Probe, quantity and data."""
        return f"micro {self.first.probe.name}/{self.first.quantity}/{self.first.data}"

    @property
    def kind(self) -> str:
        """Curves of one quantity take about as long as each other."""
        return f"micro {self.first.quantity}"

    @property
    def guess(self) -> float:
        """Seconds."""
        return (4.0 if self.first.reading is Reading.POWER else 0.3) * len(self.curve)

    @property
    def order(self) -> None:
        """Inputs are made when needed."""

    def is_pending(self, files: Store) -> bool:
        """Whether the file lacks the curve."""
        return not files.has(PROTOCOL, self.first.probe.name, self.first.quantity, str(self.first.data))

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
            with placed(bench.device, module, one) as here:
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
            "kernel": one.kernel,
            "quantity": one.quantity,
            "unit": one.unit,
            **{name: one.sweep.get(name) for name in SWEPT},
        }

    def without_figures(self, bench: Bench, files: Store, status: Status, note: str) -> list[Group]:
        """Return a row for each reading."""
        if not self.is_pending(files):
            return []
        rows = tuple(
            {**self._head(bench, index, one), "status": status.value, "note": note}
            for index, one in enumerate(self.curve)
        )
        return [Group(PROTOCOL, rows)]


def _figures(one: Microbenchmark, result: Result) -> Row:
    return {
        "status": result.status.value,
        "attempts": 1,
        "value": result.value,
        "standard_error": result.standard_error,
        "repeats": result.repeats,
        "launch_s": result.seconds,
        "work": one.per_pass * result.passes if result.power is not None else None,
        **store.conditions(result.conditions),
        "note": result.power.problems if result.power is not None else "",
    }


def points(prepared: Path | None, info: DeviceInfo) -> list[Point]:
    """Return the points of a device; ``prepared`` is a folder with machine code, None: compile now.

    Raises
    ------
    InputError
        If the folder holds no microbenchmarks.
    ToolchainError
        If there is no folder and no compiler.
    """
    code = read_code(prepared) if prepared is not None else _compiled(info.target)
    runnable = [one for one in microbenchmarks(info) if not one.probe.needs]
    return [*curves(runnable, code), *host_points()]


def curves(all_of_them: Sequence[Microbenchmark], code: Code) -> list[Point]:
    """Return a point for each probe, quantity and kind of data."""

    def key(one: Microbenchmark) -> tuple[str, str, str]:
        return one.probe.name, one.quantity, str(one.data)

    ordered = sorted(all_of_them, key=key)
    return [CurvePoint(tuple(group), code) for _, group in groupby(ordered, key)]


def _compiled(target: str) -> Code:
    """Compile now; imported here because a machine with a GPU may lack what compiling needs."""
    from warpwatt.frontend.toolkits import target_number  # noqa: PLC0415
    from warpwatt.measure.microbench import build, suite  # noqa: PLC0415

    chosen = [p for p in suite.probes() if p.exists_on(target_number(target))]
    made = build.compiled(chosen, target)
    return Code(made.cubin, made.toolkit)
