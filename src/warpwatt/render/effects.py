"""Why a learned model predicts what it predicts: its features by SHAP and LIME, as a table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warpwatt.core.units import si
from warpwatt.render.console import HEADING, QUIET

if TYPE_CHECKING:
    from rich.console import RenderableType

    from warpwatt.core.case import FeatureEffect, LearnedReasons
    from warpwatt.core.estimate import Estimate

MOST_LISTED = 15
"""Features in the table; the others stand together."""
FIT = 0.5
"""R² of LIME's linear model below which the table says that it explains little."""
NOTE = (
    "SHAP: mean contribution over all orders of learning the features; they lead from the mean of training "
    "to the prediction. LIME: what the distance from the mean adds in a linear model around this launch"
)


def learned_table(what: str, value: Estimate, reasons: LearnedReasons) -> Iterator[RenderableType]:
    """Yield heading, table and note for one learned quantity."""
    mean = (
        f" ({si(reasons.usual, reasons.unit)} in the mean of training)" if reasons.usual is not None else ""
    )
    title = f"What pushes {what.lower()} up or down: {si(value.value, value.unit)}{mean}"
    yield Text(title, style=HEADING)
    yield Padding(_table(reasons), (0, 0, 0, 2))
    doubt = "" if reasons.lime_fit >= FIT else ", which explains little here"
    yield Padding(Text(f"{NOTE} (R² {reasons.lime_fit:.2f}{doubt}).", style=QUIET), (0, 0, 0, 2))


def _table(reasons: LearnedReasons) -> Table:
    has_shap = reasons.usual is not None
    table = Table(box=None, pad_edge=False, header_style=QUIET)
    table.add_column("feature", no_wrap=True)
    for title in ("value", "in training"):
        table.add_column(title, justify="right", no_wrap=True)
    for title in ("SHAP", "LIME") if has_shap else ("LIME",):
        table.add_column(f"{title}, {reasons.unit}", justify="right", no_wrap=True)
    shown, rest = reasons.effects[:MOST_LISTED], reasons.effects[MOST_LISTED:]
    for effect in shown:
        outside = "" if effect.low <= effect.value <= effect.high else " !"
        among = f"{effect.low:.4g} to {effect.high:.4g}{outside}"
        table.add_row(effect.name, f"{effect.value:.6g}", among, *_cells([effect], has_shap=has_shap))
    if rest:
        table.add_row(f"{len(rest)} others", "", "", *_cells(rest, has_shap=has_shap))
    return table


def _cells(effects: list[FeatureEffect] | tuple[FeatureEffect, ...], *, has_shap: bool) -> list[str]:
    lime = f"{math.fsum(e.lime for e in effects):+.3g}"
    return [f"{math.fsum(e.shap or 0.0 for e in effects):+.3g}", lime] if has_shap else [lime]
