"""The explanation of each prediction as sentences, grouped by topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from warpwatt.core.prediction import Prediction
from warpwatt.render.annotated import advice_table, annotated
from warpwatt.render.console import HEADING, glued, plain, to_text
from warpwatt.render.effects import learned_table
from warpwatt.render.findings import findings
from warpwatt.render.learned import learned_parts
from warpwatt.render.reasons import HELP
from warpwatt.render.reservations import reservation_parts
from warpwatt.render.text import headline
from warpwatt.render.warned import all_warnings

if TYPE_CHECKING:
    from rich.console import RenderableType

    from warpwatt.render.context import Context
    from warpwatt.render.reasons import Finding


def render(predictions: Sequence[Prediction], context: Context) -> str:
    """Return what limits each kernel and why, what is assumed, and what would help."""
    return to_text((part for p in predictions for part in _account(p, context)), context)


def _account(prediction: Prediction, context: Context) -> Iterator[RenderableType]:
    yield headline(prediction)
    for topic, group in groupby(findings(prediction), key=lambda finding: finding.topic):
        if topic == HELP and prediction.advice:
            yield Text(topic, style=HEADING)
            yield Padding(advice_table(prediction.advice), (0, 0, 0, 2))
        else:
            yield from _topic(topic, group)
    for what, value, reasons in learned_parts(prediction):
        yield from learned_table(what, value, reasons)
    if prediction.timing.reservations is not None:
        yield from reservation_parts(prediction.timing.reservations())
    if prediction.timing.warps is not None:
        yield Text("Line by line (shares of warp time)", style=HEADING)
        yield from (Padding(part, (0, 0, 0, 2)) for part in annotated(prediction, context))
    warnings = all_warnings(prediction)
    if warnings:
        yield Text("Warnings", style=HEADING)
        yield from (Padding(Text(plain(w), style="yellow"), (0, 0, 0, 2)) for w in warnings)
    yield Text("")


def _topic(topic: str, group: Iterable[Finding]) -> Iterator[RenderableType]:
    yield Text(topic, style=HEADING)
    for finding in group:
        fix = f" → {plain(finding.fix)}" if finding.fix else ""
        yield Padding(Text.assemble(glued(plain(finding.text)), (fix, "bold")), (0, 0, 0, 2))
