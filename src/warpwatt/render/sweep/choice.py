"""Which GPU to take, as text, CSV, JSON and an HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from warpwatt.choose.odds import SURE
from warpwatt.core.estimate import Estimate
from warpwatt.core.units import si
from warpwatt.frontend.select import without_parameters
from warpwatt.render.console import HEADING, QUIET, plain, to_text
from warpwatt.render.figures import bounds, percent, plural
from warpwatt.render.json import dump, header
from warpwatt.render.sweep.columns import SCHEMA, interval_columns
from warpwatt.render.sweep.tables import csv_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from warpwatt.choose.gpu_choice import Candidate, GpuChoice, LeftOut
    from warpwatt.render.context import Context

STYLES = ("base.css", "print.css")
MOST = 20
"""Candidates shown unless everything is asked for."""
MOST_LEFT_OUT = 6
"""GPUs that are no candidates, named with each reason unless everything is asked for."""
NARROW = 100
"""Columns below which one blank stands between columns."""
MILLION = 1e6
BEST = "★"
GOALS = {
    "time": "least time",
    "energy": "least energy",
    "edp": "least energy × time",
    "cost": "least cost",
    "carbon": "least carbon",
}


def render(shape: str, found: GpuChoice, context: Context) -> str:
    """Return a choice in a format."""
    return {"text": render_text, "csv": render_csv, "json": render_json, "html": render_html}[shape](
        found, context
    )


def render_text(found: GpuChoice, context: Context) -> str:
    """Return the ranking as a table, the best first, and what was left out."""
    return to_text(_parts(found, context), context)


def _parts(found: GpuChoice, context: Context) -> Iterator[RenderableType]:
    question = found.question
    limit = (
        ""
        if question.max_slowdown is None
        else f", at most {100 * question.max_slowdown:.3g} % longer than the fastest"
    )
    yield Text(f"{title(found)}: {GOALS[question.goal]}{limit}", style=HEADING)
    shown = found.candidates if context.verbosity > 0 else found.candidates[:MOST]
    yield _table(found, shown, narrow=context.width < NARROW)
    yield Text("")
    hidden = len(found.candidates) - len(shown)
    if hidden:
        yield Text(f"{hidden} more: -v shows all, -o FILE.csv|.json|.html keeps all.", style=QUIET)
    power = " * at the power limit." if any(one.at_power_limit for one in shown) else ""
    yield Text(
        f"{BEST} best; without it several cannot be told apart. Intervals hold 80 %. best: how likely no "
        "other is better. × best: draw by draw, so that "
        f"what is uncertain about all alike cancels.{power}",
        style=QUIET,
    )
    for line in remarks(found):
        yield Text(line, style=QUIET)
    for reason, names in left_out(found.left_out).items():
        said = names if context.verbosity > 0 else names[:MOST_LEFT_OUT]
        more = f" and {len(names) - len(said)} more: -v" if len(said) < len(names) else ""
        yield Text(f"! {plain(reason)}: {plain(', '.join(said))}{more}", style="yellow")


def title(found: GpuChoice) -> str:
    """Return what runs, in a line."""
    names = list(dict.fromkeys(found.tasks))
    said = ", ".join(plain(without_parameters(name)) for name in names[:3])
    return f"{said} and {len(names) - 3} more" if len(names) > 3 else said


def remarks(found: GpuChoice) -> list[str]:
    """Return where prices and intensity come from, and what was taken for granted."""
    question = found.question
    said = []
    if question.prices is not None:
        said.append(f"Prices: {question.prices.file}, {question.prices.currency}.")
    if question.carbon is not None:
        said.append(f"Carbon: {question.carbon.per_kwh:.3g} kg CO2e/kWh, {question.carbon.source}.")
    if found.assumptions:
        said.append(f"Taken for granted: {'; '.join(found.assumptions)}.")
    return said


def left_out(found: Sequence[LeftOut]) -> dict[str, list[str]]:
    """Return reason to the names of the GPUs."""
    reasons: dict[str, list[str]] = {}
    for one in found:
        reasons.setdefault(one.reason, []).append(one.gpu)
    return reasons


def _table(found: GpuChoice, shown: Sequence[Candidate], *, narrow: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold", collapse_padding=narrow)
    table.add_column("")
    table.add_column("GPU", overflow="fold")
    for head in heads(found):
        table.add_column(head, justify="right", no_wrap=head != "offer")
    for at, one in enumerate(shown):
        star = at == 0 and one.probability >= SURE
        style = "bold green" if star else ""
        both = (Text.assemble(value, (f"\n{around}", QUIET)) for value, around in cells(found, one))
        table.add_row(BEST if star else "", Text(plain(one.gpu.name), style=style), *both)
    return table


def heads(found: GpuChoice) -> list[str]:
    """Return the heads of the columns behind the GPU's name."""
    question = found.question
    money = [f"{question.prices.currency}/1M runs", "offer"] if question.prices is not None else []
    carbon = ["CO2e/1M runs"] if question.carbon is not None else []
    return [*money, "time", "energy", *carbon, "best", "× best"]


