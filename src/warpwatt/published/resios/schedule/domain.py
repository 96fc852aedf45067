"""The iterations of a part as constraints on variables of the C source, sizes and times kept as symbols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.affine import Environment, both_ways, comparisons
from warpwatt.published.resios.c_loops.affine_form import Affine
from warpwatt.published.resios.c_loops.nest import If, Loop, Name, Unary
from warpwatt.published.resios.c_loops.types import INT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.published.resios.c_loops.bound import BoundLoop
    from warpwatt.published.resios.c_loops.nest import Expression
    from warpwatt.published.resios.schedule.plan import Part


@dataclass(frozen=True, slots=True)
class Axis:
    """A loop around a part: ``name`` is its variable, or a turn counter where it does not count in ones.

    ``value`` is the variable as a form of names, ``first`` where it starts.
    """

    loop: BoundLoop
    name: str
    value: Affine
    first: Affine

    @property
    def variable(self) -> Name:
        """The loop's variable."""
        return self.loop.loop.variable

    @property
    def skips(self) -> bool:
        """Whether its name is a turn counter."""
        return self.name != self.variable.name

    @property
    def counter(self) -> Affine:
        """Its counter from zero as a form of names."""
        if self.skips:
            return Affine(0, {self.name: 1})
        return (self.value - self.first).scaled(self.loop.loop.step)


@dataclass(frozen=True, slots=True)
class Domain:
    """What a part runs over. ``constraints`` are not negative; ``guards`` are conditions of the source.

    ``solved`` gives variables that a time decides, in an order in which they can be computed.
    """

    axes: Mapping[str, Axis]
    constraints: tuple[Affine, ...]
    solved: tuple[tuple[Axis, Affine], ...]
    guards: tuple[Expression, ...]


def domain(part: Part, symbols: Mapping[str, int]) -> Domain:
    """Return the iterations of a part; ``symbols`` are the integers a kernel is given, with their values."""
    known = Environment({name: Affine(0, {name: 1}) for name in symbols})
    axes: dict[str, Axis] = {}
    constraints: list[Affine] = []
    guards: list[Expression] = []
    loops = {id(bound.loop): bound for bound in part.unit.loops}
    for step, holds in part.unit.path:
        if isinstance(step, Loop):
            axis, limits = _axis(loops[id(step)], known, axes)
            axes[axis.loop.counter] = axis
            constraints += limits
            known.known[step.variable.name] = axis.value
        else:
            constraints += _condition(step, known, holds=holds)
            guards.append(step.condition if holds else _negated(step.condition))
    solved = tuple(_solved(axes[counter], form, axes) for counter, form in part.solved)
    for axis, form in solved:
        constraints = [c.replaced(axis.name, form) for c in constraints]
    return Domain(axes, tuple(constraints), solved, tuple(guards))


def _negated(condition: Expression) -> Expression:
    return Unary("!", condition, INT, condition.line)


def _condition(condition: If, known: Environment, *, holds: bool) -> list[Affine]:
    then, other = both_ways(comparisons(condition.condition, known))
    return [form for form in (then if holds else other) if form is not None]


def _axis(loop: BoundLoop, known: Environment, axes: Mapping[str, Axis]) -> tuple[Axis, list[Affine]]:
    """Return a loop as an axis and its limits, with symbols where its bounds are affine in them."""
    it = loop.loop
    first, stop = known.affine(it.start), known.affine(it.stop)
    if first is None or stop is None:
        first, last = _by_numbers(loop, axes)
    else:
        last = stop if "=" in it.relation else stop + Affine(-1 if it.step > 0 else 1)
    sign = 1 if it.step > 0 else -1
    if abs(it.step) == 1:
        name = it.variable.name
        value = Affine(0, {name: 1})
        limits = [(value - first).scaled(sign), (last - value).scaled(sign)]
        return Axis(loop, name, value, first), limits
    name = f"{it.variable.name}_turn"
    turn = Affine(0, {name: 1})
    value = first + turn.scaled(it.step)
    return Axis(loop, name, value, first), [turn, Affine(loop.most - 1) - turn, (last - value).scaled(sign)]


def _by_numbers(loop: BoundLoop, axes: Mapping[str, Axis]) -> tuple[Affine, Affine]:
    """Return first and last value of a loop at the given sizes, over the names of the loops around it."""
    step = loop.loop.step
    span = loop.inside + Affine(0, {loop.counter: abs(step)})
    last = loop.start + span.scaled(1 if step > 0 else -1)
    return _named(loop.start, axes), _named(last, axes)


def _named(form: Affine, axes: Mapping[str, Axis]) -> Affine:
    """Return a form over counters as one over names; times stay."""
    for counter in [name for name in form.terms if name in axes]:
        form = form.replaced(counter, axes[counter].counter)
    return form


def _solved(axis: Axis, counter: Affine, axes: Mapping[str, Axis]) -> tuple[Axis, Affine]:
    """Return the name of a solved axis as a form of times and names."""
    form = _named(counter, axes)
    return axis, form if axis.skips else axis.first + form.scaled(axis.loop.loop.step)
