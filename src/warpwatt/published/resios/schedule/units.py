"""Units: the statements a schedule may move apart, each with the loops around it.

A unit is one assignment, or several that must stay in one thread: those that share a private scalar, those
under one condition that depends on data, a loop that is left early.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.nest import (
    Assign,
    Declare,
    DeclareArray,
    Element,
    If,
    Loop,
    Name,
    expressions,
    left_early,
    walk,
    walk_expression,
)  # fmt: skip
from warpwatt.published.resios.schedule.scalars import mentioned

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import Access, BoundFunction, BoundLoop
    from warpwatt.published.resios.c_loops.nest import Statement
    from warpwatt.published.resios.schedule.scalars import Scalars

Step = tuple["Loop | If", bool]
"""A loop, or a condition and whether it holds, on the way to a statement."""


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A statement that computes, and the way to it from the top of the function."""

    statement: Statement
    path: tuple[Step, ...]

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops around it, outermost first."""
        return tuple(step for step, _ in self.path if isinstance(step, Loop))


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """Statements that one thread executes together.

    ``members`` are the numbers of the units it was made of. ``loops`` may be reordered around them;
    ``path`` leads to where ``body``, in the order of the source, begins.
    ``accesses`` are numbered by their place in the function.
    """

    number: int
    members: frozenset[int]
    loops: tuple[BoundLoop, ...]
    path: tuple[Step, ...]
    body: tuple[Statement, ...]
    accesses: tuple[tuple[int, Access], ...]
    leaves: tuple[Leaf, ...]

    @property
    def lines(self) -> tuple[int, ...]:
        """Source lines of its statements, in order."""
        return tuple(sorted({leaf.statement.line for leaf in self.leaves}))

    @property
    def internal(self) -> float:
        """Mean iterations of the loops inside its body, summed over its statements' accesses; at least 1."""
        longest = 1.0
        for _, access in self.accesses:
            trips = 1.0
            for loop in access.loops[len(self.loops) :]:
                trips *= max(loop.mean, 1.0)
            longest = max(longest, trips)
        return longest


def leaves(body: tuple[Statement, ...], path: tuple[Step, ...] = ()) -> Iterator[Leaf]:
    """Yield the computing statements of a body in order."""
    for statement in body:
        match statement:
            case Loop() if left_early(statement):
                yield Leaf(statement, path)
            case Loop(body=inner):
                yield from leaves(inner, (*path, (statement, True)))
            case If(then=then, other=other):
                yield from leaves(then, (*path, (statement, True)))
                yield from leaves(other, (*path, (statement, False)))
            case Declare(value=None) | DeclareArray():
                continue
            case _:
                yield Leaf(statement, path)


def units(bound: BoundFunction, scalars: Scalars, together: bool = False) -> tuple[Unit, ...]:
    """Return the units of a function in the order of the source; host scalars are none.

    ``together`` keeps every innermost loop body whole.
    """
    every = [leaf for leaf in leaves(bound.function.body) if not _hosted(leaf, scalars)]
    groups = [_Group([leaf], _depth(leaf)) for leaf in every]
    for name, loops in scalars.private.items():
        for loop in loops:
            depth = _depth_of(every, loop)
            mine = [g for g in groups if any(_under(leaf, loop) and _names(leaf, name) for leaf in g.leaves)]
            groups = _merged(groups, mine, depth)
    for around, name in _local_arrays(bound.function.body, None):
        touching = [g for g in groups if any(name in local_arrays(f.statement) for f in g.leaves)]
        mine = [g for g in touching if around is None or any(_under(f, around) for f in g.leaves)]
        groups = _merged(groups, mine, 0 if around is None else _depth_of(every, around))
    for condition, depth in _data_conditions(every):
        mine = [g for g in groups if any(_beneath(leaf, condition) for leaf in g.leaves)]
        groups = _merged(groups, mine, depth)
    if together:
        groups = _whole_bodies(groups)
    groups.sort(key=lambda g: every.index(g.leaves[0]))
    return tuple(_unit(bound, frozenset([number]), group) for number, group in enumerate(groups))


def _local_arrays(body: tuple[Statement, ...], loop: Loop | None) -> Iterator[tuple[Loop | None, str]]:
    """Yield local arrays with the loop in whose body they are declared."""
    for statement in body:
        if isinstance(statement, DeclareArray):
            yield loop, statement.array.name
        elif isinstance(statement, Loop):
            yield from _local_arrays(statement.body, statement)
        elif isinstance(statement, If):
            yield from _local_arrays((*statement.then, *statement.other), loop)


@dataclass(slots=True)
class _Group:
    leaves: list[Leaf]
    depth: int
    """How many steps of the path lead to its body."""


def _hosted(leaf: Leaf, scalars: Scalars) -> bool:
    statement = leaf.statement
    name = ""
    if isinstance(statement, Declare):
        name = statement.name
    elif isinstance(statement, Assign) and isinstance(statement.target, Name):
        name = statement.target.name
    return not leaf.path and name in scalars.host


def _depth(leaf: Leaf) -> int:
    """Return how many steps may stand outside a leaf's unit: down to its innermost loop."""
    return max((n for n, (step, _) in enumerate(leaf.path, 1) if isinstance(step, Loop)), default=0)


def _depth_of(every: list[Leaf], loop: Loop) -> int:
    for leaf in every:
        for number, (step, _) in enumerate(leaf.path, start=1):
            if step is loop:
                return number
    return 0


def _under(leaf: Leaf, loop: Loop) -> bool:
    return any(step is loop for step, _ in leaf.path)


