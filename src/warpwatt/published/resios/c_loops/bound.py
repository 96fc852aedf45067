"""A function with its sizes given: trip counts, shapes, and every array access as an affine form.

Affine forms are over loop counters, which count from zero; a counter is named ``variable@line``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from warpwatt.core.errors import ArgumentError
from warpwatt.published.resios.c_loops.affine import Environment, both_ways, comparisons
from warpwatt.published.resios.c_loops.integers import Affine, System
from warpwatt.published.resios.c_loops.nest import (
    Array,
    Assign,
    Declare,
    Element,
    Function,
    If,
    Loop,
    Name,
    While,
    expressions,
    names_in,
    walk,
    walk_expression,
)  # fmt: skip
from warpwatt.published.resios.c_loops.refuse import Place
from warpwatt.published.resios.c_loops.rows import polynomial, strides, subscripts

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.integers import Box
    from warpwatt.published.resios.c_loops.nest import Statement
    from warpwatt.published.resios.c_loops.rows import Polynomial


@dataclass(frozen=True, slots=True)
class BoundLoop:
    """A loop whose bounds are known: its counter runs from 0 while ``inside`` is not negative.

    ``most`` and ``mean`` are its trips per entry: at most, and over the middle of the enclosing loops;
    ``limit`` the most over all sizes.
    """

    loop: Loop
    counter: str
    start: Affine
    inside: Affine
    most: int
    mean: float
    limit: int

    @property
    def rectangular(self) -> bool:
        """Whether its bounds are the same in every iteration of the loops around it."""
        return set(self.start.terms) | set(self.inside.terms) <= {self.counter}


@dataclass(frozen=True, slots=True)
class Access:
    """One read or write of an array element, in its place.

    ``subscripts`` are None where not affine; ``constraints`` hold (>= 0) where the access is reached;
    ``guarded`` says that it lies under a condition. ``frequency`` is its mean executions per call.
    """

    element: Element
    write: bool
    subscripts: tuple[Affine | None, ...]
    loops: tuple[BoundLoop, ...]
    constraints: tuple[Affine, ...]
    guarded: bool
    line: int
    statement: Statement
    """Whose expression it is: an assignment, or the condition of an if."""
    sizes: Box = field(default_factory=dict)
    """The sizes that stand as symbols in its forms, with their ranges."""

    @property
    def affine(self) -> bool:
        """Whether every subscript is."""
        return None not in self.subscripts

    def box(self) -> Box:
        """Return the ranges of the counters around it, narrowed by what is known where it stands."""
        box = {loop.counter: (0, loop.most - 1) for loop in self.loops}
        known = [*(loop.inside for loop in self.loops), *self.constraints]
        return System(box, (), known).narrowed(box) or {}


@dataclass(frozen=True, slots=True)
class BoundNest:
    """One loop nest with its sizes: the outermost loop, all loops by their identity, all accesses."""

    loop: Loop
    loops: Mapping[int, BoundLoop]
    accesses: tuple[Access, ...]

    def of(self, loop: Loop) -> BoundLoop:
        """Return what is known of a loop of this nest."""
        return self.loops[id(loop)]


@dataclass(frozen=True, slots=True)
class BoundFunction:
    """A function and everything its sizes decide; ``shapes`` are the extents of arrays in elements.

    ``by_statement`` has the accesses of each statement of its body, in the order of the source.
    """

    function: Function
    values: Mapping[str, int | float]
    assumed: tuple[str, ...]
    nests: tuple[BoundNest, ...]
    shapes: Mapping[str, tuple[int, ...]]
    by_statement: tuple[tuple[Access, ...], ...] = ()
    sizes: Box = field(default_factory=dict)
    """The sizes that are symbols in all forms, with their ranges."""
    extents: Mapping[str, tuple[Affine | None, ...]] = field(default_factory=dict)
    """Declared extents of arrays as forms of sizes, or those that products in subscripts show."""

    @property
    def accesses(self) -> tuple[Access, ...]:
        """All accesses in the order of the source."""
        return tuple(access for found in self.by_statement for access in found)

    def accesses_of(self, statement: int) -> tuple[Access, ...]:
        """Return the accesses of one statement of the function's body, by its number."""
        return self.by_statement[statement]

    def of(self, loop: Loop) -> BoundLoop:
        """Return what is known of a loop."""
        return next(nest.loops[id(loop)] for nest in self.nests if id(loop) in nest.loops)

    def nbytes(self, name: str) -> int:
        """Return the size of an array."""
        total = self.function.array(name).type.size
        for extent in self.shapes[name]:
            total *= extent
        return total

    def read(self, nest: BoundNest) -> set[str]:
        """Return the arrays a nest reads."""
        return {a.element.array.name for a in nest.accesses if not a.write}

    def written(self, nest: BoundNest) -> set[str]:
        """Return the arrays a nest writes."""
        return {a.element.array.name for a in nest.accesses if a.write}


