"""Recommendations as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warpwatt.core.estimate import Estimate
from warpwatt.core.units import si
from warpwatt.render.console import HEADING, QUIET, plain, to_text
from warpwatt.render.json import dump, header
from warpwatt.render.sweep.columns import SCHEMA
from warpwatt.render.sweep.tables import csv_of, records
from warpwatt.sweep.points import name, varying

if TYPE_CHECKING:
    from rich.console import RenderableType

    from warpwatt.choose.recommend import Recommendation
    from warpwatt.render.context import Context
    from warpwatt.sweep.rows import Range

VOLTAGE_UNREAD = (
    "nobody published voltages of this chip: only clocks are advised that pay if the voltage hardly falls too"
)
GOALS = {"time": "least time", "energy": "least energy", "edp": "least energy × time"}


def render(found: Sequence[Recommendation], max_slowdown: float | None, context: Context) -> str:
    """Return one paragraph per launch and GPU, the best GPU of a launch first."""
    return to_text(_parts(found, max_slowdown, context), context)


def _parts(
    found: Sequence[Recommendation], max_slowdown: float | None, context: Context
) -> Iterator[RenderableType]:
    limit = "" if max_slowdown is None else f", at most {100 * max_slowdown:.3g} % more time"
    launch = -1
    for one in found:
        if one.chosen.launch != launch:
            launch = one.chosen.launch
            yield Text(f"{plain(one.chosen.kernel)}: {GOALS[one.goal]}{limit}", style=HEADING)
        yield Text.assemble((one.chosen.gpu, "bold"), f": {_what(one)}")
        yield Padding(_table(one), (0, 0, 0, 2))
        if one.chosen.number != one.baseline.number:
            yield Text(f"  {_odds(one)}", style=QUIET)
        elif not one.voltage_read:
            yield Text(f"  {VOLTAGE_UNREAD}", style=QUIET)
        if one.commands:
            yield Text(f"  {one.commands[0]}", style="green")
            yield Text(f"  undo: {one.commands[1]}; neither was run", style=QUIET)
    if context.verbosity >= 0:
        yield Text("")
        yield Text("Intervals hold 80 %; what is uncertain before and after alike cancels.", style=QUIET)


def _odds(one: Recommendation) -> str:
    """Return how likely the advice is to cost more, and what is not known."""
    chance = "under 1" if one.loss < 0.01 else f"{100 * one.loss:.0f}"
    said = f"chance that it costs more: {chance} %"
    return said if one.voltage_read or not one.commands else f"{said}; {VOLTAGE_UNREAD}"


def _what(one: Recommendation) -> str:
    """Return what is recommended in words."""
    if one.chosen.number == one.baseline.number:
        return "leave it as it is; nothing else does better"
    said = name(one.chosen, varying([one.baseline, one.chosen]))
    return f"{said} (now {name(one.baseline, varying([one.baseline, one.chosen]))})"


def _table(one: Recommendation) -> Table:
    table = Table.grid(padding=(0, 2))
    rows: tuple[tuple[str, str, Range | None, Range | None, str], ...] = (
        ("time", "s", one.baseline.time, one.chosen.time, share(one.slowdown)),
        ("power", "W", one.baseline.power, one.chosen.power, ""),
        ("energy", "J", one.baseline.energy, one.chosen.energy, share(one.energy_saving.scaled(-1.0))),
    )
    for label, unit, before, after, change in rows:
        assert before is not None
        assert after is not None
        table.add_row(label, f"{si(before.value, unit)} → {si(after.value, unit)}", change)
    if one.goal == "edp":
        table.add_row("energy × time", "", share(one.saving.scaled(-1.0)))
    return table


def share(change: Estimate) -> str:
    """Return a relative change in percent with its interval.

    >>> from warpwatt.core.estimate import Estimate, Source
    >>> share(Estimate(-0.212, "", -0.25, -0.18, Source.MODELLED))
    '−21.2 % (−25.0 to −18.0)'
    """
    value, low, high = (_signed(x) for x in (change.value, change.low, change.high))
    return f"{value} % ({low} to {high})" if low != high else f"{value} %"


def _signed(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")


def render_json(found: Sequence[Recommendation], _: float | None, context: Context) -> str:
    """Return one JSON document; rows are as in sweeps."""
    return dump({**header(context, SCHEMA), "rows": [], "recommendations": [_document(one) for one in found]})


def _document(one: Recommendation) -> dict[str, Any]:
    baseline, chosen = records([one.baseline, one.chosen])
    return {
        "objective": one.goal,
        "gpu": one.chosen.gpu,
        "baseline": baseline,
        "chosen": chosen,
        "slowdown": _estimate(one.slowdown),
        "energy_saving": _estimate(one.energy_saving),
        "saving": _estimate(one.saving),
        "chance_of_loss": one.loss,
        "voltage_read": one.voltage_read,
        "commands": list(one.commands),
    }


def _estimate(value: Estimate) -> dict[str, Any]:
    return {"value": value.value, "low": value.low, "high": value.high, "source": str(value.source)}


def render_csv(found: Sequence[Recommendation], _: float | None, __: Context) -> str:
    """Return a line for every baseline and every chosen point: three columns, then those of sweeps."""
    lines = []
    for one in found:
        for role, record in zip(("baseline", "chosen"), records([one.baseline, one.chosen]), strict=True):
            share = one.saving.value if role == "chosen" else 0.0
            lines.append({"role": role, "objective": one.goal, "saving": share, **record})
    return csv_of(lines)


FORMATS = {"text": render, "json": render_json, "csv": render_csv}
"""Format to what renders it."""
