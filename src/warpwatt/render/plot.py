"""Geometry of the roofline plot: where roofs, ticks and the kernel's point lie in an SVG picture.

The picture is drawn by a template. Our own lines instead of a plotting library keep the page a hundred
times smaller than one that carries the library along, and printable without scripts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.units import si

if TYPE_CHECKING:
    from warpwatt.render.roofline import Roof, Roofline

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 88, 24, 24, 52


@dataclass(frozen=True, slots=True)
class Axis:
    """A logarithmic axis from ``low`` to ``high`` over the pixels ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the pixel of a value, one decimal.

        >>> Axis(1.0, 100.0, 0.0, 200.0)(10.0)
        100.0
        """
        share = math.log10(value / self.low) / math.log10(self.high / self.low)
        return round(self.start + share * (self.end - self.start), 1)

    @property
    def decades(self) -> list[float]:
        """Powers of ten on the axis, ends included."""
        first, last = round(math.log10(self.low)), round(math.log10(self.high))
        return [10.0**exponent for exponent in range(first, last + 1)]


@dataclass(frozen=True, slots=True)
class Line:
    """One roof as drawn, with its label at ``(label_x, label_y)`` turned by ``angle`` degrees."""

    name: str
    label: str
    kind: str
    binding: bool
    x1: float
    y1: float
    x2: float
    y2: float
    label_x: float
    label_y: float
    angle: float = 0.0


@dataclass(frozen=True, slots=True)
class Tick:
    """A grid line and its label."""

    position: float
    label: str


@dataclass(frozen=True, slots=True)
class RooflinePlot:
    """Everything the template draws; pixels, and the sentence that describes the picture."""

    lines: tuple[Line, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    x: float
    y: float
    y_low: float
    y_high: float
    point: str
    description: str
    x_axis: Axis
    y_axis: Axis
    compute: float
    memory: float


def roofline_plot(roof: Roofline) -> RooflinePlot:
    """Return the picture of a roofline."""
    x = _x_axis(roof)
    y = _y_axis(roof, x)
    point = f"{si(roof.performance, 'FLOP/s')} at {roof.intensity:.3g} FLOP/B"
    return RooflinePlot(
        lines=tuple(_line(r, roof, x, y) for r in roof.roofs),
        x_ticks=tuple(Tick(x(v), f"{v:g}") for v in x.decades),
        y_ticks=tuple(Tick(y(v), si(v, "FLOP/s", 1)) for v in y.decades),
        x=x(roof.intensity),
        y=y(roof.performance),
        y_low=y(roof.low),
        y_high=y(roof.high),
        point=f"{point} ({si(roof.low, 'FLOP/s')} to {si(roof.high, 'FLOP/s')})",
        description=f"The kernel reaches {point}; the {roof.binding.name} roof lies above it.",
        x_axis=x,
        y_axis=y,
        compute=roof.compute.peak,
        memory=roof.memory.peak,
    )


def _x_axis(roof: Roofline) -> Axis:
    """Return the intensities: a decade around the ridges and the kernel."""
    ridges = [
        c.peak / m.peak for c in roof.roofs for m in roof.roofs if (c.kind, m.kind) == ("compute", "memory")
    ]
    low, high = min(roof.intensity, *ridges), max(roof.intensity, *ridges)
    return Axis(_decade(low / 3, down=True), _decade(high * 3, down=False), LEFT, WIDTH - RIGHT)


def _y_axis(roof: Roofline, x: Axis) -> Axis:
    """Return the rates: from the DRAM roof at the left edge, or the kernel below it, to above all roofs."""
    low = min(roof.low, roof.memory.peak * x.low)
    high = max(r.peak for r in roof.roofs if r.kind == "compute")
    return Axis(_decade(low, down=True), _decade(high * 1.2, down=False), HEIGHT - BOTTOM, TOP)


def _decade(value: float, *, down: bool) -> float:
    exponent = math.log10(value)
    return 10.0 ** (math.floor(exponent) if down else math.ceil(exponent))


def _line(one: Roof, roof: Roofline, x: Axis, y: Axis) -> Line:
    binding = one in (roof.compute, roof.memory)
    draw = _flat if one.kind == "compute" else _slope
    return draw(one, roof, x, y, binding=binding)


def _flat(one: Roof, roof: Roofline, x: Axis, y: Axis, *, binding: bool) -> Line:
    """Return a compute roof: level, from the steepest memory roof to the right edge."""
    steepest = max(r.peak for r in roof.roofs if r.kind == "memory")
    start, height = x(max(x.low, one.peak / steepest)), y(one.peak)
    label = f"{one.name} {si(one.peak, 'FLOP/s')}"
    return Line(one.name, label, one.kind, binding, start, height, x.end, height, x.end - 4, height - 6)


def _slope(one: Roof, roof: Roofline, x: Axis, y: Axis, *, binding: bool) -> Line:
    """Return a memory roof: rising from the left or lower edge to the highest compute roof."""
    top = max(r.peak for r in roof.roofs if r.kind == "compute")
    left = max(x.low, y.low / one.peak)
    right = top / one.peak
    x1, y1, x2, y2 = x(left), y(left * one.peak), x(right), y(top)
    angle = round(math.degrees(math.atan2(y2 - y1, x2 - x1)), 1)
    label = f"{one.name} {si(one.peak, 'B/s')}"
    along = 0.3 if one is roof.memory else 0.6
    middle = (round(x1 + along * (x2 - x1), 1), round(y1 + along * (y2 - y1), 1))
    return Line(one.name, label, one.kind, binding, x1, y1, x2, y2, *middle, angle)
