"""What the plots of a prediction hand out: one table each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from warpwatt.core.advice import Advice
from warpwatt.render.console import plain
from warpwatt.render.report.curves import clock_data, occupancy_data
from warpwatt.render.report.lines import lines_data
from warpwatt.render.report.memory import memory_data
from warpwatt.render.report.values import Dataset, bars_data, kernel_name

if TYPE_CHECKING:
    from warpwatt.core.schedule import ReservationTable
    from warpwatt.render.report.report import Report
    from warpwatt.render.report.values import Bar
    from warpwatt.render.roofline import Roofline


def plot_data(
    report: Report, roof: Roofline | None, bars: Mapping[str, tuple[Bar, ...]]
) -> dict[str, Dataset]:
    """Return what the plots hand out."""
    prediction = report.prediction
    found = {
        "speed-of-light": bars_data("Speed of Light", "unit", "", bars["speed-of-light"]),
        "memory": memory_data(prediction),
        "stalls": bars_data("Warp states", "state", "cycles_per_issue", bars["stalls"]),
        "time": bars_data("Time by component", "component", "time_s", bars["time"]),
        "energy": bars_data("Energy by component", "component", "energy_J", bars["energy"]),
        "occupancy": occupancy_data(report.occupancy),
        "source": lines_data(prediction),
    }
    if roof is not None:
        found["roofline"] = roofline_data([(kernel_name(prediction), roof)])
    if report.clocks is not None:
        found["clocks"] = clock_data(report.clocks)
    if prediction.advice:
        found["advice"] = _advice_data(prediction.advice)
    if prediction.timing.reservations is not None:
        found["reservations"] = _reservation_data(prediction.timing.reservations())
    return found


def _reservation_data(table: ReservationTable) -> Dataset:
    """Return every instruction of every block on the longest path, and the cycles it holds its units."""
    columns_ = ("block", "executions", "label", "opcode", "unit", "start_cycle", "end_cycle", "after", "line")
    rows = tuple(
        (
            block.number,
            block.executions,
            one.label,
            plain(one.opcode),
            one.unit,
            one.start,
            one.end,
            one.after or None,
            None if one.line is None else one.line.line,
        )
        for block in table.blocks
        for one in block.reservations
    )
    return Dataset("Reservation table", columns_, rows)


def roofline_data(named: list[tuple[str, Roofline]]) -> Dataset:
    """Return roofs and points as one table."""
    unit = named[0][1].unit
    roofs = dict.fromkeys((r.name, r.kind, r.peak) for _, roofline_ in named for r in roofline_.roofs)
    rows = [("roof", name, kind, peak, None, None, None, None) for name, kind, peak in roofs]
    points = [
        ("point", name, level.roof.name, None, level.intensity, one.performance, one.low, one.high)
        for name, one in named
        for level in one.levels
    ]
    columns_ = (
        "row",
        "name",
        "level",
        "peak_per_s",
        f"{unit}_per_B",
        f"{unit}_per_s",
        "low_per_s",
        "high_per_s",
    )
    return Dataset("Roofline", columns_, (*rows, *points))


def _advice_data(advice: tuple[Advice, ...]) -> Dataset:
    columns_ = ("kind", "change", "line", "time_s", "time_saved_s", "time_saved_share", "energy_saved_share")
    rows = tuple(
        (
            a.kind,
            plain(a.text),
            a.line.line if a.line else None,
            a.time.value,
            a.saved.value,
            a.share,
            a.energy_share,
        )
        for a in advice
    )
    return Dataset("Advice", columns_, rows)
