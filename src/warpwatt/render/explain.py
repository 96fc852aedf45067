"""The explanation of each prediction as sentences, grouped by topic."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from warpwatt.render.console import HEADING, plain, to_text
from warpwatt.render.document import all_warnings
from warpwatt.render.findings import findings
from warpwatt.render.text import headline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from warpwatt.core.prediction import Prediction
    from warpwatt.render.context import Context
    from warpwatt.render.findings import Finding


def render(predictions: Sequence[Prediction], context: Context) -> str:
    """Return what limits each kernel and why, what is assumed, and what would help."""
    return to_text((part for p in predictions for part in _account(p)), context)


def _account(prediction: Prediction) -> Iterator[RenderableType]:
    yield headline(prediction)
    for topic, group in groupby(findings(prediction), key=lambda finding: finding.topic):
        yield from _topic(topic, group)
    warnings = all_warnings(prediction)
    if warnings:
        yield Text("Warnings", style=HEADING)
        yield from (Padding(Text(plain(w), style="yellow"), (0, 0, 0, 2)) for w in warnings)
    yield Text("")


def _topic(topic: str, group: Iterable[Finding]) -> Iterator[RenderableType]:
    yield Text(topic, style=HEADING)
    for finding in group:
        fix = f" → {plain(finding.fix)}" if finding.fix else ""
        yield Padding(Text.assemble(plain(finding.text), (fix, "bold")), (0, 0, 0, 2))
