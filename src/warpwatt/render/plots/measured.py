"""Pictures of measured points and fitted curves as SVG: no library, no script, printable."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.lab.measure.constants import Plot

WIDTH, HEIGHT = 420, 260
LEFT, RIGHT, TOP, BOTTOM = 70, 14, 12, 44
_TICKS = 5


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from ``low`` to ``high`` over the pixels ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """Return the pixel of a value, one decimal.

        >>> Scale(0.0, 10.0, 0.0, 100.0)(5.0), Scale(1.0, 100.0, 0.0, 100.0, True)(10.0)
        (50.0, 50.0)
        """
        low, high, at = self.low, self.high, value
        if self.logarithmic:
            low, high, at = math.log(low), math.log(high), math.log(value)
        return round(self.start + (at - low) / (high - low) * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Return round values along the axis.

        >>> Scale(0.0, 100.0, 0.0, 1.0).ticks()
        [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
        """
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            step = max((last - first) // _TICKS, 1)
            return [10.0**e for e in range(first, last + 1, step)]
        raw = (self.high - self.low) / _TICKS
        size = 10.0 ** math.floor(math.log10(raw))
        size_of_step = next(size * m for m in (1, 2, 5, 10) if size * m >= raw * 0.999)
        first_index, last_index = (
            math.ceil(self.low / size_of_step - 1e-9),
            math.floor(self.high / size_of_step + 1e-9),
        )
        return [index * size_of_step for index in range(first_index, last_index + 1)]


def svg(plot: Plot) -> str:
    """Return a picture with axes, points and curve; its title says what it shows."""
    x = _scale(plot.x, LEFT, WIDTH - RIGHT, logarithmic=plot.logarithmic_x, from_zero=False)
    y = _scale([*plot.y, *plot.curve_y], HEIGHT - BOTTOM, TOP, logarithmic=False, from_zero=True)
    middle, names = (LEFT + WIDTH - RIGHT) / 2, (escape(plot.x_label), escape(plot.y_label))
    title = f"{escape(plot.title)}: {names[1]} against {names[0]}, {len(plot.x)} points"
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>{title}</title>',
        *_axes(x, y),
        f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{names[0]}</text>',
        f'<text x="{LEFT}" y="{TOP - 2}" text-anchor="end">{names[1]}</text>',
    ]
    if plot.curve_x:
        path = " ".join(f"{x(a)},{y(b)}" for a, b in zip(plot.curve_x, plot.curve_y, strict=True))
        parts.append(f'<polyline points="{path}"/>')
    parts += [
        f'<circle cx="{x(a)}" cy="{y(b)}" r="3"><title>{a:.6g}: {b:.6g}</title></circle>'
        for a, b in zip(plot.x, plot.y, strict=True)
    ]
    return "\n".join([*parts, "</svg>"])


def _axes(x: Scale, y: Scale) -> list[str]:
    lines = []
    for value in x.ticks():
        at = x(value)
        lines.append(f'<line x1="{at}" x2="{at}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        lines.append(f'<text x="{at}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{value:.4g}</text>')
    for value in y.ticks():
        at = y(value)
        lines.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at}" y2="{at}"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{at + 4}" text-anchor="end">{value:.4g}</text>')
    return lines


def _scale(values: Sequence[float], start: float, end: float, *, logarithmic: bool, from_zero: bool) -> Scale:
    """Return an axis that holds the values, never empty."""
    low, high = min(values), max(values)
    if logarithmic and low > 0:
        return Scale(low / 1.2, high * 1.2, start, end, logarithmic=True)
    low = min(low, 0.0) if from_zero else low
    margin = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
    return Scale(low if from_zero else low - margin, high + margin, start, end)