def cells(found: GpuChoice, one: Candidate) -> list[tuple[str, str]]:
    """Return text and interval of every column behind the GPU's name."""
    question, stars = found.question, "*" if one.at_power_limit else ""
    said: list[tuple[str, str]] = []
    if question.prices is not None:
        said.append(_plain_number(one.cost, MILLION) if one.cost is not None else ("not known", ""))
        said.append((plain(one.offer.name) if one.offer is not None else "none", ""))
    said += [
        (si(one.time.value, "s") + stars, bounds(one.time)),
        (si(one.energy.value, "J"), bounds(one.energy)),
    ]
    if one.carbon is not None:
        grams = one.carbon.scaled(1e3 * MILLION, "g")
        said.append((si(grams.value, "g"), bounds(grams)))
    return [*said, (percent(one.probability), ""), _plain_number(one.times_best, 1.0)]


def _plain_number(estimate: Estimate, factor: float) -> tuple[str, str]:
    """Return a number with three digits and its interval."""
    low, high = (f"{x * factor:.3g}" for x in (estimate.low, estimate.high))
    return f"{estimate.value * factor:.3g}", f"{low}–{high}" if low != high else ""


def records(found: GpuChoice) -> list[dict[str, Any]]:
    """Return column to value for every candidate, the best first; SI units, money in the currency."""
    return [_record(found, rank, one) for rank, one in enumerate(found.candidates, start=1)]


def _record(found: GpuChoice, rank: int, one: Candidate) -> dict[str, Any]:
    prices = found.question.prices
    return {
        "rank": rank,
        "gpu": one.gpu.name,
        "offer": one.offer.name if one.offer is not None else None,
        "offer_source": one.offer.source if one.offer is not None else None,
        "objective": found.question.goal,
        "currency": prices.currency if prices is not None else None,
        **interval_columns("cost", "", one.cost),
        **interval_columns(
            "cost_per_million_runs", "", one.cost.scaled(MILLION) if one.cost is not None else None
        ),
        **interval_columns("time", "_s", one.time),
        **interval_columns("energy", "_j", one.energy),
        **interval_columns("carbon", "_kg", one.carbon),
        "probability_best": one.probability,
        **interval_columns("times_best", "", one.times_best),
        "limited_by_power": one.at_power_limit,
        "left_out": None,
    }


def render_csv(found: GpuChoice, _: Context) -> str:
    """Return a header line and one line per GPU; those left out have no rank, and say why."""
    none = [
        {
            "gpu": one.gpu,
            "objective": found.question.goal,
            "left_out": "; ".join(filter(None, (one.reason, one.detail))),
        }
        for one in found.left_out
    ]
    return csv_of([*records(found), *none])


def render_json(found: GpuChoice, context: Context) -> str:
    """Return one JSON document; its schema is that of sweeps."""
    question = found.question
    choice = {
        "objective": question.goal,
        "tasks": list(found.tasks),
        "max_slowdown": question.max_slowdown,
        "currency": question.prices.currency if question.prices is not None else None,
        "carbon_kg_per_kwh": question.carbon.per_kwh if question.carbon is not None else None,
        "carbon_source": question.carbon.source if question.carbon is not None else None,
        "candidates": [{k: v for k, v in line.items() if k != "left_out"} for line in records(found)],
        "left_out": [{"gpu": one.gpu, "reason": one.reason, "detail": one.detail} for one in found.left_out],
        "assumptions": list(found.assumptions),
    }
    return dump({**header(context, SCHEMA), "rows": [], "gpu_choice": choice})


def render_html(found: GpuChoice, context: Context) -> str:
    """Return a page: the ranking as bars with intervals, the table, what was left out. No scripts."""
    from markupsafe import Markup

    from warpwatt.render.assets import concatenate, environment

    page = environment().get_template("choice.html")
    return page.render(
        title=title(found),
        goal=GOALS[found.question.goal],
        heads=heads(found),
        lines=[(one.gpu.name, cells(found, one)) for one in found.candidates],
        bars=bars(found.candidates),
        remarks=remarks(found),
        left_out=[
            (why, ", ".join(names), plural(len(names), "GPU"))
            for why, names in left_out(found.left_out).items()
        ],
        context=context,
        style=Markup(concatenate(STYLES)),  # noqa: S704 - our own file
    )


def bars(candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
    """Return for each candidate where its bar and its whisker end, in percent of the width."""
    shown = candidates[:MOST]
    widest = max((one.times_best.high for one in shown), default=1.0) or 1.0

    def place(value: float) -> float:
        return round(100 * value / widest, 2)

    return [
        {
            "name": one.gpu.name + (f", {one.offer.name}" if one.offer is not None else ""),
            "value": place(one.times_best.value),
            "low": place(one.times_best.low),
            "high": place(one.times_best.high),
            "text": f"{one.times_best.value:.3g}",
        }
        for one in shown
    ]
