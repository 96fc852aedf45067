"""From where to where a time or a coordinate of threads goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.affine_form import Affine
from warpwatt.published.resios.schedule.c_forms import combined, written

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.affine_form import Box
    from warpwatt.published.resios.c_loops.nest import Expression
    from warpwatt.published.resios.c_loops.types import CType


@dataclass(frozen=True, slots=True)
class Limits:
    """Least and largest value (inclusive) of a time or coordinate, as forms of symbols and times.

    Of several alternatives, one per part, the least lower and the largest upper one holds; each is the
    largest (lower) or least (upper) of its forms.
    """

    lower: tuple[tuple[Affine, ...], ...]
    upper: tuple[tuple[Affine, ...], ...]

    def at(self, values: Mapping[str, int]) -> tuple[int, int]:
        """Return both ends for given sizes and times."""
        low = min(max(int(f.at(values)) for f in forms) for forms in self.lower)
        high = max(min(int(f.at(values)) for f in forms) for forms in self.upper)
        return low, high

    def expressions(self, types: Mapping[str, CType]) -> tuple[Expression, Expression]:
        """Return both ends as C."""
        low = combined("min", [combined("max", [written(f, types) for f in forms]) for forms in self.lower])
        high = combined("max", [combined("min", [written(f, types) for f in forms]) for forms in self.upper])
        return low, high


def united(lower: list[tuple[Affine, ...]], upper: list[tuple[Affine, ...]], box: Box) -> Limits:
    """Return limits of several parts, without alternatives that another one always covers."""
    return Limits(_alternatives(lower, box, 1), _alternatives(upper, box, -1))


def _alternatives(found: list[tuple[Affine, ...]], box: Box, sign: int) -> tuple[tuple[Affine, ...], ...]:
    """Keep alternatives; ``sign`` 1: lower limits, of which the least counts."""
    kept: list[tuple[Affine, ...]] = []
    for forms in found:
        if forms in kept or any(_covers(other, forms, box, sign) for other in kept):
            continue
        kept = [other for other in kept if not _covers(forms, other, box, sign)] + [forms]
    return tuple(kept)


def _covers(one: tuple[Affine, ...], other: tuple[Affine, ...], box: Box, sign: int) -> bool:
    """Whether limits ``one`` always lie at or outside ``other``."""
    if len(one) > 1:
        return False
    return any((form - one[0]).scaled(sign).range(dict(box))[0] >= 0 for form in other)


def implied(name: str, limits: Limits) -> list[Affine]:
    """Return what limits say of a time or coordinate, as forms that are not negative."""
    value = Affine(0, {name: 1})
    low = [value - form for form in limits.lower[0]] if len(limits.lower) == 1 else []
    return low + [form - value for form in limits.upper[0]] if len(limits.upper) == 1 else low


def ends(limits: Limits, box: Box) -> tuple[int, int]:
    """Return the least and largest value over a box of outer times."""
    lows = [min(f.range(box)[0] for f in forms) if len(forms) == 1 else max(f.range(box)[0] for f in forms)
            for forms in limits.lower]  # fmt: skip
    highs = [min(f.range(box)[1] for f in forms) for forms in limits.upper]
    return min(lows), max(highs)
