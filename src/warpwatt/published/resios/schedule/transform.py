"""From a function of loops to kernels and host loops: every way of writing it, the best schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.bound import bound
from warpwatt.published.resios.c_loops.evaluate import host_values
from warpwatt.published.resios.c_loops.nest import Loop, walk
from warpwatt.published.resios.c_loops.refuse import UnportableError
from warpwatt.published.resios.schedule.break_up import copied, split
from warpwatt.published.resios.schedule.build import BuiltLoop, built
from warpwatt.published.resios.schedule.expand import own_arrays, own_scalars
from warpwatt.published.resios.schedule.forward import forwarded
from warpwatt.published.resios.schedule.plan import HostLoop, cost, scale_of
from warpwatt.published.resios.schedule.plan import kernels as all_kernels
from warpwatt.published.resios.schedule.scalars import classified, promoted
from warpwatt.published.resios.schedule.search import scheduled
from warpwatt.published.resios.schedule.units import units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpwatt.published.resios.c_loops.bound import BoundFunction
    from warpwatt.published.resios.c_loops.evaluate import Value
    from warpwatt.published.resios.c_loops.nest import Function
    from warpwatt.published.resios.c_loops.types import CType
    from warpwatt.published.resios.schedule.build import BuiltKernel, BuiltNode
    from warpwatt.published.resios.schedule.plan import Node

SIZES = (0, 1 << 28)
"""Sizes at run time for which a program may hold: a few times as much is still an int."""
ANY = (-(1 << 31), 1 << 31)
WORTH = 0.8
"""Another way to write the function has to be so much faster, by the rough cost, to be taken."""


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A function as the host runs it: ``nodes`` in order, after its host scalars are computed.

    ``bound`` is the function as scheduled, with the temporaries that the transformation made; ``hosted`` are
    values of host scalars, ``types`` their types; ``seconds`` the rough cost that ranked it.
    """

    bound: BoundFunction
    nodes: tuple[BuiltNode, ...]
    hosted: Mapping[str, Value]
    types: Mapping[str, CType]
    seconds: float
    symbolic: BoundFunction | None = None
    """The function with sizes that may change at run time as symbols; None where all are fixed."""

    @property
    def integers(self) -> dict[str, int]:
        """Every integer scalar a kernel may be given, times aside."""
        every = {**self.bound.values, **self.hosted}
        return {n: v for n, v in every.items() if isinstance(v, int)}

    def kernels(self) -> tuple[BuiltKernel, ...]:
        """Return all kernels in order."""
        return tuple(kernels_of(self.nodes))

    def launches(self) -> Iterator[tuple[BuiltKernel, dict[str, int]]]:
        """Yield every launch in order: the kernel and the times it is given."""
        yield from _launches(self.nodes, self.integers, {})


def kernels_of(nodes: tuple[BuiltNode, ...]) -> Iterator[BuiltKernel]:
    """Yield the kernels of nodes in order."""
    for node in nodes:
        if isinstance(node, BuiltLoop):
            yield from kernels_of(node.body)
        else:
            yield node


def _launches(
    nodes: tuple[BuiltNode, ...], values: Mapping[str, int], times: dict[str, int]
) -> Iterator[tuple[BuiltKernel, dict[str, int]]]:
    for node in nodes:
        if isinstance(node, BuiltLoop):
            low, high = node.limits.at({**values, **times})
            for time in range(low, high + 1):
                yield from _launches(node.body, values, {**times, node.name: time})
        elif all(node.extents({**values, **times})):
            yield node, times


def transformed(
    function: Function, values: Mapping[str, int | float],
    shapes: Mapping[str, tuple[int, ...]] | None = None, *, reorder: bool = False, free: Sequence[str] = (),
) -> Program:  # fmt: skip
    """Return the best program for a function at its sizes; ``reorder`` allows sums in another order.

    The sizes ``free`` may be any at run time where a program as good holds for all of them.

    Raises
    ------
    ArgumentError, UnportableError
        As :func:`~warpwatt.published.resios.c_loops.bound.bound` does.
    """
    plan = _plan(function, values, shapes, reorder=reorder)
    found = plan.bound
    general = _general(plan, free, reorder=reorder) if free else None
    best = general or plan
    scalars = classified(found.function)
    hosted, types = host_values(found.function, scalars.host, found.values)
    integers = {n: (v, v) for n, v in {**found.values, **hosted}.items() if isinstance(v, int)}
    if general is not None:
        integers |= dict.fromkeys((n for n in hosted if n in integers), ANY) | general.bound.sizes
    nodes = built(best.bound, best.nodes, types, integers)
    return Program(found, nodes, hosted, types, best.seconds, general.bound if general else None)


def _general(plan: _Plan, free: Sequence[str], *, reorder: bool) -> _Plan | None:
    """Return a plan that holds for all sizes and is as good as this one, None if there is none."""
    function, now = plan.bound.function, plan.bound
    if plan.rewritten or any(abs(s.step) != 1 for s in walk(function.body) if isinstance(s, Loop)):
        return None
    try:
        found = bound(function, now.values, now.shapes, sizes=dict.fromkeys(free, SIZES))
    except UnportableError:
        return None
    nodes = scheduled(found, units(found, classified(function)), reorder=reorder)
    general = _Plan(found, nodes)
    return general if general.seconds <= plan.seconds else None


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    bound: BoundFunction
    nodes: tuple[Node, ...]
    rewritten: bool = False
    """Whether the function has arrays or loops of its own that hold for these sizes alone."""

    @property
    def seconds(self) -> float:
        loops = (loop for nest in self.bound.nests for loop in nest.loops.values())
        return cost(self.nodes, scale_of(loops))


def _plan(
    function: Function, values: Mapping[str, int | float], shapes: Mapping[str, tuple[int, ...]] | None,
    *, reorder: bool,
) -> _Plan:  # fmt: skip
    """Return the best schedule of the function as it is, or written with fewer dependences."""
    function = forwarded(function)
    scalars = classified(function)
    if scalars.promoted:
        function = promoted(function, scalars.promoted)
    found = bound(function, values, shapes)
    scalars = classified(function)
    mine = units(found, scalars)
    best = _Plan(found, scheduled(found, mine, reorder=reorder))
    if not any(isinstance(node, HostLoop) for node in best.nodes) and _wide(best.nodes):
        return best
    for other in (own_scalars(found, scalars), own_arrays(found), copied(found, mine), split(found)):
        if other is None:
            continue
        again = bound(other, values, shapes)
        plan = _Plan(again, scheduled(again, units(again, classified(other)), reorder=reorder), True)
        if plan.seconds < WORTH * best.seconds:
            best = plan
    return best


def _wide(nodes: tuple[Node, ...]) -> bool:
    """Whether every kernel has threads, and no thread runs a nest of loops alone."""
    return all(part.threads and len(part.sequential) < 2 for k in all_kernels(nodes) for part in k.parts)
