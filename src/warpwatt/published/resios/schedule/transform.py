"""From a function of loops to kernels and host loops: every way of writing it, the best schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.bound import bound
from warpwatt.published.resios.c_loops.evaluate import host_values
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
    shapes: Mapping[str, tuple[int, ...]] | None = None, *, reorder: bool = False,
) -> Program:  # fmt: skip
    """Return the best program for a function at its sizes; ``reorder`` allows sums in another order.

    Raises
    ------
    ArgumentError, UnportableError
        As :func:`~warpwatt.published.resios.c_loops.bound.bound` does.
    """
    plan = _plan(function, values, shapes, reorder=reorder)
    found, nodes = plan.bound, plan.nodes
    scalars = classified(found.function)
    hosted, types = host_values(found.function, scalars.host, found.values)
    integers = {n: v for n, v in {**found.values, **hosted}.items() if isinstance(v, int)}
    return Program(found, built(found, nodes, types, integers), hosted, types, plan.seconds)


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    bound: BoundFunction
    nodes: tuple[Node, ...]

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
        plan = _Plan(again, scheduled(again, units(again, classified(other)), reorder=reorder))
        if plan.seconds < WORTH * best.seconds:
            best = plan
    return best


def _wide(nodes: tuple[Node, ...]) -> bool:
    """Whether every kernel has threads, and no thread runs a nest of loops alone."""
    return all(part.threads and len(part.sequential) < 2 for k in all_kernels(nodes) for part in k.parts)
