"""Changes in words and numbers that all formats for people share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from warpwatt.core.comparison import (
    Comparison,
    ComparisonSet,
    Figure,
    LineChange,
    LineStatus,
    Measure,
    QuantityChange,
    Topic,
)
from warpwatt.core.estimate import Estimate
from warpwatt.core.units import binary_bytes, si
from warpwatt.render.figures import bounds, count, percent
from warpwatt.render.words import component_name, unit_name

MINUS = "−"
MANY_TIMES = 3.0
"""From this ratio on a change is told as a factor, below as a percentage."""
TITLES: Mapping[Topic, str] = {
    Topic.CONDITIONS: "Conditions",
    Topic.RESOURCES: "Resources",
    Topic.OCCUPANCY: "Occupancy",
    Topic.INSTRUCTIONS: "Warp instructions",
    Topic.MEMORY: "Memory",
    Topic.STALLS: "Stalls",
    Topic.ENERGY: "Energy",
}
MARKS: Mapping[LineStatus, str] = {
    LineStatus.SAME: " ",
    LineStatus.MOVED: "→",
    LineStatus.CHANGED: "~",
    LineStatus.ADDED: "+",
    LineStatus.REMOVED: MINUS,
}
LEGEND = (
    "~ changed, → moved, + added, − removed. Brackets hold 80 % of what parameters and assumptions leave "
    "open of the difference: what is wrong on both sides alike cancels in it."
)
SMALL = 0.005
"""Lines whose change is below this share of the larger whole are not shown unless asked for."""


def relative(ratio: float) -> str:
    """Return a ratio as what it adds, or as a factor where that is easier to grasp.

    >>> relative(0.62), relative(1.261), relative(4.0), relative(0.1), relative(1.0), relative(float("nan"))
    ('−38 %', '+26 %', '×4.0', '−90 %', '±0 %', '?')
    """
    if not math.isfinite(ratio):
        return "?"
    if ratio >= MANY_TIMES:
        return f"×{ratio:.3g}" if ratio >= 10 else f"×{ratio:.1f}"
    change = round((ratio - 1.0) * 100)
    exact = abs(ratio - 1.0) * 100
    if change == 0:
        return "±0 %" if exact < 0.05 else f"{'+' if ratio > 1 else MINUS}{exact:.1f} %"
    return f"{'+' if change > 0 else MINUS}{abs(change)} %"


def relative_bounds(ratio: Estimate) -> str:
    """Return the interval of a ratio, empty where there is no ratio."""
    low, high = relative(ratio.low), relative(ratio.high)
    return "" if "?" in (low, high) else f"{low} to {high}"


def signed(estimate: Estimate) -> str:
    """Return a difference with its sign and unit.

    >>> from warpwatt.core.estimate import Estimate
    >>> signed(Estimate.exact(-1.5e-5, "s")), signed(Estimate.exact(2.0, "W"))
    ('−15.0 µs', '+2.00 W')
    """
    text = si(abs(estimate.value), estimate.unit)
    return text if estimate.value == 0 else f"{MINUS if estimate.value < 0 else '+'}{text}"


def side(estimate: Estimate) -> tuple[str, str]:
    """Return value and interval of one side."""
    return si(estimate.value, estimate.unit), bounds(estimate)


def value_text(figure: Figure, value: float | str | None) -> str:
    """Return one side of a figure for people."""
    if value is None or value == "":
        return "none"
    if isinstance(value, str):
        return value
    if figure.measure is Measure.SHARE:
        return percent(value)
    if figure.measure is Measure.SIZE:
        return binary_bytes(value)
    unit = {Measure.BYTES: "B", Measure.HERTZ: "Hz", Measure.JOULES: "J"}.get(figure.measure)
    return count(value) if unit is None else si(value, unit)


def figure_name(figure: Figure) -> str:
    """Return what a figure is called.

    >>> from warpwatt.core.comparison import Figure, Measure, Topic
    >>> figure_name(Figure(Topic.ENERGY, "l2", Measure.JOULES, 0.0, 1.0))
    'L2 traffic'
    """
    if figure.topic is Topic.ENERGY:
        return component_name(figure.name)
    return unit_name(figure.name.removeprefix("on unit ")) if "on unit" in figure.name else figure.name


def figure_change(figure: Figure) -> str:
    """Return how much a number changes, empty where that says nothing."""
    return "" if figure.ratio is None else relative(figure.ratio)


def figure_text(figure: Figure) -> str:
    """Return a figure as one phrase: ``sectors per request 32 → 4``."""
    before, after = value_text(figure, figure.old), value_text(figure, figure.new)
    return f"{figure_name(figure)} {before} → {after}"


def topics(figures: Iterable[Figure]) -> dict[Topic, list[Figure]]:
    """Return figures by topic, in the order of reports."""
    found: dict[Topic, list[Figure]] = {}
    for figure in figures:
        found.setdefault(figure.topic, []).append(figure)
    return {topic: found[topic] for topic in Topic if topic in found}


def told_lines(comparison: Comparison, *, everything: bool = False) -> list[LineChange]:
    """Return the lines worth showing: those that change time or energy, or whose text changed."""
    time = max(comparison.old.time.value, comparison.new.time.value)
    energy = max(comparison.old.energy.value, comparison.new.energy.value)
    return [
        line
        for line in comparison.lines
        if everything
        or line.status is LineStatus.CHANGED
        or abs(line.time.value) >= SMALL * time
        or abs(line.energy.value) >= SMALL * energy
    ]


def numbers(line: LineChange) -> str:
    """Return where a line is and was: ``14``, ``14→18``."""
    old, new = line.old_line, line.new_line
    if old is None or new is None or old == new:
        return str(new if new is not None else old)
    return f"{old}→{new}"


def title(comparison: Comparison) -> str:
    """Return kernel and GPU of both sides, once where they are the same."""
    old, new = comparison.old, comparison.new
    kernels = dict.fromkeys((old.kernel_name, new.kernel_name))
    gpus = dict.fromkeys((old.case.gpu.name, new.case.gpu.name))
    return f"{' → '.join(kernels)} · {' → '.join(gpus)}"


def verdict(change: QuantityChange) -> str:
    """Return in a word what a change of time, power or energy is: ``faster``, ``slower``, ``as before``.

    A change whose interval holds no change at all is ``not clear``.
    """
    words = {"time": ("faster", "slower"), "power": ("less power", "more power")}
    less, more = words.get(change.name, ("less energy", "more energy"))
    if change.clear:
        return less if change.ratio.value < 1 else more
    unmoved = max(abs(change.ratio.low - 1), abs(change.ratio.high - 1)) < 2 * SMALL
    return "as before" if unmoved else "not clear"


def short_file(comparison: ComparisonSet, file: str) -> str:
    """Return what a file is called, relative to the working directory where it lies below it."""
    name = Path(comparison.name(file))
    try:
        return name.resolve().relative_to(Path.cwd()).as_posix() if name.is_absolute() else name.as_posix()
    except ValueError:
        return name.as_posix()
