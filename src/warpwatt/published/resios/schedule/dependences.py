"""Which unit must wait for which, and between which iterations: dependence polyhedra at given sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.affine_form import Affine
from warpwatt.published.resios.c_loops.integers import BUDGET, System
from warpwatt.published.resios.c_loops.nest import Assign
from warpwatt.published.resios.c_loops.projection import empty

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import Access, BoundLoop
    from warpwatt.published.resios.schedule.units import Unit

GENERAL_BUDGET = 50
"""Boxes looked at before a dependence is taken to be there, where sizes may be any."""
SOURCE, TARGET = "'", '"'
"""Marks of the counters of the iteration that comes first, and of the one that depends on it."""


@dataclass(frozen=True, slots=True, eq=False)
class Dependence:
    """``second`` of ``target`` touches, later, what ``first`` of ``source`` touches, and one of them writes.

    ``system`` holds all pairs of iterations (or more, where subscripts are not affine). ``commutes``: both
    add to a sum that may be added up in any order, though not at one time.
    """

    source: Unit
    target: Unit
    first: Access
    second: Access
    system: System
    commutes: bool = False

    @property
    def anti(self) -> bool:
        """Whether the source only reads: a copy of the array would break it."""
        return not self.first.write

    def never(self, *forms: Affine) -> bool:
        """Whether no pair of iterations keeps these forms, over marked counters, from being negative."""
        narrowed = System(self.system.box, self.system.equations, [*self.system.inequalities, *forms])
        reduced = narrowed.reduced()
        return reduced is None or empty(reduced[0].constraints())

    def respected(self, before: Affine, after: Affine) -> bool:
        """Whether time ``before`` of the source is never later than time ``after`` of the target."""
        return self.commutes or self.never(self._gap(before, after).scaled(-1) + Affine(-1))

    def settled(self, before: Affine, after: Affine) -> bool:
        """Whether time ``before`` of the source is always earlier than time ``after`` of the target."""
        if self.commutes:
            return self.at_one_time(before, after) is None
        return self.never(self._gap(before, after).scaled(-1))

    def equal(self, before: Affine, after: Affine) -> bool:
        """Whether a form of the source always has the value of a form of the target."""
        gap = self._gap(before, after)
        return self.never(gap + Affine(-1)) and self.never(gap.scaled(-1) + Affine(-1))

    def at_one_time(self, before: Affine, after: Affine) -> Dependence | None:
        """Return what is left of it between iterations of one time, None if that is nothing."""
        equation = self._gap(before, after)
        system = replace(self.system, equations=[*self.system.equations, equation])
        left = replace(self, system=system)
        return None if left.never() else left

    def _gap(self, before: Affine, after: Affine) -> Affine:
        return after.renamed(TARGET) - before.renamed(SOURCE)


def dependences(units: Iterable[Unit], *, reorder: bool = False) -> tuple[Dependence, ...]:
    """Return every dependence between different iterations or units.

    What stays within one iteration of one unit is left out: a unit keeps the order of the source.
    ``reorder`` allows sums to be added up in another order.
    """
    found = tuple(_dependences(tuple(units)))
    return tuple(replace(d, commutes=_adds(d)) for d in found) if reorder else found


def _adds(dependence: Dependence) -> bool:
    """Whether both accesses are of the one statement of a unit that adds to an element."""
    unit, statement = dependence.source, dependence.first.statement
    if unit is not dependence.target or len(unit.leaves) != 1 or not isinstance(statement, Assign):
        return False
    mine = (dependence.first.element, dependence.second.element)
    return statement.operator in ("+", "-") and all(element is statement.target for element in mine)


def _dependences(units: tuple[Unit, ...]) -> Iterator[Dependence]:
    by_array: dict[str, list[tuple[Unit, int, Access]]] = {}
    for unit in units:
        for place, access in unit.accesses:
            by_array.setdefault(access.element.array.name, []).append((unit, place, access))
    for found in by_array.values():
        for one in found:
            for other in found:
                if one[2].write or other[2].write:
                    yield from _between(one, other)


def _between(one: tuple[Unit, int, Access], other: tuple[Unit, int, Access]) -> Iterator[Dependence]:
    """Yield dependences of the second access on the first, one per loop that carries it."""
    (source, before, first), (target, after, second) = one, other
    common = _common(first.loops, second.loops)
    levels = len(common) if source is not target else min(len(common), len(source.loops))
    base = _same_element(first, second)
    for level in range(levels):
        ahead = Affine(-1, {common[level].counter + TARGET: 1, common[level].counter + SOURCE: -1})
        yield from _proved(source, target, first, second, _at(base, common[:level], [ahead]))
    if source is not target and before < after:
        yield from _proved(source, target, first, second, _at(base, common, []))


def _proved(
    source: Unit, target: Unit, first: Access, second: Access, system: System
) -> Iterator[Dependence]:
    if system.solve(GENERAL_BUDGET if first.sizes else BUDGET) is not None:
        yield Dependence(source, target, first, second, system)


def _common(one: tuple[BoundLoop, ...], other: tuple[BoundLoop, ...]) -> tuple[BoundLoop, ...]:
    shared = []
    for a, b in zip(one, other, strict=False):
        if a is not b:
            break
        shared.append(a)
    return tuple(shared)


def _same_element(first: Access, second: Access) -> System:
    """Return the system of both accesses touching one element; subscripts not affine say nothing."""
    box, known, equal = {}, [], []
    for access, mark in ((first, SOURCE), (second, TARGET)):
        for loop in access.loops:
            box[loop.counter + mark] = (0, loop.limit - 1)
            known.append(loop.inside.renamed(mark))
        known += [constraint.renamed(mark) for constraint in access.constraints]
        box |= {name + mark: ends for name, ends in access.sizes.items()}
    equal += [Affine(0, {name + SOURCE: 1, name + TARGET: -1}) for name in first.sizes]
    for left, right in zip(first.subscripts, second.subscripts, strict=True):
        if left is not None and right is not None:
            equal.append(left.renamed(SOURCE) - right.renamed(TARGET))
    return System(box, equal, known)


def _at(base: System, equal: tuple[BoundLoop, ...], ahead: list[Affine]) -> System:
    """Return a system in which some loops are in one iteration and another one is ahead."""
    same = [Affine(0, {loop.counter + SOURCE: 1, loop.counter + TARGET: -1}) for loop in equal]
    return System(base.box, [*base.equations, *same], [*base.inequalities, *ahead])
