"""Regressions as annotations of GitHub Actions, on the new line that costs most more than before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from warpwatt.core.comparison import Comparison, ComparisonSet, LineChange, QuantityChange
from warpwatt.core.estimate import Estimate
from warpwatt.core.units import si
from warpwatt.frontend.select import without_parameters
from warpwatt.render.compare.words import (
    figure_text,
    relative,
    relative_bounds,
    short_file,
    signed,
)
from warpwatt.render.github import annotation, repository_path

if TYPE_CHECKING:
    from warpwatt.render.context import Context

WORST_LINES = 3
LINE_FIGURES = 2


def render(comparisons: ComparisonSet, context: Context) -> str:  # noqa: ARG001 - every renderer's signature
    """Return a warning for every clear rise of time or energy, a notice with the sums for all else."""
    lines = [text for one in comparisons.comparisons for text in _annotations(comparisons, one)]
    return "".join(f"{line}\n" for line in lines)


def _annotations(comparisons: ComparisonSet, comparison: Comparison) -> Iterator[str]:
    name = without_parameters(comparison.kernel)
    title = f"{name} on {comparison.new.case.gpu.name}"
    worse = [
        change for change in (comparison.time, comparison.energy) if change.clear and change.ratio.value > 1
    ]
    for change in worse:
        risen = _risen(comparison, change)
        text = "\n".join((_sum(change), *(_line_text(comparisons, line, change) for line in risen)))
        file, line = (_file(comparisons, risen[0]), risen[0].new_line) if risen else ("", None)
        yield annotation("warning", text, file=file, line=line, title=f"{title}: more {change.name}")
    if not worse:
        yield annotation("notice", "; ".join(_sum(change) for change in comparison.changes), title=title)


def _risen(comparison: Comparison, change: QuantityChange) -> list[LineChange]:
    """Return the lines of the new source that a quantity rises on, the most first."""
    rises = [(_change(line, change).value, line) for line in comparison.lines if line.new_line is not None]
    ranked = sorted((rise for rise in rises if rise[0] > 0), key=lambda rise: -rise[0])
    return [line for _, line in ranked[:WORST_LINES]]


def _change(line: LineChange, change: QuantityChange) -> Estimate:
    return line.time if change.name == "time" else line.energy


def _sum(change: QuantityChange) -> str:
    around = relative_bounds(change.ratio)
    sides = f"{si(change.old.value, change.old.unit)} → {si(change.new.value, change.new.unit)}"
    return f"{change.name} {sides}, {relative(change.ratio.value)}{f' ({around})' if around else ''}"


def _line_text(comparisons: ComparisonSet, line: LineChange, change: QuantityChange) -> str:
    facts = ", ".join(figure_text(figure) for figure in line.figures[:LINE_FIGURES])
    where = f"{_file(comparisons, line)}:{line.new_line}"
    return f"{where} {signed(_change(line, change))}: {line.text.strip()}{f' ({facts})' if facts else ''}"


def _file(comparisons: ComparisonSet, line: LineChange) -> str:
    return repository_path(short_file(comparisons, line.file))
