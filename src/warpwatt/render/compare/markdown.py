"""A comparison as a comment on a pull request: one row per kernel and GPU, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from warpwatt.core.comparison import Comparison, ComparisonSet, QuantityChange
from warpwatt.core.units import si
from warpwatt.frontend.select import without_parameters
from warpwatt.render.compare.words import relative, relative_bounds, verdict

if TYPE_CHECKING:
    from warpwatt.render.context import Context

HEAD = ("| kernel | GPU | time | | energy | | |", "|---|---|---|---|---|---|---|")


def render(comparisons: ComparisonSet, context: Context) -> str:  # noqa: ARG001 - every renderer's signature
    """Return a table, then what is only on one side; nothing where there is nothing to compare."""
    rows = [_row(one) for one in comparisons.comparisons]
    gone = [f"- removed: {_code(p.kernel_name)}" for p in comparisons.removed]
    come = [
        f"- new: {_code(p.kernel_name)} on {_cell(p.case.gpu.name)}: {si(p.time.value, 's')}, "
        f"{si(p.energy.value, 'J')}"
        for p in comparisons.added
    ]
    lines = [*(HEAD if rows else ()), *rows, "", *gone, *come]
    return "\n".join(lines).strip() + "\n"


def _row(comparison: Comparison) -> str:
    cells = (_code(without_parameters(comparison.kernel)), _cell(comparison.new.case.gpu.name))
    changes = (cell for change in (comparison.time, comparison.energy) for cell in _change(change))
    return f"| {' | '.join((*cells, *changes, verdict(comparison.time)))} |"


def _change(change: QuantityChange) -> Iterator[str]:
    yield f"{si(change.old.value, change.old.unit)} → {si(change.new.value, change.new.unit)}"
    around = relative_bounds(change.ratio)
    text = relative(change.ratio.value) + (f" ({around})" if around else "")
    yield f"**{text}**" if change.clear else text


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _code(text: str) -> str:
    return f"`{_cell(text).replace('`', '')}`"
