"""Kernels of a schedule as functions of loops again: threads outermost, one iteration each.

What is built is C in the same form that was read, so that everything that reads loop nests (the printer, the
accesses, the prognosis) reads kernels too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.affine_form import Affine
from warpwatt.published.resios.c_loops.dependence import exposed
from warpwatt.published.resios.c_loops.nest import (
    Assign,
    Declare,
    Element,
    Function,
    If,
    Loop,
    Name,
    Number,
    Scalar,
    expressions,
    walk,
    walk_expression,
)  # fmt: skip
from warpwatt.published.resios.c_loops.printer import Printer
from warpwatt.published.resios.c_loops.projection import bounds_of, projected, strongest
from warpwatt.published.resios.c_loops.refuse import Place
from warpwatt.published.resios.c_loops.types import INT
from warpwatt.published.resios.schedule.domain import Domain, domain
from warpwatt.published.resios.schedule.lanes import lanes_last
from warpwatt.published.resios.schedule.limits import Limits, ends, implied, united
from warpwatt.published.resios.schedule.part import part_statements
from warpwatt.published.resios.schedule.plan import HostLoop, Kernel, Node

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.affine_form import Box
    from warpwatt.published.resios.c_loops.bound import BoundFunction
    from warpwatt.published.resios.c_loops.nest import Expression, Statement
    from warpwatt.published.resios.c_loops.types import CType
from warpwatt.published.resios.schedule.plan import Part

MOST_DIMENSIONS = 3
"""Loops that become dimensions of threads at most; more of them run inside a thread."""


@dataclass(frozen=True, slots=True, eq=False)
class BuiltKernel:
    """A kernel as a function of loops: its first ``dimensions`` loops are threads, outermost first.

    ``times`` are the host loops around it, ``limits`` the range of every dimension.
    """

    function: Function
    dimensions: int
    times: tuple[str, ...]
    limits: tuple[Limits, ...]
    kernel: Kernel

    def extents(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """Return the iterations of every dimension for given sizes and times; 0 where there are none."""
        ends = [limit.at(values) for limit in self.limits]
        return tuple(max(0, high - low + 1) for low, high in ends)


@dataclass(frozen=True, slots=True, eq=False)
class BuiltLoop:
    """A host loop over a time."""

    name: str
    limits: Limits
    body: tuple[BuiltNode, ...]


BuiltNode = BuiltKernel | BuiltLoop


def built(
    bound: BoundFunction, nodes: Sequence[Node], hosted: Mapping[str, CType], values: Box
) -> tuple[BuiltNode, ...]:
    """Return the kernels and host loops of a schedule.

    Parameters
    ----------
    hosted
        Scalars that the host computes before the first kernel, with their types.
    values
        Ranges of all integers a kernel may be given: sizes and host scalars.
    """
    count = len([n for node in nodes for n in _all_kernels(node)])
    return _Builder(bound, dict(hosted), dict(values), count).nodes(nodes, {})


def _all_kernels(node: Node) -> list[Kernel]:
    if isinstance(node, HostLoop):
        return [k for inner in node.body for k in _all_kernels(inner)]
    return [node]


@dataclass(slots=True)
class _Builder:
    bound: BoundFunction
    hosted: dict[str, CType]
    values: Box
    count: int
    number: int = 0
    inside: list[Affine] = field(default_factory=list)
    """What the host loops around a kernel ensure."""

    def nodes(self, nodes: Sequence[Node], times: Box) -> tuple[BuiltNode, ...]:
        """Return nodes inside host loops over ``times``, with their ranges."""
        found: list[BuiltNode] = []
        for node in nodes:
            if isinstance(node, HostLoop):
                found.append(self._loop(node, times))
            else:
                found.append(self._kernel(node, times))
        return tuple(found)

    def _symbols(self, times: Box) -> dict[str, int]:
        return {name: low for name, (low, _) in self._box(times).items()}

    def _box(self, times: Box) -> Box:
        return {**self.values, **times}

    def _loop(self, node: HostLoop, times: Box) -> BuiltLoop:
        lower, upper = [], []
        box = self._box(times)
        for part in _first_parts(node):
            counter = next(c for c, form in part.solved if node.name in form.terms)
            bare = replace(part, solved=tuple((c, f) for c, f in part.solved if c in _before(part, counter)))
            found = domain(bare, self._symbols(times))
            time = dict(node.times)[part.unit]
            for name in list(time.terms):
                time = time.replaced(name, found.axes[name].counter)
            for axis, form in found.solved:
                time = time.replaced(axis.name, form)
            equal = Affine(0, {node.name: 1}) - time
            forms = projected(
                [*found.constraints, equal, equal.scaled(-1)], [*self.values, *times, node.name]
            )
            low, high = bounds_of(forms or [], node.name)
            lower.append(tuple(strongest(low, box, 1)))
            upper.append(tuple(strongest(high, box, -1)))
        limits = united(lower, upper, box)
        inside = {**times, node.name: ends(limits, box)}
        own = implied(node.name, limits)
        self.inside += own
        body = self.nodes(node.body, inside)
        del self.inside[len(self.inside) - len(own) :]
        return BuiltLoop(node.name, limits, body)

    def _kernel(self, kernel: Kernel, times: Box) -> BuiltKernel:
        kernel = lanes_last(_trimmed(kernel), self.bound)
        box, symbols = self._box(times), self._symbols(times)
        domains = [domain(part, symbols) for part in kernel.parts]
        pairs = list(zip(kernel.parts, domains, strict=True))
        types = self._types(kernel, times)
        names = self._coordinates(kernel, domains)
        limits = tuple(
            self._limits([(d, d.axes[p.threads[n]].name) for p, d in pairs], box)
            for n in range(kernel.dimensions)
        )
        alone = len(pairs) == 1
        body = self._body(
            statement
            for part, found in pairs
            for statement in part_statements(part, found, names, limits, types, box, self.inside, alone=alone)
        )
        first = kernel.parts[0]
        line = min(line for part in kernel.parts for line in part.unit.lines)
        lines = tuple(first.loop(counter).loop.line for counter in first.threads)
        if not names:
            lines = (line,)
            names, limits = ("thread",), (Limits(((Affine(0),),), ((Affine(0),),)),)
        for name, limit, at in reversed(list(zip(names, limits, lines, strict=True))):
            low, high = limit.expressions(types)
            body = (Loop(Name(name, types.get(name, INT), at), low, high, "<=", 1, body, at),)
        self.number += 1
        function = self._function(body, tuple(times))
        return BuiltKernel(function, len(names), tuple(times), limits, kernel)

    def _body(self, statements: Iterable[Statement]) -> tuple[Statement, ...]:
        return _merged(_hoisted(tuple(statements)))

    def _types(self, kernel: Kernel, times: Box) -> dict[str, CType]:
        types = (
            {s.name: s.type for s in self.bound.function.scalars} | self.hosted | dict.fromkeys(times, INT)
        )
        for part in kernel.parts:
            types |= {loop.loop.variable.name: loop.loop.variable.type for loop in part.unit.loops}
        return types

    def _coordinates(self, kernel: Kernel, domains: list[Domain]) -> tuple[str, ...]:
        """Return names of the coordinates: those of the source where all parts call them the same."""
        names = []
        for number in range(kernel.dimensions):
            found = {d.axes[p.threads[number]].name for p, d in zip(kernel.parts, domains, strict=True)}
            axis = "xyz"[kernel.dimensions - 1 - number]
            names.append(found.pop() if len(found) == 1 else f"thread_{axis}")
        return tuple(names)

    def _limits(self, found: list[tuple[Domain, str]], box: Box) -> Limits:
        lower, upper = [], []
        for one, name in found:
            forms = projected(one.constraints, [*box, name]) or []
            low, high = bounds_of(forms, name)
            lower.append(tuple(strongest(low, box, 1)))
            upper.append(tuple(strongest(high, box, -1)))
        return united(lower, upper, box)

    def _function(self, body: tuple[Statement, ...], times: tuple[str, ...]) -> Function:
        own = self.bound.function
        name = own.name if self.count == 1 else f"{own.name}_{self.number}"
        extra = [Scalar(n, kind, own.line, parameter=False) for n, kind in self.hosted.items()]
        extra += [Scalar(n, INT, own.line, parameter=False) for n in times]
        scalars = (*own.scalars, *extra)
        declared = _private(own, body, {s.name for s in scalars})
        place = Place(own.file)
        _check_known(body, {s.name for s in scalars}, place)
        nest = body[0]
        assert isinstance(nest, Loop)
        return replace(
            own, name=name, scalars=scalars, prologue=declared, nests=(nest,), body=(*declared, nest)
        )


def _hoisted(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Return statements without blocks of their own where what the blocks declare agrees."""
    printer = Printer({})
    values: dict[str, str] = {}
    blocks = [s for s in statements if isinstance(s, If) and isinstance(s.condition, Number)]
    for block in blocks:
        for one in block.then:
            if isinstance(one, Declare) and one.value is not None:
                text = printer.expression(one.value)
                if values.setdefault(one.name, text) != text:
                    return statements
    inner = [s for s in walk(statements) if isinstance(s, Loop) and s.variable.name in values]
    if inner:
        return statements
    found: list[Statement] = []
    declared: set[str] = set()
    for one in statements:
        for inside in one.then if one in blocks else (one,):
            if isinstance(inside, Declare) and inside.name in values:
                if inside.name in declared:
                    continue
                declared.add(inside.name)
            found.append(inside)
    return tuple(found)


