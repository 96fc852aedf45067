"""An application as text (one timeline table per stream, totals) and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from warpwatt.core.prediction import ApplicationPrediction, Prediction, Step
from warpwatt.core.units import si
from warpwatt.render.console import BAR_WIDTH, QUIET, facts_grid, panel, plain, section, to_text
from warpwatt.render.document import prediction_document, quantity_document
from warpwatt.render.figures import interval, percent, plural, quantity
from warpwatt.render.json import dump, header

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.panel import Panel

    from warpwatt.render.context import Context

KINDS = ("kernel", "copy")
STYLES = {"kernel": "green", "copy": "cyan"}


def render_text(applications: Sequence[ApplicationPrediction], context: Context) -> str:
    """Return totals, one timeline per stream and the warnings of each application."""
    return to_text((part for a in applications for part in _account(a)), context)


def render_json(applications: Sequence[ApplicationPrediction], context: Context) -> str:
    """Return the applications, and the predictions their steps refer to by index, as one JSON document."""
    predictions: list[Prediction] = []
    documents = [application_document(application, predictions) for application in applications]
    shown = [prediction_document(p) for p in predictions]
    return dump({**header(context), "predictions": shown, "applications": documents})


def application_document(application: ApplicationPrediction, predictions: list[Prediction]) -> dict[str, Any]:
    """Return one application as JSON-ready values; appends the predictions it refers to."""
    return {
        "name": application.name,
        "gpu": application.gpu,
        "time": quantity_document(application.time),
        "energy": quantity_document(application.energy),
        "idle_energy": quantity_document(application.idle_energy),
        "power": mean_power(application),
        "busy": busy(application),
        "steps": [_step_document(step, predictions) for step in application.steps],
        "warnings": list(application.warnings),
    }


def _step_document(step: Step, predictions: list[Prediction]) -> dict[str, Any]:
    return {
        "name": step.name,
        "kind": step.kind,
        "stream": step.stream,
        "repeats": step.repeats,
        "start": step.start,
        "end": step.start + step.time.value,
        "time": quantity_document(step.time),
        "energy": quantity_document(step.energy),
        "prediction": _position(step.prediction, predictions),
    }


def _position(prediction: Prediction | None, predictions: list[Prediction]) -> int | None:
    """Return the index of a prediction, appended if it is new; the same kernel may run in many steps."""
    if prediction is None:
        return None
    for index, known in enumerate(predictions):
        if known is prediction:
            return index
    predictions.append(prediction)
    return len(predictions) - 1


def mean_power(application: ApplicationPrediction) -> float:
    """Return energy over makespan in watts, 0 for an application that takes no time."""
    return application.energy.value / application.time.value if application.time.value > 0 else 0.0


def busy(application: ApplicationPrediction) -> dict[str, float]:
    """Return seconds by kind of step, added up over streams, and those in which no step runs."""
    steps = {kind: sum(s.time.value for s in application.steps if s.kind == kind) for kind in KINDS}
    return {**steps, "idle": application.idle.value}


def _account(application: ApplicationPrediction) -> Iterator[RenderableType]:
    yield _headline(application)
    streams = dict.fromkeys(step.stream for step in application.steps)
    for stream in streams:
        steps = [step for step in application.steps if step.stream == stream]
        yield from section(f"Stream {plain(stream)}", _timeline(steps, application.time.value))
    warned = [Text(f"! {plain(w)}", style="yellow") for w in application.warnings]
    yield from section("Warnings", *warned)
    yield Text("")


def _headline(application: ApplicationPrediction) -> Panel:
    seconds = busy(application)
    kernels, copies = (si(sum(s.energy.value for s in application.steps if s.kind == k), "J") for k in KINDS)
    facts = facts_grid()
    facts.add_row("Time", Text(interval(application.time), style="bold green"))
    facts.add_row("Energy", Text(interval(application.energy), style="bold green"))
    facts.add_row("Power", f"{si(mean_power(application), 'W')} on average")
    facts.add_row("Kernels", f"{si(seconds['kernel'], 's')} in {_launches(application)}, {kernels}")
    facts.add_row("Copies", f"{si(seconds['copy'], 's')}, {copies}")
    facts.add_row("Idle", f"{si(seconds['idle'], 's')}, {interval(application.idle_energy)}")
    return panel(facts, plain(application.name), application.gpu)


def _launches(application: ApplicationPrediction) -> str:
    number = sum(step.repeats for step in application.steps if step.kind == "kernel")
    return f"{number} launches" if number != 1 else plural(1, "launch")


def _timeline(steps: Sequence[Step], whole: float) -> Table:
    """Return the steps of one stream: a bar where each lies in the whole, start, time, share, energy."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style=QUIET)
    table.add_column("step", overflow="fold")
    table.add_column("", no_wrap=True, width=BAR_WIDTH)
    for head in ("start", "time", "share", "energy"):
        table.add_column(head, justify="right", no_wrap=True)
    for step in steps:
        share = percent(step.time.value / whole) if whole > 0 else ""
        name = plain(step.name) + (f" ×{step.repeats}" if step.repeats > 1 else "")
        position = Text(timeline_bar(step.start, step.time.value, whole), style=STYLES.get(step.kind, ""))
        cells = (si(step.start, "s"), quantity(step.time), share, quantity(step.energy))
        table.add_row(Text(name), position, *map(Text, cells))
    return table


def timeline_bar(start: float, time: float, whole: float, width: int = BAR_WIDTH) -> str:
    """Return where a step lies in the whole: at least one column, never outside.

    >>> timeline_bar(0.0, 5.0, 10.0, 4), timeline_bar(9.99, 0.01, 10.0, 4)
    ('██··', '···█')
    """
    if not whole > 0:
        return "·" * width
    first = min(width - 1, max(0, round(start / whole * width)))
    last = min(width, max(first + 1, round((start + time) / whole * width)))
    return "·" * first + "█" * (last - first) + "·" * (width - last)
