"""From units and their dependences to a tree of host loops and kernels.

Strongly connected units are taken in order. One unit becomes a kernel with every loop that carries nothing as
a dimension of threads. Units that depend on each other, or one without such a loop, get a time each: a loop's
counter, or a sum of counters (a wavefront), such that nothing comes before what it depends on; the host
runs through the times, and what is left at one time is scheduled in the same way (Allen and Kennedy 1987;
Feautrier 1992, with times searched for instead of solved for).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.affine_form import Affine
from warpwatt.published.resios.c_loops.projection import bounds_of, projected
from warpwatt.published.resios.schedule.dependences import dependences
from warpwatt.published.resios.schedule.fuse import fused
from warpwatt.published.resios.schedule.plan import (
    HostLoop,
    Kernel,
    Node,
    Part,
    coordinate,
    cost,
    kernels,
    scale_of,
)
from warpwatt.published.resios.schedule.units import joined

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import BoundFunction
    from warpwatt.published.resios.schedule.dependences import Dependence
    from warpwatt.published.resios.schedule.units import Unit

MOST_CHOICES = 400
"""Choices of times looked at for units that depend on each other."""
MOST_TRIED = 6
"""Choices whose rest is scheduled."""
WAVES = 4
"""Largest factor of a counter in a wavefront."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """What outer host loops have fixed of a unit, and the counters still free."""

    times: tuple[tuple[str, Affine], ...]
    solved: tuple[tuple[str, Affine], ...]
    free: tuple[str, ...]


State = dict[int, _Placed]


def scheduled(bound: BoundFunction, units: Sequence[Unit], *, reorder: bool = False) -> tuple[Node, ...]:
    """Return the schedule of a function's units; ``reorder`` allows sums in another order."""
    state = {u.number: _Placed((), (), tuple(loop.counter for loop in u.loops)) for u in units}
    scale = scale_of(loop for nest in bound.nests for loop in nest.loops.values())
    return _Search(bound, scale).nodes(tuple(units), dependences(units, reorder=reorder), state, 1)


def components(units: Sequence[Unit], deps: Sequence[Dependence]) -> list[list[Unit]]:
    """Return strongly connected units, each before what depends on it, else in the order of the source."""
    reach = {u.number: {d.target.number for d in deps if d.source is u} for u in units}
    for middle, beyond in reach.items():
        for reached in reach.values():
            if middle in reached:
                reached.update(beyond)
    left = sorted(units, key=lambda u: u.number)
    found: list[list[Unit]] = []
    while left:
        ready = next(u for u in left if not any(
            u.number in reach[o.number] and o.number not in reach[u.number] for o in left))  # fmt: skip
        mine = [o for o in left if o is ready
                or (o.number in reach[ready.number] and ready.number in reach[o.number])]  # fmt: skip
        found.append(mine)
        left = [o for o in left if o not in mine]
    return found


@dataclass(frozen=True, slots=True)
class _Search:
    bound: BoundFunction
    scale: float

    def nodes(
        self, units: tuple[Unit, ...], deps: Sequence[Dependence], state: State, level: int
    ) -> tuple[Node, ...]:
        """Return the schedule of units between which ``deps`` are left."""
        found: list[Node] = []
        for mine in components(units, deps):
            inside = [d for d in deps if d.source in mine and d.target in mine]
            found += self._component(tuple(mine), inside, state, level)
        return fused(tuple(found), deps)

    def _component(
        self, units: tuple[Unit, ...], deps: Sequence[Dependence], state: State, level: int
    ) -> tuple[Node, ...]:
        if len(units) == 1:
            (unit,) = units
            free = state[unit.number].free
            once = {loop.counter for loop in unit.loops if loop.most == 1}
            threads = tuple(
                c for c in free if c not in once and all(d.equal(_counter(c), _counter(c)) for d in deps)
            )
            if threads or set(free) <= once:
                rest = tuple(c for c in free if c not in threads)
                return (Kernel((Part(unit, state[unit.number].solved, threads, rest),)),)
        options = [self._timed(units, deps, state, level, times) for times in self._times(units, deps, state)]
        options += self._whole(units, state, level)
        parallel = [nodes for nodes in options if any(k.dimensions for k in kernels(nodes))]
        if not parallel and len(units) == 1:
            placed = state[units[0].number]
            return (Kernel((Part(units[0], placed.solved, (), placed.free),)),)
        if not options:
            raise AssertionError(f"no schedule for lines {[u.lines for u in units]}")
        return min(parallel or options, key=lambda nodes: cost(nodes, self.scale))

    def _timed(
        self, units: tuple[Unit, ...], deps: Sequence[Dependence], state: State, level: int,
        times: dict[int, Affine],
    ) -> tuple[Node, ...]:  # fmt: skip
        """Return a host loop over times, and what is left at one time inside."""
        name = f"t{level}"
        left = []
        for d in deps:
            rest = d.at_one_time(times[d.source.number], times[d.target.number])
            if rest is not None:
                left.append(rest)
        inner = dict(state)
        for unit in units:
            inner[unit.number] = _placed(state[unit.number], name, times[unit.number])
        body = self.nodes(units, left, inner, level + 1)
        return (HostLoop(name, tuple((u, times[u.number]) for u in units), body),)

    def _times(
        self, units: tuple[Unit, ...], deps: Sequence[Dependence], state: State
    ) -> Iterator[dict[int, Affine]]:
        """Yield times worth trying: the loop of the source, other counters, wavefronts."""
        free = [state[u.number].free for u in units]
        if all(free):
            own = {u.number: _counter(f[0]) for u, f in zip(units, free, strict=True)}
            shared = len({f[0] for f in free}) == 1
            if shared:
                yield own
            yield from self._counters(units, deps, state, own if shared else None)
        if free[0] and all(f == free[0] for f in free):
            yield from _wavefront(units, deps, free[0])

    def _counters(
        self, units: tuple[Unit, ...], deps: Sequence[Dependence], state: State, own: dict[int, Affine] | None
    ) -> list[dict[int, Affine]]:
        """Return choices of one counter per unit that respect everything, those that settle most first."""
        found: list[tuple[int, dict[int, Affine]]] = []
        known: dict[tuple[int, int, int], bool] = {}
        forms = {u.number: _candidates(u, state[u.number].free) for u in units}

        def respected(d: Dependence, one: int, other: int) -> bool:
            key = (id(d), one, other)
            if key not in known:
                known[key] = d.respected(forms[d.source.number][one], forms[d.target.number][other])
            return known[key]

        def extend(chosen: dict[int, int]) -> None:
            if len(found) >= MOST_CHOICES:
                return
            if len(chosen) == len(units):
                times = {number: forms[number][which] for number, which in chosen.items()}
                if times != own:
                    settled = sum(d.settled(times[d.source.number], times[d.target.number]) for d in deps)
                    found.append((settled, times))
                return
            unit = units[len(chosen)]
            for which in range(len(forms[unit.number])):
                now = chosen | {unit.number: which}
                touching = [d for d in deps if unit in (d.source, d.target)
                            and d.source.number in now and d.target.number in now]  # fmt: skip
                if all(respected(d, now[d.source.number], now[d.target.number]) for d in touching):
                    extend(now)

        if len(units) <= 8:
            extend({})
        found.sort(key=lambda one: -one[0])
        return [times for _, times in found[:MOST_TRIED]]

    def _whole(self, units: tuple[Unit, ...], state: State, level: int) -> list[tuple[Node, ...]]:
        """Return the schedule of the units kept together as one, where they are in the same place."""
        first = state[units[0].number]
        if len(units) == 1 or any(state[u.number].times != first.times for u in units):
            return []
        depth = _shared_loops(units)
        if depth < len(first.times):
            return []
        unit = joined(self.bound, list(units), depth)
        kept = {loop.counter for loop in unit.loops}
        if any(counter not in kept for counter, _ in first.solved):
            return []
        deps: list[Dependence] = list(dependences((unit,)))
        for _, form in first.times:
            deps = [rest for d in deps if (rest := d.at_one_time(form, form)) is not None]
        solved = {counter for counter, _ in first.solved}
        free = tuple(loop.counter for loop in unit.loops if loop.counter not in solved)
        placed = replace(first, free=free)
        return [self._component((unit,), deps, state | {unit.number: placed}, level)]


