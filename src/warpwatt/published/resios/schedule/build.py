"""Kernels of a schedule as functions of loops again: threads outermost, one iteration each.

What is built is C in the same form that was read, so that everything that reads loop nests (the printer, the
accesses, the prognosis) reads kernels too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.affine_form import Affine
from warpwatt.published.resios.c_loops.dependence import exposed
from warpwatt.published.resios.c_loops.nest import (
    Assign,
    Binary,
    Call,
    Cast,
    Declare,
    Element,
    Function,
    If,
    Loop,
    Name,
    Number,
    Scalar,
    Unary,
    expressions,
    integer,
    walk,
    walk_expression,
)  # fmt: skip
from warpwatt.published.resios.c_loops.printer import Printer
from warpwatt.published.resios.c_loops.projection import bounds_of, empty, projected, strongest
from warpwatt.published.resios.c_loops.refuse import Place
from warpwatt.published.resios.c_loops.types import INT, LONG
from warpwatt.published.resios.schedule.domain import Domain, domain
from warpwatt.published.resios.schedule.lanes import lanes_last
from warpwatt.published.resios.schedule.plan import HostLoop, Kernel, Node

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.affine_form import Box
    from warpwatt.published.resios.c_loops.bound import BoundFunction
    from warpwatt.published.resios.c_loops.nest import Expression, Statement
    from warpwatt.published.resios.c_loops.types import CType
    from warpwatt.published.resios.schedule.domain import Axis
from warpwatt.published.resios.schedule.plan import Part

MOST_DIMENSIONS = 3
"""Loops that become dimensions of threads at most; more of them run inside a thread."""


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
        low = _combined("min", [_combined("max", [written(f, types) for f in forms]) for forms in self.lower])
        high = _combined(
            "max", [_combined("min", [written(f, types) for f in forms]) for forms in self.upper]
        )
        return low, high


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
    bound: BoundFunction, nodes: Sequence[Node], hosted: Mapping[str, CType], values: Mapping[str, int]
) -> tuple[BuiltNode, ...]:
    """Return the kernels and host loops of a schedule.

    Parameters
    ----------
    hosted
        Scalars that the host computes before the first kernel, with their types.
    values
        All integers a kernel may be given: sizes and host scalars.
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
    values: dict[str, int]
    count: int
    number: int = 0

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
        return {**self.values, **{name: low for name, (low, _) in times.items()}}

    def _box(self, times: Box) -> Box:
        return {**{name: (value, value) for name, value in self.values.items()}, **times}

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
        limits = _united(lower, upper, box)
        ends = _ends(limits, box)
        return BuiltLoop(node.name, limits, self.nodes(node.body, {**times, node.name: ends}))

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
        body = self._body(
            statement
            for part, found in zip(kernel.parts, domains, strict=True)
            for statement in _part(part, found, names, limits, types, box, alone=len(kernel.parts) == 1)
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
        return _united(lower, upper, box)

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


def _united(lower: list[tuple[Affine, ...]], upper: list[tuple[Affine, ...]], box: Box) -> Limits:
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


def _ends(limits: Limits, box: Box) -> tuple[int, int]:
    """Return the least and largest value over a box of outer times."""
    lows = [min(f.range(box)[0] for f in forms) if len(forms) == 1 else max(f.range(box)[0] for f in forms)
            for forms in limits.lower]  # fmt: skip
    highs = [min(f.range(box)[1] for f in forms) for forms in limits.upper]
    return min(lows), max(highs)


def _part(
    part: Part, found: Domain, names: tuple[str, ...], limits: tuple[Limits, ...],
    types: dict[str, CType], box: Box, *, alone: bool,
) -> tuple[Statement, ...]:  # fmt: skip
    """Return what one part does in a thread: its variables, its guard, its own loops, its body."""
    implied = _implied(found, part, limits)
    return _PartBuilder(part, found, names, types, box, implied, alone).statements()


def _implied(found: Domain, part: Part, limits: tuple[Limits, ...]) -> list[Affine]:
    """Return the constraints that the launch and the threads' own limits already ensure."""
    implied: list[Affine] = []
    for counter, limit in zip(part.threads, limits, strict=True):
        name = Affine(0, {found.axes[counter].name: 1})
        if len(limit.lower) == 1:
            implied += [name - form for form in limit.lower[0]]
        if len(limit.upper) == 1:
            implied += [form - name for form in limit.upper[0]]
    return implied


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
                body = (If(_conjunction(list(self.domain.guards)), body, (), line),)
        tests = [comparison(c, self.types, line) for c in now]
        if tests:
            body = (If(_conjunction(tests), body, (), line),)
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
        start = _combined("max", [written(f, self.types) for f in low])
        stop = _combined("min", [written(f, self.types) for f in high])
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
        wide = {axis.loop.counter: (0, axis.loop.most - 1) for axis in self.domain.axes.values()}
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


def _combined(function: str, parts: list[Expression]) -> Expression:
    """Return max or min of expressions."""
    first, *rest = parts
    for other in rest:
        wide = LONG if LONG.size in (first.type.size, other.type.size) else INT
        both = tuple(p if p.type == wide or (isinstance(p, Number) and wide is INT) else Cast(p, wide, p.line)
                     for p in (first, other))  # fmt: skip
        first = Call(function, both, wide, first.line)
    return first


def _conjunction(tests: list[Expression]) -> Expression:
    first, *rest = tests
    for other in rest:
        first = Binary("&&", first, other, INT, first.line)
    return first


def comparison(form: Affine, types: Mapping[str, CType], line: int) -> Expression:
    """Return a constraint as C, positive terms to the left.

    >>> from warpwatt.published.resios.c_loops.printer import Printer
    >>> Printer({}).expression(comparison(Affine(-1, {"i": 1, "k": -1}), {}, 0))
    'i >= k + 1'
    """
    left = Affine(max(form.constant, 0), {n: f for n, f in form.terms.items() if f > 0})
    right = Affine(max(-form.constant, 0), {n: -f for n, f in form.terms.items() if f < 0})
    return Binary(">=", written(left, types, line), written(right, types, line), INT, line)


def written(form: Affine, types: Mapping[str, CType], line: int = 0) -> Expression:
    """Return a form as C, variables first."""
    found: Expression | None = None
    for name, factor in sorted(form.terms.items(), key=lambda one: one[1] < 0):
        variable: Expression = Name(name, types.get(name, INT), line)
        if abs(factor) != 1:
            variable = Binary("*", integer(abs(factor), line), variable, variable.type, line)
        if found is None:
            found = variable if factor > 0 else Unary("-", variable, variable.type, line)
        else:
            kind = max(found.type, variable.type, key=lambda t: t.rank)
            found = Binary("+" if factor > 0 else "-", found, variable, kind, line)
    if found is None:
        return (
            integer(form.constant, line)
            if form.constant >= 0
            else Unary("-", integer(-form.constant), INT, line)
        )
    if form.constant:
        sign = "+" if form.constant > 0 else "-"
        found = Binary(sign, found, integer(abs(form.constant), line), found.type, line)
    return found


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