def bound(
    function: Function,
    values: Mapping[str, int | float],
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    *,
    strict: bool = True,
    sizes: Box | None = None,
) -> BoundFunction:
    """Return the function with its sizes.

    Parameters
    ----------
    values
        Scalars by name. Integers are needed; a floating-point scalar left out is assumed to be 1.
    shapes
        Extents of arrays where the source and its subscripts do not tell.
    strict
        Whether a loop that never runs is refused; else it counts as one that runs once.
    sizes
        Ranges of scalars that stay symbols in every form; ``shapes`` then has those of all arrays.

    Raises
    ------
    ArgumentError
        If a value is missing or no parameter has that name.
    UnportableError
        If a bound is not affine, a loop never runs, or a subscript is below zero.
    """
    return _Binder(function, dict(values), dict(shapes or {}), strict, sizes or {}).bound()


@dataclass(slots=True)
class _Binder:
    """Walks a function once per nest."""

    function: Function
    values: dict[str, int | float]
    given: dict[str, tuple[int, ...]]
    strict: bool = True
    sizes: Box = field(default_factory=dict)
    place: Place = field(init=False)
    loops: dict[int, BoundLoop] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    products: dict[int, Polynomial | None] = field(default_factory=dict)
    """Subscripts by their elements' identity."""

    def __post_init__(self) -> None:
        self.place = Place(self.function.file)

    def bound(self) -> BoundFunction:
        assumed = self._complete()
        start = Environment({name: Affine(int(v)) for name, v in self.values.items() if isinstance(v, int)})
        start.known |= {name: Affine(0, {name: 1}) for name in self.sizes}
        for declared in self.function.prologue:
            start.assign(declared.name, declared.value)
        known = start.copy()
        accesses = [tuple(self._statements((s,), known, (), ())) for s in self.function.body]
        extents = {
            a.name: tuple(None if e is None else start.affine(e) for e in a.extents)
            for a in self.function.arrays
        }
        if self.sizes:
            accesses, rows = self._with_rows(accesses)
            extents |= rows
        pairs = zip(self.function.body, accesses, strict=True)
        nests = [BoundNest(s, dict(self.loops), found) for s, found in pairs if isinstance(s, Loop)]
        if self.sizes:
            sides = {
                name: [int(self.values[n]) for e in each[1:] if e for n in e.terms]
                for name, each in rows.items()
            }
            shapes = self.given | {name: (1, *each) for name, each in sides.items()}
        else:
            shapes = self._shapes([a for each in accesses for a in each], start)
        return BoundFunction(
            self.function, self.values, assumed, tuple(nests), shapes, tuple(accesses), self.sizes, extents
        )

    def _with_rows(
        self, accesses: list[tuple[Access, ...]]
    ) -> tuple[list[tuple[Access, ...]], dict[str, tuple[Affine | None, ...]]]:
        """Return accesses with a subscript per dimension that products of sizes show, and the extents."""
        found = {}
        for array in (a for a in self.function.arrays if a.extents == (None,)):
            mine = [a for each in accesses for a in each if a.element.array is array]
            every = [one for a in mine if (one := self.products[id(a.element)]) is not None]
            if len(every) == len(mine) and (lengths := strides(every)):
                found[array.name] = lengths

        def split(access: Access) -> Access:
            lengths, one = found.get(access.element.array.name), self.products.get(id(access.element))
            return (
                access if not lengths or one is None else replace(access, subscripts=subscripts(one, lengths))
            )

        sides = {name: (None, *(Affine(0, {side: 1}) for side in each)) for name, each in found.items()}
        return [tuple(map(split, each)) for each in accesses], sides

    def _complete(self) -> tuple[str, ...]:
        """Check the values given and fill in floating-point ones; return what was assumed."""
        types = {s.name: s.type for s in self.function.scalars}
        known = [*types, *(a.name for a in self.function.arrays)]
        for name in [*self.values, *self.given]:
            if name not in known:
                raise ArgumentError(f"no parameter {name!r}", hint=f"parameters: {' '.join(known)}")
        missing = [n for n, t in types.items() if n not in self.values and not t.floating]
        if missing:
            hint = " ".join(f"--arg {name}=VALUE" for name in missing)
            raise ArgumentError(f"sizes are missing: {', '.join(missing)}", hint=hint)
        for name, type_ in types.items():
            if not type_.floating and isinstance(self.values[name], float):
                raise ArgumentError(f"{name} is a whole number, not {self.values[name]}")
        assumed = tuple(n for n, t in types.items() if n not in self.values and t.floating)
        self.values.update(dict.fromkeys(assumed, 1.0))
        return assumed

    def _statements(
        self, body: tuple[Statement, ...], known: Environment,
        loops: tuple[BoundLoop, ...], constraints: tuple[Affine | None, ...],
    ) -> Iterator[Access]:  # fmt: skip
        """Yield accesses in the order of execution; ``constraints`` has a None for a condition not affine."""
        for statement in body:
            if isinstance(statement, While):
                known.forget(_assigned(statement.body))
            yield from self._reads(statement, known, loops, constraints)
            if isinstance(statement, Loop):
                yield from self._loop(statement, known, loops, constraints)
            elif isinstance(statement, If):
                yield from self._if(statement, known, loops, constraints)
            elif isinstance(statement, While):
                known.forget(_assigned(statement.body))
                yield from self._statements(statement.body, known, loops, (*constraints, None))
                known.forget(_assigned(statement.body))
            elif isinstance(statement, Declare):
                known.assign(statement.name, statement.value)
            elif isinstance(statement, Assign) and isinstance(statement.target, Name):
                known.assign(statement.target.name, None if statement.operator else statement.value)

    def _reads(
        self, statement: Statement, known: Environment,
        loops: tuple[BoundLoop, ...], constraints: tuple[Affine | None, ...],
    ) -> Iterator[Access]:  # fmt: skip
        target = statement.target if isinstance(statement, Assign) else None
        for expression in expressions(statement):
            for part in walk_expression(expression):
                if not isinstance(part, Element) or part.array.local:
                    continue
                forms = tuple(known.affine(subscript) for subscript in part.subscripts)
                if self.sizes and part.array.extents == (None,):
                    self.products[id(part)] = polynomial(part.subscripts[0], known)
                known_here = tuple(c for c in constraints if c is not None)
                updated = part is target and isinstance(statement, Assign) and bool(statement.operator)
                for write in (False, True) if updated else (part is target,):
                    yield Access(
                        part, write, forms, loops, known_here, bool(constraints), part.line, statement,
                        self.sizes,
                    )  # fmt: skip

    def _loop(
        self, loop: Loop, known: Environment,
        loops: tuple[BoundLoop, ...], constraints: tuple[Affine | None, ...],
    ) -> Iterator[Access]:  # fmt: skip
        changed = _assigned(loop.body)
        known.forget(changed)
        found = self._bounds(loop, known, loops)
        self.loops[id(loop)] = found
        inner = known.copy()
        inner.known[loop.variable.name] = found.start + Affine(0, {found.counter: loop.step})
        yield from self._statements(loop.body, inner, (*loops, found), constraints)
        known.forget({*changed, loop.variable.name})

    def _bounds(self, loop: Loop, known: Environment, loops: tuple[BoundLoop, ...]) -> BoundLoop:
        start, stop = known.affine(loop.start), known.affine(loop.stop)
        if start is None or stop is None:
            bad = loop.start if start is None else loop.stop
            names = ", ".join(sorted(names_in(bad))) or "an array element"
            hint = "bounds are sums of outer loop variables, sizes and constants"
            name = loop.variable.name
            raise self.place.refused(
                f"a bound of the loop over {name!r} is not affine in {names}", loop.line, hint
            )
        counter = self._counter(loop)
        last = stop if "=" in loop.relation else stop + Affine(-1 if loop.step > 0 else 1)
        span = last - start if loop.step > 0 else start - last  # distance to the last value still inside
        step = abs(loop.step)
        now = {name: (value, value) for name in self.sizes if isinstance(value := self.values[name], int)}
        box = now | {outer.counter: (0, outer.most - 1) for outer in loops}
        most = max(0, span.range(box)[1] // step + 1)
        wide = self.sizes | {outer.counter: (0, outer.limit - 1) for outer in loops}
        limit = max(most, span.range(wide)[1] // step + 1)
        middle = {name: float(low) for name, (low, _) in now.items()}
        middle |= {outer.counter: (outer.mean - 1) / 2 for outer in loops}
        mean = max(0.0, span.at(middle) / step + 1) if span.terms else float(most)
        if not self.strict:
            most, mean = max(1, most), max(1.0, mean)
        if most < 1:
            raise self.place.refused(
                f"the loop over {loop.variable.name!r} never runs at these sizes", loop.line
            )
        return BoundLoop(loop, counter, start, span + Affine(0, {counter: -step}), most, mean, limit)

    def _counter(self, loop: Loop) -> str:
        """Return a name of its own for a loop's counter."""
        name = f"{loop.variable.name}@{loop.line}"
        while self.counters.setdefault(name, id(loop)) != id(loop):
            name += "+"
        return name

    def _if(
        self, statement: If, known: Environment,
        loops: tuple[BoundLoop, ...], constraints: tuple[Affine | None, ...],
    ) -> Iterator[Access]:  # fmt: skip
        then, other = both_ways(comparisons(statement.condition, known))
        yield from self._statements(statement.then, known.copy(), loops, (*constraints, *then))
        yield from self._statements(statement.other, known.copy(), loops, (*constraints, *other))
        known.forget(_assigned((*statement.then, *statement.other)))

    def _shapes(self, accesses: list[Access], start: Environment) -> dict[str, tuple[int, ...]]:
        return {a.name: self._shape(a, [x for x in accesses if x.element.array is a], start)
                for a in self.function.arrays}  # fmt: skip

    def _shape(self, array: Array, accesses: list[Access], start: Environment) -> tuple[int, ...]:
        """Return the extents of an array: given, declared, or what its subscripts reach."""
        for access in accesses:
            self._check_not_below(access)
        if array.name in self.given:
            return self._given(array)
        extents = []
        for dimension, extent in enumerate(array.extents):
            form = None if extent is None else start.affine(extent)
            if extent is not None and (form is None or form.terms or form.constant < 1):
                raise self.place.refused(
                    f"the extent of {array.name!r} is no number at these sizes", array.line
                )
            extents.append(self._reach(array, accesses, dimension) if form is None else form.constant)
        return tuple(extents)

    def _given(self, array: Array) -> tuple[int, ...]:
        shape, wanted = self.given[array.name], len(array.extents)
        if len(shape) != wanted:
            message = f"{array.name!r} has {wanted} dimension{'s' * (wanted > 1)}, not {len(shape)}"
            raise ArgumentError(message, hint=f"--arg {array.name}={array.type.dtype}[...]")
        return shape

    def _reach(self, array: Array, accesses: list[Access], dimension: int) -> int:
        most = 0
        for access in accesses:
            form, box = access.subscripts[dimension], access.box()
            if form is None:
                hint = f"--arg {array.name}={array.type.dtype}[ELEMENTS]"
                message = (
                    f"how large {array.name!r} is cannot be told from its subscripts (line {access.line})"
                )
                raise ArgumentError(message, file=self.function.file, line=array.line, hint=hint)
            if box or not access.loops:
                most = max(most, form.range(box)[1])
        return most + 1

    def _check_not_below(self, access: Access) -> None:
        for form in access.subscripts:
            if form is None or access.guarded:
                continue
            box = access.box()
            if box and form.range(box)[0] < 0 and all(loop.rectangular for loop in access.loops):
                name = access.element.array.name
                message = f"a subscript of {name!r} is {form.range(box)[0]} at its least"
                raise self.place.refused(
                    message, access.line, "start the loop later, or put the access under an if"
                )


def _assigned(body: tuple[Statement, ...]) -> set[str]:
    """Return the scalars that statements set."""
    found = set()
    for statement in walk(body):
        if isinstance(statement, Assign) and isinstance(statement.target, Name):
            found.add(statement.target.name)
        elif isinstance(statement, Loop):
            found.add(statement.variable.name)
        elif isinstance(statement, Declare):
            found.add(statement.name)
    return found