def _shared_loops(units: Sequence[Unit]) -> int:
    depth = 0
    for loops in zip(*(u.loops for u in units), strict=False):
        if any(loop is not loops[0] for loop in loops):
            break
        depth += 1
    return depth


def _counter(name: str) -> Affine:
    return Affine(0, {name: 1})


def _candidates(unit: Unit, free: tuple[str, ...]) -> list[Affine]:
    """Return the times a unit may have: counters; variables, up and down, where a loop's start moves."""
    found = [_counter(name) for name in free]
    for loop in unit.loops:
        moves = loop.start.terms and set(loop.start.terms) <= set(free)
        if loop.counter in free and moves and abs(loop.loop.step) == 1:
            value = coordinate(loop)
            low, high = _ends(unit, value)
            found += [value - form for form in low] + [form - value for form in high]
    return found


def _ends(unit: Unit, form: Affine) -> tuple[list[Affine], list[Affine]]:
    """Return the least and largest value of a form over a unit's iterations, none where sizes decide it."""
    known = [loop.inside for loop in unit.loops]
    known += [Affine(0, {loop.counter: 1}) for loop in unit.loops]
    equal = Affine(0, {"value": 1}) - form
    shadow = projected([*known, equal, equal.scaled(-1)], ["value"]) or []
    low, high = bounds_of(shadow, "value")
    ends = (max, low), (min, high)
    return tuple([Affine(best(f.constant for f in found))] if found else [] for best, found in ends)  # type: ignore[return-value]


def _placed(before: _Placed, time: str, form: Affine) -> _Placed:
    """Return a unit's place after a time is given: its innermost counter with factor ±1 follows from it."""
    counter = next(c for c in reversed(before.free) if abs(form.terms.get(c, 0)) == 1)
    rest = Affine(form.constant, {n: f for n, f in form.terms.items() if n != counter})
    value = (Affine(0, {time: 1}) - rest).scaled(form.terms[counter])
    free = tuple(c for c in before.free if c != counter)
    return _Placed((*before.times, (time, form)), (*before.solved, (counter, value)), free)


def _wavefront(
    units: Sequence[Unit], deps: Sequence[Dependence], counters: tuple[str, ...]
) -> Iterator[dict[int, Affine]]:
    """Yield the shortest sum of counters that settles every dependence, if there is one."""
    trips = {loop.counter: loop.most for loop in units[0].loops}
    every = [
        factors
        for factors in itertools.product(range(WAVES + 1), repeat=len(counters))
        if sum(f > 0 for f in factors) > 1 and 1 in factors
    ]
    every.sort(
        key=lambda factors: (sum(f * trips[c] for f, c in zip(factors, counters, strict=True)), factors)
    )
    for factors in every:
        form = Affine(0, {c: f for c, f in zip(counters, factors, strict=True) if f})
        if all(d.settled(form, form) for d in deps):
            yield {u.number: form for u in units}
            return
