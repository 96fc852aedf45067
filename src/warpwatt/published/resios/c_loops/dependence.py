"""Which loops are data parallel: no iteration reads or overwrites what another one writes.

Two accesses of one array depend on each other across iterations if their subscripts are equal somewhere in
the iteration space; the sizes are given, so :class:`~warpwatt.published.resios.c_loops.integers.System`
decides it exactly and names two iterations. Scalars are private where every iteration sets them before it
reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.integers import Affine, System, Unknown
from warpwatt.published.resios.c_loops.nest import (
    Assign,
    Declare,
    Element,
    If,
    Loop,
    Name,
    While,
    expressions,
    walk,
    walk_expression,
)  # fmt: skip
from warpwatt.published.resios.c_loops.refuse import UnportableError

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import Access, BoundFunction, BoundNest
    from warpwatt.published.resios.c_loops.nest import Array, Function, Statement


class DependenceError(UnportableError):
    """A loop whose iterations depend on each other (exit code 1); ``lines`` are the two that do."""

    def __init__(self, message: str, *, file: str, line: int, lines: tuple[int, int], hint: str = "") -> None:
        super().__init__(message, file=file, line=line, hint=hint)
        self.lines = lines


@dataclass(frozen=True, slots=True)
class Dependence:
    """Why a loop is not data parallel: a variable, the two lines, and iterations where both happen.

    ``iterations`` are loop counters from zero, None where the solver only could not rule it out.
    """

    variable: str
    lines: tuple[int, int]
    loop: Loop
    writes: tuple[bool, bool]
    iterations: tuple[int, int] | None = None
    exact: bool = True

    def error(self, file: str, hint: str = "") -> DependenceError:
        """Return the error that names both lines."""
        first, second = ("writes" if w else "reads" for w in self.writes)
        a, b = self.lines
        what = f"line {a} {first} {self.variable!r}"
        if self.iterations is not None:
            name = self.loop.variable.name
            turns = f" in iterations {self.iterations[0]} and {self.iterations[1]}"
            what += f" and line {b} {second} the same element{turns} of the loop over {name!r}"
        elif self.exact:
            what += f" and line {b} {second} it in another iteration"
        else:
            what += f" and line {b} {second} it, perhaps the same element in another iteration"
        message = f"the loop over {self.loop.variable.name!r} is not data parallel: {what}"
        hint = hint or self._hint()
        return DependenceError(message, file=file, line=self.loop.line, lines=self.lines, hint=hint)

    def _hint(self) -> str:
        """Return what to change where no other loop could stand outermost."""
        if self.iterations is not None:
            return "write to a second array what other iterations read, as Jacobi's method does"
        if self.exact:
            return "one sum or extreme per loop is shared among threads; give other values a place each"
        return "only subscripts that are sums of loop variables and sizes can be told apart"


def check_aliases(function: Function, written: set[str]) -> None:
    """Refuse pointers that may mean the same memory, one of them written.

    Raises
    ------
    UnportableError
        Naming both parameters and their lines.
    """
    pointers = [a for a in function.arrays if a.parameter or a.owner]
    for i, one in enumerate(pointers):
        for other in pointers[i + 1 :]:
            if {one.name, other.name} & written and _may_alias(one, other):
                hint = "declare one of them restrict, or say --assume-no-alias"
                both = f"{one.name!r} (line {one.line}) and {other.name!r} (line {other.line})"
                raise UnportableError(
                    f"{both} may point to the same memory", file=function.file, line=one.line, hint=hint
                )


def _may_alias(one: Array, other: Array) -> bool:
    """Whether C lets two pointers mean the same object: neither restrict, and types that agree (6.5, 7)."""
    if one.distinct or other.distinct or (one.owner and one.owner == other.owner):
        return False
    kinds = {one.type.dtype.value.lstrip("iu"), other.type.dtype.value.lstrip("iu")}
    return len(kinds) == 1 or "8" in kinds


def carried(bound: BoundFunction, nest: BoundNest, loops: tuple[Loop, ...]) -> Dependence | None:
    """Return a dependence that the innermost of ``loops`` carries, None if it is data parallel.

    ``loops`` are the loops from the outside to the one asked about; the outer ones stay in one iteration.
    """
    return _scalar(bound.function, loops[-1]) or next(_arrays(nest, loops), None)


def _arrays(nest: BoundNest, loops: tuple[Loop, ...]) -> Iterator[Dependence]:
    inside = [a for a in nest.accesses if _within(a, loops)]
    for i, one in enumerate(inside):
        for other in inside[i:]:
            if (one.write or other.write) and one.element.array is other.element.array:
                found = _between(one, other, loops)
                if found is not None:
                    yield found


def _within(access: Access, loops: tuple[Loop, ...]) -> bool:
    return len(access.loops) >= len(loops) and access.loops[len(loops) - 1].loop is loops[-1]


def _between(one: Access, other: Access, loops: tuple[Loop, ...]) -> Dependence | None:
    lines, loop, writes = (one.line, other.line), loops[-1], (one.write, other.write)
    name = one.element.array.name
    if not one.affine or not other.affine:
        return Dependence(name, lines, loop, writes, exact=False)
    counter = one.loops[len(loops) - 1].counter
    for first, second in (("'", '"'), ('"', "'")):
        system = _system(one, other, len(loops), counter, (first, second))
        found = system.solve()
        if found is Unknown.BUDGET:
            return Dependence(name, lines, loop, writes, exact=False)
        if isinstance(found, dict):
            turns = found[counter + "'"], found[counter + '"']
            return Dependence(name, lines, loop, writes, turns)
    return None


def _system(one: Access, other: Access, depth: int, counter: str, order: tuple[str, str]) -> System:
    """Return the equations of two accesses to the same element, ``one`` marked ' and ``other`` "."""
    box, known, equal = {}, [], []
    for access, mark in ((one, "'"), (other, '"')):
        for loop in access.loops:
            box[loop.counter + mark] = (0, loop.most - 1)
            known.append(loop.inside.renamed(mark))
        known += [constraint.renamed(mark) for constraint in access.constraints]
    for left, right in zip(one.subscripts, other.subscripts, strict=True):
        assert left is not None
        assert right is not None
        equal.append(left.renamed("'") - right.renamed('"'))
    counters = [outer.counter for outer in one.loops[: depth - 1]]
    equal += [Affine(0, {name + "'": 1, name + '"': -1}) for name in counters]
    known.append(Affine(-1, {counter + order[1]: 1, counter + order[0]: -1}))
    return System(box, equal, known)


