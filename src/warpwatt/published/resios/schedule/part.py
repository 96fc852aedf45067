"""What one part of a kernel does in a thread: its variables, its guard, its own loops, its body."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.affine_form import Affine
from warpwatt.published.resios.c_loops.nest import Declare, If, Loop, Name, integer
from warpwatt.published.resios.c_loops.projection import bounds_of, empty, projected, strongest
from warpwatt.published.resios.c_loops.types import INT
from warpwatt.published.resios.schedule.c_forms import combined, comparison, conjunction, written
from warpwatt.published.resios.schedule.limits import implied

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.affine_form import Box
    from warpwatt.published.resios.c_loops.nest import Statement
    from warpwatt.published.resios.c_loops.types import CType
    from warpwatt.published.resios.schedule.domain import Axis, Domain
    from warpwatt.published.resios.schedule.limits import Limits
    from warpwatt.published.resios.schedule.plan import Part


def part_statements(
    part: Part, found: Domain, names: tuple[str, ...], limits: tuple[Limits, ...],
    types: dict[str, CType], box: Box, inside: list[Affine], *, alone: bool,
) -> tuple[Statement, ...]:  # fmt: skip
    """Return what one part does in a thread: its variables, its guard, its own loops, its body."""
    pairs = zip(part.threads, limits, strict=True)
    own = [form for counter, limit in pairs for form in implied(found.axes[counter].name, limit)]
    return _PartBuilder(part, found, names, types, box, [*inside, *own], alone).statements()


@dataclass(slots=True)
class _PartBuilder:
    part: Part
    domain: Domain
    names: tuple[str, ...]
    types: dict[str, CType]
    box: Box
    implied: list[Affine]
    alone: bool

    def statements(self) -> tuple[Statement, ...]:
        """Return the statements of the part."""
        line = self.part.unit.lines[0]
        head: list[Statement] = []
        ready = set(self.box)
        for counter, shared in zip(self.part.threads, self.names, strict=True):
            axis = self.domain.axes[counter]
            ready.add(axis.name)
            if axis.name != shared:
                head.append(Declare(axis.name, self._type(axis.name), Name(shared, INT, line), line))
            if axis.skips:
                head.append(self._declared(axis.variable.name, axis.value, line))
        pending = list(self.domain.solved)
        left = [c for c in self.domain.constraints if not self._known(c)]
        body = self._inner(list(self.part.sequential), pending, left, ready, line)
        return self._scoped(head, body)

    def _scoped(self, head: list[Statement], body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        """Return statements whose declarations do not meet those of other parts."""
        if not head or self.alone:
            return (*head, *body)
        always = integer(1, head[0].line)
        return (If(always, (*head, *body), (), head[0].line),)

    def _inner(
        self, sequential: list[str], pending: list[tuple[Axis, Affine]], left: list[Affine],
        ready: set[str], line: int,
    ) -> tuple[Statement, ...]:  # fmt: skip
        """Return what stands inside the loops opened so far."""
        declared: list[Statement] = []
        changed = True
        while changed:
            changed = False
            for one in list(pending):
                axis, form = one
                if set(form.terms) <= ready:
                    declared.append(self._declared(axis.name, form, line))
                    ready = ready | {axis.name}
                    if axis.skips:
                        declared.append(self._declared(axis.variable.name, axis.value, line))
                    pending = [p for p in pending if p is not one]
                    changed = True
        now = [c for c in left if set(c.terms) <= ready]
        later = [c for c in left if c not in now]
        if sequential:
            body = self._loop(sequential, pending, later, ready, line)
        else:
            body = self.part.unit.body
            if self.domain.guards:
                body = (If(conjunction(list(self.domain.guards)), body, (), line),)
        tests = [comparison(c, self.types, line) for c in now]
        if tests:
            body = (If(conjunction(tests), body, (), line),)
        if declared:
            return self._scoped(declared, body)
        return body

    def _loop(
        self, sequential: list[str], pending: list[tuple[Axis, Affine]], left: list[Affine],
        ready: set[str], line: int,
    ) -> tuple[Statement, ...]:  # fmt: skip
        """Return the next loop that runs inside a thread, with everything in it."""
        axis = self.domain.axes[sequential[0]]
        known = ready | {axis.name}
        mine = [c for c in left if set(c.terms) <= known and abs(c.terms.get(axis.name, 0)) == 1]
        low, high = bounds_of(mine, axis.name)
        if not low or not high:
            shadow = [c for c in projected(left, known) or [] if c not in mine]
            more_low, more_high = bounds_of(shadow, axis.name)
            low, high = low or more_low, high or more_high
        low, high = strongest(low, self.box_with(known), 1), strongest(high, self.box_with(known), -1)
        rest = [c for c in left if c not in mine]
        start = combined("max", [written(f, self.types) for f in low])
        stop = combined("min", [written(f, self.types) for f in high])
        backwards = axis.loop.loop.step < 0 and not axis.skips
        body = self._inner(sequential[1:], pending, rest, known, line)
        if axis.skips:
            body = (self._declared(axis.variable.name, axis.value, line), *body)
        name = Name(axis.name, self._type(axis.name), axis.loop.loop.line)
        if backwards:
            return (Loop(name, stop, start, ">=", -1, body, axis.loop.loop.line),)
        return (Loop(name, start, stop, "<=", 1, body, axis.loop.loop.line),)

    def box_with(self, names: Iterable[str]) -> Box:
        """Return ranges of symbols and of names not decided yet, as wide as their loops."""
        box = dict(self.box)
        by_name = {axis.name: axis for axis in self.domain.axes.values()}
        wide = box | {axis.loop.counter: (0, axis.loop.limit - 1) for axis in self.domain.axes.values()}
        for name in names:
            if name not in box and name in by_name:
                axis = by_name[name]
                step = Affine(0, {axis.loop.counter: axis.loop.loop.step})
                box[name] = wide[axis.loop.counter] if axis.skips else (axis.loop.start + step).range(wide)
        return box

    def _known(self, constraint: Affine) -> bool:
        """Whether the launch ensures a constraint: it says nothing about threads, or only what limits say."""
        ranges = constraint.range(self.box_with(constraint.terms)) if constraint.terms else None
        if ranges is not None and ranges[0] >= 0 and set(constraint.terms) <= set(self.box):
            return True
        ends = [Affine(-low, {name: 1}) for name, (low, _) in self.box.items()]
        ends += [Affine(high, {name: -1}) for name, (_, high) in self.box.items()]
        return empty([*ends, *self.implied, constraint.scaled(-1) + Affine(-1)])

    def _type(self, name: str) -> CType:
        return self.types.get(name, INT)

    def _declared(self, name: str, form: Affine, line: int) -> Declare:
        return Declare(name, self._type(name), written(form, self.types), line)
