"""A run as a page: its timeline and tables, then the full account of every prediction that it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from warpwatt.core.units import si
from warpwatt.frontend.select import without_parameters
from warpwatt.render.assets import environment
from warpwatt.render.console import plain
from warpwatt.render.figures import interval, percent, quantity
from warpwatt.render.html import STYLES, render_reports
from warpwatt.render.report.report import report
from warpwatt.render.run.text import not_known, without
from warpwatt.render.run.timeline import timeline_picture

if TYPE_CHECKING:
    from warpwatt.core.prediction import Prediction
    from warpwatt.render.context import Context
    from warpwatt.render.run.timeline import TimelinePicture
    from warpwatt.run.result import CopyRow, GpuRun, KernelRow, RunResult

MOST_ACCOUNTS = 60
"""Predictions whose full account is in the page: those of the rows, then the others in order."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table of kernels."""

    anchor: str
    name: str
    calls: int
    total: str
    mean: str
    share: str
    power: str
    energy: str
    limiter: str


@dataclass(frozen=True, slots=True)
class Copies:
    """A row of the table of copies."""

    name: str
    calls: int
    total: str
    bytes: str
    energy: str


@dataclass(frozen=True, slots=True)
class Shown:
    """One GPU's part of the page."""

    gpu: str
    headline: str
    picture: TimelinePicture | None
    rows: tuple[Row, ...]
    copies: tuple[Copies, ...]


def render(result: RunResult, context: Context) -> str:
    """Return the page as one HTML document."""
    predictions = _chosen(result)
    anchors = {id(p): f"prediction-{number}" for number, p in enumerate(predictions, 1)}
    runs = [_shown(run, anchors) for run in result.runs]
    lead = environment().get_template("run.html").render(runs=runs, unknown=not_known(result))
    return render_reports(
        [report(prediction) for prediction in predictions],
        context,
        lead=Markup(lead),  # noqa: S704 - what the template placed is escaped
        styles=(*STYLES, "run.css"),
        title=plain(result.program.rpartition("/")[2]),
    )


def _chosen(result: RunResult) -> Sequence[Prediction]:
    """Return the predictions that get an account."""
    rows = [row.prediction for run in result.runs for row in run.kernels if row.prediction is not None]
    others = [p for run in result.runs for p in run.predictions]
    return list({id(p): p for p in [*rows, *others]}.values())[:MOST_ACCOUNTS]


def _shown(run: GpuRun, anchors: dict[int, str]) -> Shown:
    whole = sum(row.time.value for row in run.kernels)
    headline = f"{si(run.end, 's')}, GPU busy {si(run.busy, 's')}, {si(run.energy, 'J')}{without(run)}"
    return Shown(
        plain(run.gpu),
        headline,
        timeline_picture(run.spans),
        tuple(_row(row, whole, anchors) for row in run.kernels),
        tuple(_copies(row) for row in run.copies),
    )


def _row(row: KernelRow, whole: float, anchors: dict[int, str]) -> Row:
    prediction = row.prediction
    return Row(
        anchor="" if prediction is None else anchors.get(id(prediction), ""),
        name=plain(without_parameters(row.name)),
        calls=row.calls,
        total=interval(row.time),
        mean=si(row.mean, "s"),
        share=percent(row.time.value / whole) if whole else "",
        power=si(row.power, "W"),
        energy=quantity(row.energy),
        limiter=plain(row.limiter),
    )


def _copies(row: CopyRow) -> Copies:
    return Copies(str(row.kind), row.calls, si(row.seconds, "s"), si(row.bytes, "B"), si(row.energy, "J"))