def _scalar(function: Function, loop: Loop) -> Dependence | None:
    """Return a scalar that one iteration sets and another reads."""
    written = written_scalars(loop.body)
    own = {s.name for s in walk(loop.body) if isinstance(s, Declare)}
    for name, line in exposed(loop.body):
        if name in written and name not in own:
            return Dependence(name, (written[name], line), loop, (True, False))
    later = [n for n in function.nests if n.line > loop.line]
    for nest in later:
        for name, line in exposed((nest,)):
            if name in written and name not in own:
                return Dependence(name, (written[name], line), loop, (True, False))
    return None


def written_scalars(body: tuple[Statement, ...]) -> dict[str, int]:
    """Return the scalars that statements set, with the line where they first do; loop variables aside."""
    found: dict[str, int] = {}
    for statement in walk(body):
        if isinstance(statement, Assign) and isinstance(statement.target, Name):
            found.setdefault(statement.target.name, statement.line)
    return found


def exposed(body: tuple[Statement, ...]) -> list[tuple[str, int]]:
    """Return scalars that may be read before the statements set them, with the line of the read."""
    found: list[tuple[str, int]] = []
    _flow(body, set(), found)
    return found


def _flow(body: tuple[Statement, ...], set_: set[str], found: list[tuple[str, int]]) -> set[str]:
    """Collect reads of what is not in ``set_``; return what is set after the statements for certain."""
    for statement in body:
        _reads(statement, set_, found)
        match statement:
            case Declare(name=name, value=value):
                set_ = set_ | {name} if value is not None else set_ - {name}
            case Assign(target=Name(name=name)):
                set_ = set_ | {name}
            case If(then=then, other=other):
                set_ = _flow(then, set_, found) & _flow(other, set_, found)
            case While(body=inner):
                _flow(inner, set_, found)  # it may not run at all
            case Loop(variable=variable, body=inner):
                _flow(inner, set_ | {variable.name}, found)  # it may not run at all
                set_ = set_ | {variable.name}
    return set_


def _reads(statement: Statement, set_: set[str], found: list[tuple[str, int]]) -> None:
    for expression in expressions(statement):
        target = isinstance(statement, Assign) and expression is statement.target
        if target and isinstance(expression, Name) and not statement.operator:  # type: ignore[union-attr]
            continue
        for part in walk_expression(expression):
            if isinstance(part, Name) and part.name not in set_:
                found.append((part.name, part.line))
            elif isinstance(part, Element):
                continue
