"""A comparison as one HTML page: offline, in the look of the report, whose charts it shows for both sides."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from warpwatt.core.comparison import Comparison, ComparisonSet, LineChange, QuantityChange
from warpwatt.core.estimate import Estimate
from warpwatt.core.prediction import Prediction
from warpwatt.core.units import si
from warpwatt.render.assets import concatenate, environment
from warpwatt.render.compare.charts import Charts, charts
from warpwatt.render.compare.diff import Diff, diffs
from warpwatt.render.compare.text import note
from warpwatt.render.compare.words import (
    LEGEND,
    MARKS,
    TITLES,
    figure_change,
    figure_name,
    numbers,
    relative,
    relative_bounds,
    signed,
    title,
    told_lines,
    topics,
    value_text,
    verdict,
)
from warpwatt.render.console import plain
from warpwatt.render.html import content_policy, curve_cursor, roof_cursors
from warpwatt.render.report.report import report
from warpwatt.render.report.values import embedded

if TYPE_CHECKING:
    from warpwatt.render.context import Context
    from warpwatt.render.report.report import Report

STYLES = ("base.css", "plots.css", "report.css", "compare.css", "print.css")
SCRIPTS = ("theme.js", "plots.js", "code.js", "diff.js", "tables.js", "page.js")
WIDEST = math.log(4.0)
"""The scale of ratios reaches from a quarter to four times, at least."""


@dataclass(frozen=True, slots=True)
class Tile:
    """One of time, power and energy; positions in percent on a logarithmic scale of ratios."""

    name: str
    change: str
    verdict: str
    kind: str
    old: str
    new: str
    difference: str
    interval: str
    low: float
    middle: float
    high: float
    none: float = 50.0


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table of source lines."""

    where: str
    status: str
    mark: str
    time: str
    time_kind: str
    time_heat: float
    energy: str
    energy_kind: str
    energy_heat: float
    text: str
    note: str


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure that changed."""

    topic: str
    name: str
    old: str
    new: str
    change: str


@dataclass(frozen=True, slots=True)
class Part:
    """What the page says of one kernel."""

    anchor: str
    title: str
    tiles: tuple[Tile, ...]
    lines: tuple[Line, ...]
    charts: Charts
    diffs: tuple[Diff, ...]
    figures: tuple[FigureRow, ...]
    assumptions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Alone:
    """A kernel that is on one side only."""

    name: str
    facts: str


def render(comparisons: ComparisonSet, context: Context) -> str:
    """Return the page as one HTML document, without clock sweeps."""
    sides = [(report(one.old), report(one.new)) for one in comparisons.comparisons]
    return render_sides(comparisons, sides, context)


def render_sides(comparisons: ComparisonSet, sides: Sequence[tuple[Report, Report]], context: Context) -> str:
    """Return the page as one HTML document; ``sides`` are the reports of each comparison, old and new."""
    parts = [
        _part(f"kernel-{number}", comparison, pair, context)
        for number, (comparison, pair) in enumerate(zip(comparisons.comparisons, sides, strict=True), 1)
    ]
    script = concatenate(SCRIPTS)
    return (
        environment()
        .get_template("compare.html")
        .render(
            old=plain(comparisons.old),
            new=plain(comparisons.new),
            parts=parts,
            removed=_alone(comparisons.removed),
            added=_alone(comparisons.added),
            remarks=[plain(remark) for remark in comparisons.remarks],
            legend=LEGEND,
            context=context,
            style=Markup(concatenate(STYLES)),  # noqa: S704 - our own files
            script=Markup(script),  # noqa: S704 - our own files
            data=embedded(_data(parts)),
            policy=content_policy(script),
        )
    )


def _data(parts: Sequence[Part]) -> dict[str, Any]:
    """Return what the script reads: the cursors of the charts, and the aligned listings."""
    cursors: dict[str, Any] = {}
    for part in parts:
        if part.charts.roofline is not None:
            cursors |= roof_cursors(f"{part.anchor}-roofline", part.charts.roofline)
        cursors |= {f"{part.anchor}-{name}": curve_cursor(one) for name, one in part.charts.lines.items()}
    diffs = {f"{part.anchor}-{diff.name}": diff.document() for part in parts for diff in part.diffs}
    return {"plots": {}, "cursors": cursors, "diffs": diffs}


def _part(anchor: str, comparison: Comparison, sides: tuple[Report, Report], context: Context) -> Part:
    pairs = (("old", comparison.old_assumptions), ("new", comparison.new_assumptions))
    return Part(
        anchor,
        plain(title(comparison)),
        tuple(map(_tile, comparison.changes)),
        tuple(_line(comparison, line) for line in told_lines(comparison)),
        charts(*sides),
        diffs(comparison.old, comparison.new, context),
        tuple(
            FigureRow(
                TITLES[topic],
                plain(figure_name(f)),
                value_text(f, f.old),
                value_text(f, f.new),
                figure_change(f),
            )
            for topic, figures in topics(comparison.figures).items()
            for f in figures
        ),
        tuple((side, plain(message)) for side, messages in pairs for message in messages),
    )


def _tile(change: QuantityChange) -> Tile:
    ratio = change.ratio
    widest = max([WIDEST, *(abs(math.log(r)) for r in (ratio.low, ratio.high) if 0 < r < math.inf)])

    def position(value: float) -> float:
        return round(50.0 + 50.0 * math.log(value) / widest, 1) if 0 < value < math.inf else 50.0

    kind = ("better" if ratio.value < 1 else "worse") if change.clear else ""
    return Tile(
        change.name,
        relative(ratio.value),
        verdict(change),
        kind,
        si(change.old.value, change.old.unit),
        si(change.new.value, change.new.unit),
        signed(change.difference),
        relative_bounds(ratio),
        *(position(value) for value in (ratio.low, ratio.value, ratio.high)),
    )


def _line(comparison: Comparison, line: LineChange) -> Line:
    return Line(
        numbers(line),
        str(line.status),
        MARKS[line.status],
        signed(line.time),
        *_heat(line.time, max(comparison.old.time.value, comparison.new.time.value)),
        signed(line.energy),
        *_heat(line.energy, max(comparison.old.energy.value, comparison.new.energy.value)),
        plain(line.text.strip()),
        plain(note(line)),
    )


def _heat(change: Estimate, whole: float) -> tuple[str, float]:
    """Return whether a line costs more or less, and by which share of the whole."""
    share = min(1.0, abs(change.value) / whole) if whole > 0 else 0.0
    return ("rise" if change.value > 0 else "fall"), round(share, 3)


def _alone(predictions: Iterable[Prediction]) -> list[Alone]:
    return [
        Alone(plain(p.kernel_name), f"{p.case.gpu.name}: {si(p.time.value, 's')}, {si(p.energy.value, 'J')}")
        for p in predictions
    ]
