"""A sweep as one HTML page: plots, and every point in a table that sorts and is searched. Offline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from warpwatt.core.estimate import Estimate, Source
from warpwatt.core.units import si
from warpwatt.render.assets import concatenate, environment
from warpwatt.render.figures import bounds, percent, plural
from warpwatt.render.html import content_policy
from warpwatt.render.plots import heat
from warpwatt.render.plots import sweep as plots
from warpwatt.render.sweep.text import failures
from warpwatt.sweep.points import name, title, varying
from warpwatt.sweep.rows import OBJECTIVES, least, pareto

if TYPE_CHECKING:
    from warpwatt.render.context import Context
    from warpwatt.sweep.rows import Range, Row

STYLES = ("base.css", "plots.css", "report.css", "print.css")
SCRIPTS = ("theme.js", "tables.js", "page.js")
_OBJECTIVE_NAMES = {"time": "fastest", "energy": "least energy", "edp": "least energy × time"}


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table."""

    cells: tuple[str, ...]
    front: bool


@dataclass(frozen=True, slots=True)
class Part:
    """What the page says of one launch."""

    title: str
    summary: str
    heads: tuple[str, ...]
    rows: tuple[Line, ...]
    plots: tuple[plots.Plot, ...]
    maps: tuple[heat.HeatMap, ...] = ()


def render(rows: Sequence[Row], context: Context) -> str:
    """Return the page as one HTML document."""
    results = [row for row in rows if row.time is not None]
    by_launch = [[row for row in results if row.launch == one] for one in {row.launch: 0 for row in results}]
    script = concatenate(SCRIPTS)
    return (
        environment()
        .get_template("sweep.html")
        .render(
            title=", ".join(dict.fromkeys(row.kernel for row in results)) or "no result",
            launches=[_part(own, results) for own in by_launch],
            failures=[(reason, plural(number, "point")) for reason, number in failures(rows).items()],
            warnings=list(dict.fromkeys(warning for row in results for warning in row.warnings)),
            plots=plots,
            heat=heat,
            context=context,
            style=Markup(concatenate(STYLES)),  # noqa: S704 - our own files
            script=Markup(script),  # noqa: S704 - our own files
            policy=content_policy(script),
        )
    )


def _part(rows: Sequence[Row], everything: Sequence[Row]) -> Part:
    heads, front = varying(rows), pareto(rows)
    said = [f"{_OBJECTIVE_NAMES[goal]}: {name(least(rows, goal), heads)}" for goal in OBJECTIVES]
    return Part(
        title=f"{title(rows[0], everything)}: {plural(len(rows), 'point')}",
        summary="; ".join(said),
        heads=tuple(heads),
        rows=tuple(
            Line((*(read(row) for read in heads.values()), *_cells(row)), row.number in front) for row in rows
        ),
        plots=plots.plots(rows),
        maps=heat.heat_maps(rows),
    )


def _cells(row: Row) -> tuple[str, ...]:
    power = _quantity(row.power, "W") + (" at its limit" if row.at_power_limit else "")
    return (
        _quantity(row.time, "s"),
        power,
        _quantity(row.energy, "J"),
        si(row.energy_delay or 0.0, "Js"),
        percent(row.occupancy) if row.occupancy is not None else "",
        row.limited_by,
    )


def _quantity(value: Range | None, unit: str) -> str:
    if value is None:
        return ""
    around = bounds(Estimate(value.value, unit, value.low, value.high, Source.MODELLED))
    return f"{si(value.value, unit)} ({around})" if around else si(value.value, unit)
