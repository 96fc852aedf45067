"""Regressions as annotations of GitHub Actions, on the new line that costs most more than before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.units import si
from warpwatt.render.compare.words import (
    figure_text,
    relative,
    relative_bounds,
    short_file,
    signed,
)
from warpwatt.render.github import annotation, repository_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpwatt.core.comparison import Comparison, ComparisonSet, LineChange, Shift
    from warpwatt.core.estimate import Estimate
    from warpwatt.render.context import Context

WORST_LINES = 3
LINE_FIGURES = 2


def render(comparisons: ComparisonSet, context: Context) -> str:  # noqa: ARG001 - every renderer's signature
    """Return a warning for every clear rise of time or energy, a notice with the sums for all else."""
    lines = [text for one in comparisons.comparisons for text in _annotations(comparisons, one)]
    return "".join(f"{line}\n" for line in lines)


def _annotations(comparisons: ComparisonSet, comparison: Comparison) -> Iterator[str]:
    name = comparison.kernel.partition("(")[0]
    title = f"{name} on {comparison.new.case.gpu.name}"
    worse = [shift for shift in (comparison.time, comparison.energy) if shift.clear and shift.ratio.value > 1]
    for shift in worse:
        risen = _risen(comparison, shift)
        text = "\n".join((_sum(shift), *(_line_text(comparisons, line, shift) for line in risen)))
        file, line = (_file(comparisons, risen[0]), risen[0].new_line) if risen else ("", None)
        yield annotation("warning", text, file=file, line=line, title=f"{title}: more {shift.name}")
    if not worse:
        yield annotation("notice", "; ".join(_sum(shift) for shift in comparison.shifts), title=title)


def _risen(comparison: Comparison, shift: Shift) -> list[LineChange]:
    """Return the lines of the new source that a quantity rises on, the most first."""
    rises = [(_change(line, shift).value, line) for line in comparison.lines if line.new_line is not None]
    ranked = sorted((rise for rise in rises if rise[0] > 0), key=lambda rise: -rise[0])
    return [line for _, line in ranked[:WORST_LINES]]


def _change(line: LineChange, shift: Shift) -> Estimate:
    return line.time if shift.name == "time" else line.energy


def _sum(shift: Shift) -> str:
    around = relative_bounds(shift.ratio)
    sides = f"{si(shift.old.value, shift.old.unit)} → {si(shift.new.value, shift.new.unit)}"
    return f"{shift.name} {sides}, {relative(shift.ratio.value)}{f' ({around})' if around else ''}"


def _line_text(comparisons: ComparisonSet, line: LineChange, shift: Shift) -> str:
    facts = ", ".join(figure_text(figure) for figure in line.figures[:LINE_FIGURES])
    where = f"{_file(comparisons, line)}:{line.new_line}"
    return f"{where} {signed(_change(line, shift))}: {line.text.strip()}{f' ({facts})' if facts else ''}"


def _file(comparisons: ComparisonSet, line: LineChange) -> str:
    return repository_path(short_file(comparisons, line.file))