def _merged(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """Return statements with neighbours under one and the same condition of a thread's place together."""
    found: list[Statement] = []
    printer = Printer({})
    for one in statements:
        last = found[-1] if found else None
        if isinstance(one, If) and isinstance(last, If) and not one.other and not last.other:
            same = printer.expression(one.condition) == printer.expression(last.condition)
            if same and not isinstance(one.condition, Number) and not _touches(one.condition, last.then):
                found[-1] = replace(last, then=(*last.then, *one.then))
                continue
        found.append(one)
    return tuple(found)


def _touches(condition: Expression, body: tuple[Statement, ...]) -> bool:
    """Whether a body may change what a condition says."""
    parts = list(walk_expression(condition))
    changed = {s.target.name for s in walk(body) if isinstance(s, Assign) and isinstance(s.target, Name)}
    changed |= {s.name for s in walk(body) if isinstance(s, Declare)}
    return any(isinstance(p, Element) or (isinstance(p, Name) and p.name in changed) for p in parts)


def _before(part: Part, counter: str) -> set[str]:
    """Return the counters solved by host loops further out."""
    found: set[str] = set()
    for name, _ in part.solved:
        if name == counter:
            break
        found.add(name)
    return found


def _first_parts(node: HostLoop) -> list[Part]:
    """Return the parts of all kernels in a host loop."""
    return [part for inner in node.body for kernel in _all_kernels(inner) for part in kernel.parts]


def _trimmed(kernel: Kernel) -> Kernel:
    """Return a kernel with three dimensions at most: outer ones run inside the thread."""
    extra = kernel.dimensions - MOST_DIMENSIONS
    if extra <= 0:
        return kernel
    parts = []
    for part in kernel.parts:
        inner = (*part.threads[:extra], *part.sequential)
        order = [loop.counter for loop in part.unit.loops]
        parts.append(
            replace(part, threads=part.threads[extra:], sequential=tuple(sorted(inner, key=order.index)))
        )
    return Kernel(tuple(parts))


def _private(own: Function, body: tuple[Statement, ...], given: set[str]) -> tuple[Declare, ...]:
    """Return declarations, without values, of the scalars a kernel sets that no block of it declares."""
    types = {s.name: s.type for s in walk(own.body) if isinstance(s, Declare)}
    types |= {s.name: s.type for s in own.scalars}
    inside = {s.name for s in walk(body) if isinstance(s, Declare)}
    inside |= {s.variable.name for s in walk(body) if isinstance(s, Loop) and s.declared}
    used = [
        p.name for s in walk(body) for e in expressions(s) for p in walk_expression(e) if isinstance(p, Name)
    ]
    used += [s.variable.name for s in walk(body) if isinstance(s, Loop)]
    missing = [n for n in dict.fromkeys(used) if n not in inside | given]
    return tuple(Declare(n, types.get(n, INT), None, own.line) for n in missing)


def _check_known(body: tuple[Statement, ...], given: set[str], place: Place) -> None:
    """Refuse a kernel that reads a scalar nobody gave it: a loop's variable, used after its loop."""
    for name, line in exposed(body):
        if name not in given:
            hint = "compute it from the loop's bounds"
            raise place.refused(f"the value of {name!r} after the loop that changes it", line, hint)