def _beneath(leaf: Leaf, condition: If) -> bool:
    return any(step is condition for step, _ in leaf.path)


def _names(leaf: Leaf, name: str) -> bool:
    """Whether a leaf, or a condition on its way, mentions a scalar."""
    found = mentioned(leaf.statement)
    for step, _ in leaf.path:
        if isinstance(step, If):
            found |= {p.name for p in walk_expression(step.condition) if isinstance(p, Name)}
    return name in found


def _data_conditions(every: list[Leaf]) -> Iterator[tuple[If, int]]:
    """Yield conditions that read arrays or scalars set in loops, and the depth at which they stand."""
    seen: set[int] = set()
    for leaf in every:
        for number, (step, _) in enumerate(leaf.path):
            if isinstance(step, If) and id(step) not in seen:
                seen.add(id(step))
                if any(isinstance(p, Element) for p in walk_expression(step.condition)):
                    yield (
                        step,
                        max(
                            (n for n, (s, _) in enumerate(leaf.path[:number], 1) if isinstance(s, Loop)),
                            default=0,
                        ),
                    )


def _merged(groups: list[_Group], mine: list[_Group], depth: int) -> list[_Group]:
    if not mine:
        return groups
    whole = _Group([leaf for g in mine for leaf in g.leaves], min([depth, *(g.depth for g in mine)]))
    return [g for g in groups if g not in mine] + [whole]


def _whole_bodies(groups: list[_Group]) -> list[_Group]:
    """Return groups with those of one innermost loop body merged."""
    found: dict[int, list[_Group]] = {}
    for group in groups:
        way = group.leaves[0].path[: group.depth]
        found.setdefault(id(way[-1][0]) if way else 0, []).append(group)
    merged = []
    for key, mine in found.items():
        if key == 0:
            merged += mine
        else:
            merged.append(_Group([leaf for g in mine for leaf in g.leaves], mine[0].depth))
    return merged


def joined(bound: BoundFunction, mine: list[Unit], depth: int) -> Unit:
    """Return one unit of several, under the first ``depth`` loops that all of them share."""
    every = sorted((leaf for u in mine for leaf in u.leaves), key=lambda leaf: _place(bound, leaf))
    steps = 0
    for number, (step, _) in enumerate(every[0].path, start=1):
        if sum(isinstance(s, Loop) for s, _ in every[0].path[:number]) <= depth and isinstance(step, Loop):
            steps = number
    return _unit(bound, frozenset().union(*(u.members for u in mine)), _Group(every, steps))


def _place(bound: BoundFunction, leaf: Leaf) -> int:
    order = {id(one.statement): n for n, one in enumerate(leaves(bound.function.body))}
    return order[id(leaf.statement)]


def _unit(bound: BoundFunction, members: frozenset[int], group: _Group) -> Unit:
    path = group.leaves[0].path[: group.depth]
    around = [step for step, _ in path if isinstance(step, Loop)]
    kept = {id(s) for leaf in group.leaves for s in walk((leaf.statement,))}
    start = around[-1].body if around else bound.function.body
    if path and not isinstance(path[-1][0], Loop):
        raise AssertionError("a unit begins in a loop's body")
    ways = {id(step) for leaf in group.leaves for step, _ in leaf.path[: len(leaf.path)]}
    mine = tuple(
        (place, access)
        for place, access in enumerate(bound.accesses)
        if id(access.statement) in kept or (isinstance(access.statement, If) and id(access.statement) in ways)
    )
    return Unit(
        number=min(members),
        members=members,
        loops=tuple(bound.of(loop) for loop in around),
        path=path,
        body=restricted(start, kept),
        accesses=mine,
        leaves=tuple(group.leaves),
    )


def restricted(body: tuple[Statement, ...], kept: set[int]) -> tuple[Statement, ...]:
    """Return statements with only the leaves to keep, by identity, and the declarations they need."""
    found: list[Statement] = []
    for statement in body:
        match statement:
            case Loop(body=inner):
                rest = restricted(inner, kept)
                if rest:
                    found.append(replace(statement, body=rest, declared=True))
            case If(then=then, other=other):
                yes, no = restricted(then, kept), restricted(other, kept)
                if yes or no:
                    found.append(replace(statement, then=yes, other=no))
            case Declare(value=None) | DeclareArray():
                found.append(statement)
            case _ if id(statement) in kept:
                found.append(statement)
    return _without_unused(found)


def _without_unused(body: list[Statement]) -> tuple[Statement, ...]:
    """Return statements without declarations that nothing after them names."""
    used: set[str] = set()
    kept: list[Statement] = []
    for statement in reversed(body):
        if isinstance(statement, Declare) and statement.value is None:
            if statement.name in used:
                kept.append(statement)
            continue
        if isinstance(statement, DeclareArray):
            if statement.array.name in used:
                kept.append(statement)
            continue
        used |= mentioned(statement) | local_arrays(statement)
        kept.append(statement)
    return tuple(reversed(kept))


def local_arrays(statement: Statement) -> set[str]:
    """Return the local arrays that a statement touches, nested ones included."""
    return {
        part.array.name
        for one in walk((statement,))
        for expression in expressions(one)
        for part in walk_expression(expression)
        if isinstance(part, Element) and part.array.local
    }


def reads(unit: Unit) -> set[str]:
    """Return the scalars that a unit's body mentions."""
    found: set[str] = set()
    for statement in unit.body:
        found |= mentioned(statement)
        for expression in expressions(statement):
            found |= {p.name for p in walk_expression(expression) if isinstance(p, Name)}
    return found
