"""Which memory instructions reach together: footprints of a whole launch and of one block.

Accesses whose addresses differ by a constant alone (neighbours of a stencil, unrolled iterations) share most
of what they touch or interleave with it; their footprint is that of one of them, shifted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.execution import Footprint
from warpwatt.program.linear import footprint as covered

if TYPE_CHECKING:
    from warpwatt.program.linear import Coefficients

SECTOR = 32
"""Bytes that travel together at least."""


@dataclass(frozen=True, slots=True)
class Reach:
    """One access: address = constant + Σ coefficient · index, ``size`` bytes per lane."""

    instruction: int
    buffer: str
    limit: int | None
    """Size of the buffer in bytes, None if unknown."""
    writes: bool
    size: int
    coefficients: Coefficients

    @property
    def shape(self) -> tuple[object, ...]:
        """What accesses must share to be shifted copies of one another."""
        indices = frozenset((name, c) for name, c in self.coefficients.items() if name and c)
        return self.buffer, self.writes, self.size, indices


def footprints(reaches: Iterable[Reach], extents: Mapping[str, float]) -> tuple[Footprint, ...]:
    """Return the footprints of a launch in order of first instruction.

    ``extents`` maps index names (``%tid.x``, ``%ctaid.x``, ``loop 3``) to how many values each takes.
    """
    groups: dict[tuple[object, ...], list[Reach]] = {}
    for reach in reaches:
        groups.setdefault(reach.shape, []).append(reach)
    inside = {name: 1.0 if name.startswith("%ctaid") else extent for name, extent in extents.items()}
    return tuple(
        Footprint(
            buffer=group[0].buffer,
            instructions=tuple(reach.instruction for reach in group),
            bytes=together(group, extents),
            block_bytes=together(group, inside),
            limit=group[0].limit,
        )
        for group in groups.values()
    )


def together(group: list[Reach], extents: Mapping[str, float]) -> float:
    """Return the distinct sector bytes of shifted copies of one access.

    At most the sum of the copies. A shift by some steps of an index widens that index (neighbours of a
    stencil); any other shift repeats the pattern elsewhere (fields of a structure, unrolled rows).

    >>> row = [Reach(0, "x", None, False, 4, {"": 4 * k, "%tid.x": 4}) for k in range(3)]
    >>> together(row, {"%tid.x": 1000})  # 1002 neighbours
    4032
    >>> fields = [Reach(0, "x", None, False, 4, {"": 128 * k, "%tid.x": 1024}) for k in range(3)]
    >>> together(fields, {"%tid.x": 10})
    960
    """
    one = group[0]
    terms = [(c, extents.get(name, 1.0)) for name, c in one.coefficients.items() if name and c]
    constants = {reach.coefficients.get("", 0) for reach in group}
    alone = covered(one.size, terms, SECTOR)
    distinct = min(len(constants) * alone, covered(one.size, _shifted(terms, constants), SECTOR))
    return distinct if one.limit is None else min(distinct, float(one.limit))


def _shifted(terms: list[tuple[int, float]], constants: set[int]) -> list[tuple[int, float]]:
    """Return terms that cover all shifts: indices widened where shifts are steps of them, others added."""
    origin = min(constants)
    ordered = sorted(terms, key=lambda term: -abs(term[0]))
    spans = [[0, 0] for _ in ordered]
    strange = []
    for constant in constants:
        rest = constant - origin
        for (factor, extent), span in zip(ordered, spans, strict=True):
            steps = round(rest / factor)
            if steps and abs(steps) <= extent:
                rest -= steps * factor
                span[0], span[1] = min(span[0], steps), max(span[1], steps)
        if rest:
            strange.append((rest, 2.0))
    widened = [(factor, extent + b - a) for (factor, extent), (a, b) in zip(ordered, spans, strict=True)]
    return widened + strange
