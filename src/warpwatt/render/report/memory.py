"""The memory chart: what crosses each level of the hierarchy, how often it hits, how near its peak it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from warpwatt.core.execution import Traffic, Workload
from warpwatt.core.prediction import Prediction
from warpwatt.core.program import Access, Space
from warpwatt.core.units import si
from warpwatt.render.figures import count, percent
from warpwatt.render.plots.memory import (
    HEIGHT,
    LOW,
    NARROW_HEIGHT,
    NARROW_PLACES,
    NARROW_WIDTH,
    PLACES,
    Arrow,
    Box,
    MemoryChart,
    arrow,
    thickness,
    upright_arrow,
)
from warpwatt.render.rates import rates
from warpwatt.render.report.values import Dataset
from warpwatt.render.words import unit_name

_OFF_CHIP = frozenset({Space.GLOBAL, Space.LOCAL, Space.GENERIC})


@dataclass(frozen=True, slots=True)
class Hits:
    """Shares of the sectors asked for that L1 has, and of those it passes on that L2 has; None if unknown."""

    l1: float | None
    l2: float | None


def hits(workload: Workload) -> Hits:
    """Return the hit shares of the whole launch."""
    every = workload.hits.values()
    asked = sum(h.sectors for h in every)
    passed = sum(h.sectors * (1 - h.l1_hits) for h in every)
    found = sum(h.sectors * (1 - h.l1_hits) * h.l2_hits for h in every)
    return Hits(1 - passed / asked if asked else None, found / passed if passed else None)


@dataclass(frozen=True, slots=True)
class Requests:
    """Warp accesses with a lane on, and the bytes that their lanes ask for."""

    number: float
    read: float
    written: float


def requests(workload: Workload, spaces: frozenset[Space]) -> Requests:
    """Return what the warps of the whole grid ask of some spaces; atomics read and write."""
    execution = workload.execution
    number = read = written = 0.0
    for index, pattern in execution.accesses.items():
        memory = execution.program.instructions[index].memory
        if memory is None or memory.space not in spaces:
            continue
        moved = execution.counts[index] * execution.lanes[index] * memory.bytes
        number += execution.counts[index] * pattern.requests
        read += moved if memory.access is not Access.STORE else 0.0
        written += moved if memory.access not in (Access.LOAD, Access.PREFETCH) else 0.0
    return Requests(number, read, written)


@dataclass(frozen=True, slots=True)
class Crossing:
    """Bytes between two units; ``heat`` is the busy share of the time of the one nearer to DRAM."""

    name: str
    ends: tuple[str, str]
    """Keys of boxes, the one nearer to the SM first."""
    read: float
    written: float
    heat: float


def crossings(prediction: Prediction) -> tuple[Crossing, ...]:
    """Return the traffic on every link that is used."""
    workload, busy = prediction.case.workload, prediction.timing.busy
    shared = requests(workload, frozenset({Space.SHARED}))

    def link(name: str, ends: tuple[str, str], traffic: Traffic | Requests) -> Crossing:
        return Crossing(name, ends, traffic.read, traffic.written, busy.get(ends[1], 0.0))

    found = (
        link("SM – L1", ("sm", "l1"), workload.l1),
        link("SM – shared memory", ("sm", "shared"), shared),
        link("L1 – L2", ("l1", "l2"), workload.l2),
        link("L2 – DRAM", ("l2", "dram"), workload.dram),
    )
    return tuple(one for one in found if one.read + one.written > 0)


def memory_chart(prediction: Prediction) -> MemoryChart:
    """Return the picture of the hierarchy."""
    found = crossings(prediction)
    most = max((max(one.read, one.written) for one in found), default=0.0)
    used, said = any("shared" in one.ends for one in found), _description(found)
    boxes = tuple(_boxes(prediction, shared=used))
    narrow = MemoryChart(
        tuple(_upright(box, key) for box, key in zip(boxes, _keys(shared=used), strict=True)),
        tuple(a for one in found for a in _arrows(one, most, upright_arrow)),
        said,
        NARROW_WIDTH,
        NARROW_HEIGHT,
    )
    arrows = tuple(a for one in found for a in _arrows(one, most, arrow))
    return MemoryChart(boxes, arrows, said, height=HEIGHT if used else LOW, narrow=narrow)


def _keys(*, shared: bool) -> list[str]:
    return [key for key in PLACES if key != "shared" or shared]


def _upright(box: Box, key: str) -> Box:
    """Return a box where it stands in the narrow picture; more than two lines share the second."""
    x, y, width, height = NARROW_PLACES[key]
    lines = box.lines if len(box.lines) < 3 else (box.lines[0], " ".join(box.lines[1:]))
    return Box(box.name, lines, box.heat, x, y, width, height)


def memory_data(prediction: Prediction) -> Dataset:
    """Return the links as a table."""
    rows = tuple((one.name, one.read, one.written, one.heat) for one in crossings(prediction))
    return Dataset("Memory chart", ("link", "read_B", "written_B", "busy_share"), rows)


def memory_rows(prediction: Prediction) -> tuple[tuple[str, ...], ...]:
    """Return level, bytes read and written, rate, busy share, share of the peak, hits of every level."""
    found = hits(prediction.case.workload)
    hit = {"l1": found.l1, "l2": found.l2}
    rows = []
    for key, level in rates(prediction).items():
        traffic, busy = level.traffic, f"{percent(level.busy)} {level.busy_text}" if level.busy else ""
        moved = (si(traffic.read, "B"), si(traffic.written, "B"), si(level.rate, "B/s"))
        rows.append((unit_name(key), *moved, busy.strip(), level.peak_text, _percent(hit.get(key))))
    return tuple(rows)


def _percent(share: float | None) -> str:
    return "" if share is None else percent(share)


def _boxes(prediction: Prediction, *, shared: bool) -> Iterator[Box]:
    """Yield the boxes; that of shared memory only where it is used."""
    workload, busy = prediction.case.workload, prediction.timing.busy
    found, off_chip = hits(workload), requests(workload, _OFF_CHIP)
    asked = requests(workload, frozenset({Space.SHARED}))
    texts = {
        "sm": ("SMs", (f"{workload.active_sms} active", "requests:", f"{count(off_chip.number)} global,",
                       f"{count(asked.number)} shared")),
        "l1": ("L1 cache", _hit_lines(found.l1)),
        "shared": ("Shared memory", _shared_lines(workload, asked)),
        "l2": ("L2 cache", _hit_lines(found.l2)),
        "dram": ("DRAM", (f"{percent(busy['dram'])} busy",) if "dram" in busy else ()),
    }  # fmt: skip
    heats = {**busy, "sm": busy.get("issue", 0.0)}
    for key in _keys(shared=shared):
        x, y, width, height = PLACES[key]
        if key == "sm" and not shared:
            height = PLACES["l1"][3]
        name, lines = texts[key]
        yield Box(name, lines, min(1.0, heats.get(key, 0.0)), x, y, width, height)


def _hit_lines(share: float | None) -> tuple[str, ...]:
    return () if share is None else (f"{percent(share)} hits",)


def _shared_lines(workload: Workload, asked: Requests) -> tuple[str, ...]:
    if not asked.number:
        return ()
    return (
        f"{count(workload.shared_wavefronts)} wavefronts",
        f"{workload.shared_wavefronts / asked.number:.3g} per request",
    )


def _arrows(one: Crossing, most: float, made: Callable[..., Arrow]) -> tuple[Arrow, ...]:
    near, far = one.ends
    ways = (("read", one.read, (far, near), False), ("written", one.written, (near, far), True))
    return tuple(
        made(
            f"{one.name}: {si(moved, 'B')} {way}, busy {percent(one.heat)} of the time",
            f"{si(moved, 'B')} {way}",
            thickness(moved, most),
            one.heat,
            ends,
            lower,
        )
        for way, moved, ends, lower in ways
        if moved > 0
    )


def _description(found: tuple[Crossing, ...]) -> str:
    parts = [f"{one.name}: {si(one.read, 'B')} read, {si(one.written, 'B')} written" for one in found]
    return "; ".join(parts) + "." if parts else "No traffic."
