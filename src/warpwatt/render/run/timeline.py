"""The timeline of a run as a picture: a lane per stream, time from the GPU's first work to its last.

Where the GPU waits for the host for long, the axis is cut: kernels take microseconds, host code seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.core.units import si
from warpwatt.frontend.select import without_parameters
from warpwatt.render.console import plain
from warpwatt.run.timeline import COMPUTING

if TYPE_CHECKING:
    from warpwatt.run.timeline import Span

WIDTH, LEFT, RIGHT, LANE, TOP = 1100, 110, 20, 34, 8
"""Pixels: the whole, margins, a lane, above the first one."""
CUT = 0.02
"""Share of the width that a cut takes; longer waits are cut."""
MOST_BARS = 4000
"""Bars of one GPU beyond which neighbours of one colour are drawn as one."""
CHARACTER = 8
"""Pixels of one of a label, at most."""
_COLOURS = 8


@dataclass(frozen=True, slots=True)
class Bar:
    """A span, or several side by side: pixels, colour, and what a pointer reads."""

    x: float
    y: float
    width: float
    colour: int
    title: str


@dataclass(frozen=True, slots=True)
class Gap:
    """A wait that is cut: where, and how long it is; ``label`` is empty where another stands."""

    x: float
    width: float
    length: str
    label: str = ""

    @property
    def middle(self) -> float:
        """Pixel that the label is centred on."""
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class TimelinePicture:
    """All of it; ``lanes`` are pixel and name of each stream, ``legend`` colour and name of each kernel."""

    width: int
    height: int
    lanes: tuple[tuple[float, str], ...]
    bars: tuple[Bar, ...]
    gaps: tuple[Gap, ...]
    legend: tuple[tuple[int, str], ...]
    description: str


@dataclass(frozen=True, slots=True)
class _Axis:
    """Piecewise linear: (time, pixel) of each corner."""

    corners: tuple[tuple[float, float], ...]

    def __call__(self, time: float) -> float:
        for (t0, x0), (t1, x1) in zip(self.corners, self.corners[1:], strict=False):
            if time <= t1:
                return x0 + (x1 - x0) * (time - t0) / (t1 - t0) if t1 > t0 else x0
        return self.corners[-1][1]


def timeline_picture(spans: Sequence[Span]) -> TimelinePicture | None:
    """Return the picture of some spans, None where there are none."""
    if not spans:
        return None
    streams = sorted({span.stream for span in spans})
    colours = {name: k % _COLOURS for k, name in enumerate(dict.fromkeys(_series(s) for s in spans))}
    waits = list(_waits(spans))
    axis, gaps = _axis(spans, waits)
    bars = _merged(spans, streams, axis, colours)
    height = TOP + LANE * len(streams) + 26
    return TimelinePicture(
        width=WIDTH,
        height=height,
        lanes=tuple((TOP + LANE * k, f"stream {stream}") for k, stream in enumerate(streams)),
        bars=bars,
        gaps=gaps,
        legend=tuple((colour, name) for name, colour in colours.items()),
        description=f"Timeline of {len(spans)} kernels and copies in {len(streams)} streams",
    )


def _series(span: Span) -> str:
    return plain(without_parameters(span.name)) if span.kind in COMPUTING else str(span.kind)


def _waits(spans: Sequence[Span]) -> Iterator[tuple[float, float]]:
    """Yield start and end of the times in which nothing runs."""
    until: float | None = None
    for span in sorted(spans, key=lambda s: s.start):
        if until is not None and span.start > until:
            yield until, span.start
        until = max(until or 0.0, span.end)


def _axis(spans: Sequence[Span], waits: Sequence[tuple[float, float]]) -> tuple[_Axis, tuple[Gap, ...]]:
    """Return the axis, and what it leaves out: waits longer than what cuts take, the longest first."""
    first, last = min(s.start for s in spans), max(s.end for s in spans)
    shown = max(last - first, 1e-12)
    cut: list[tuple[float, float]] = []
    for wait in sorted(waits, key=lambda w: w[0] - w[1]):
        length = wait[1] - wait[0]
        if len(cut) * CUT >= 0.4 or length <= 2 * CUT * shown:
            break
        cut.append(wait)
        shown -= length
    room = WIDTH - LEFT - RIGHT
    narrow = CUT * room
    scale = (room - narrow * len(cut)) / max(shown, 1e-12)
    corners, gaps, x, time = [(first, float(LEFT))], list[tuple[float, Gap]](), float(LEFT), first
    for start, end in sorted(cut):
        x += (start - time) * scale
        corners += [(start, x), (end, x + narrow)]
        gaps.append((end - start, Gap(round(x, 1), round(narrow, 1), si(end - start, "s"))))
        x, time = x + narrow, end
    corners.append((last, x + (last - time) * scale))
    longest_first = [gap for _, gap in sorted(gaps, key=lambda one: -one[0])]
    return _Axis(tuple(corners)), tuple(sorted(_labelled(longest_first), key=lambda gap: gap.x))


def _labelled(gaps: Sequence[Gap]) -> Iterator[Gap]:
    """Yield waits with their lengths as labels, unless that of an earlier one stands there.

    >>> [g.label for g in _labelled([Gap(100, 20, "1.5 s"), Gap(120, 20, "3 ms"), Gap(200, 20, "2 ms")])]
    ['1.5 s', '', '2 ms']
    """
    taken: list[Gap] = []
    for gap in gaps:
        room = (CHARACTER * (len(gap.length) + len(other.length)) / 2 for other in taken)
        if all(abs(gap.middle - other.middle) >= r for other, r in zip(taken, room, strict=True)):
            taken.append(gap)
            yield replace(gap, label=gap.length)
        else:
            yield gap


def _merged(
    spans: Sequence[Span], streams: Sequence[int], axis: _Axis, colours: dict[str, int]
) -> tuple[Bar, ...]:
    """Return the bars; beyond :data:`MOST_BARS` those that touch on the screen become one."""
    few = len(spans) <= MOST_BARS
    bars: list[Bar] = []
    last: dict[int, Bar] = {}
    for span in spans:
        x, end = axis(span.start), axis(span.end)
        y, colour = TOP + LANE * streams.index(span.stream) + 4, colours[_series(span)]
        before = last.get(span.stream)
        if not few and before and before.colour == colour and x - before.x - before.width < 0.5:
            bars.remove(before)
            x = before.x
        size = si(span.bytes, "B") + ", " if span.bytes else f"launch {span.launch}, "
        title = f"{_series(span)}: {size}{si(span.seconds, 's')} from {si(span.start, 's')}"
        bar = Bar(round(x, 1), y, round(max(1.0, end - x), 1), colour, title)
        last[span.stream] = bar
        bars.append(bar)
    return tuple(bars)
