"""Neighbouring kernels become one launch where every dependence between them stays within one thread."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.published.resios.schedule.plan import Kernel, Node, kernels

if TYPE_CHECKING:
    from warpwatt.published.resios.schedule.dependences import Dependence
    from warpwatt.published.resios.schedule.plan import Part


LIGHT = 8
"""Iterations of a thread up to which independent kernels are fused to save a launch."""


def fused(nodes: tuple[Node, ...], deps: Sequence[Dependence]) -> tuple[Node, ...]:
    """Return nodes with neighbouring kernels fused: first those of one computation, then similar ones."""
    return _pass(_pass(nodes, deps, dependent=True), deps, dependent=False)


def _pass(nodes: tuple[Node, ...], deps: Sequence[Dependence], *, dependent: bool) -> tuple[Node, ...]:
    found: list[Node] = []
    for node in nodes:
        place = _place(found, node, deps, dependent=dependent) if isinstance(node, Kernel) else None
        if place is None:
            found.append(node)
        else:
            found[place[0]] = place[1]
    return tuple(found) if len(found) == len(nodes) else _pass(tuple(found), deps, dependent=dependent)


def _place(
    found: list[Node], node: Kernel, deps: Sequence[Dependence], *, dependent: bool
) -> tuple[int, Kernel] | None:
    """Return the nearest kernel before that a kernel can join without passing what it depends on."""
    mine = _members(node)
    for number in reversed(range(len(found))):
        other = found[number]
        both = _together(other, node, deps, dependent=dependent) if isinstance(other, Kernel) else None
        if both is not None:
            return number, both
        theirs = _members(other)
        if any(d.source.number in theirs and d.target.number in mine for d in deps):
            return None
    return None


def _together(one: Kernel, other: Kernel, deps: Sequence[Dependence], *, dependent: bool) -> Kernel | None:
    """Return both kernels as one, the second's threads in the order of the first's; None if unsafe."""
    if one.dimensions != other.dimensions:
        return None
    first, second = _members(one), _members(other)
    between = [d for d in deps if d.source.number in first and d.target.number in second]
    if dependent != bool(between):
        return None
    for order in itertools.permutations(range(one.dimensions)):
        parts = tuple(replace(p, threads=tuple(p.threads[i] for i in order)) for p in other.parts)
        whole = Kernel((*one.parts, *parts))
        if between and all(_in_one_thread(d, whole) for d in between):
            return whole
        if not between and _light(one) and _light(other) and _alike(one.parts[0], parts[0]):
            return whole
    return None


def _members(node: Node) -> set[int]:
    """Return the numbers of all units in a node."""
    return {number for kernel in kernels((node,)) for part in kernel.parts for number in part.unit.members}


def _in_one_thread(dependence: Dependence, kernel: Kernel) -> bool:
    source = next(p for p in kernel.parts if dependence.source.number in p.unit.members)
    target = next(p for p in kernel.parts if dependence.target.number in p.unit.members)
    pairs = zip(source.threads, target.threads, strict=True)
    return all(dependence.equal(source.coordinate(a), target.coordinate(b)) for a, b in pairs)


def _light(kernel: Kernel) -> bool:
    """Whether a launch costs about as much as what a thread of the kernel does."""
    return max(part.iterations() for part in kernel.parts) <= LIGHT


def _alike(one: Part, other: Part) -> bool:
    """Whether two independent parts run over the same variables, about as often."""
    for a, b in zip(one.threads, other.threads, strict=True):
        mine, yours = one.loop(a), other.loop(b)
        same = mine.loop.variable.name == yours.loop.variable.name or len(one.threads) == 1
        if not same or 2 * min(mine.most, yours.most) < max(mine.most, yours.most):
            return False
    return True
