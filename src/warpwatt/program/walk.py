"""One pass of the sampled warps over the control-flow graph.

Every block gets the *presence* of each lane, a number from 0 to 1. Predicates that follow from arguments
and indices send a lane one way or the other. Where a predicate depends on data, both sides are taken and
each lane is half on either (the thesis' assumption, chapter 7: every branch is taken by at least one
thread of every warp). Loops are passed once, with the iterations that matter as an axis of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from warpwatt.core.program import Flow, Instruction
from warpwatt.program.arithmetic import SCALAR
from warpwatt.program.controls import loop_entry
from warpwatt.program.evaluation import Iteration
from warpwatt.program.trips import Leaving

if TYPE_CHECKING:
    from warpwatt.program.arithmetic import Array
    from warpwatt.program.controls import ExitTest, LoopControl
    from warpwatt.program.evaluation import Environment, Evaluator
    from warpwatt.program.expression import Node
    from warpwatt.program.iterations import Iterations
    from warpwatt.program.trips import TripCounts


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """Where a walk is: the iterations of the loops around, how many each stands for, their axes."""

    environment: Environment
    weight: Array
    depth: int
    size: int
    loop: int | None = None
    forced: ExitTest | None = None
    iteration: Array | None = None
    last: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LoopEntry:
    """A loop as a walk enters it.

    ``leaving`` says when lanes leave; ``forced`` is the exit they are sent to where that is assumed.
    """

    loop: int
    presence: Array
    leaving: Leaving
    forced: ExitTest | None
    control: LoopControl


class Visitor(Protocol):
    """What a walk asks and reports: :mod:`counting` and :mod:`accesses` each bring one."""

    def block(self, block: int, presence: Array, context: Context) -> None:
        """Take note of a block that some lane passes."""
        ...

    def enter(self, entry: LoopEntry, context: Context) -> Iterations:
        """Take note of a loop and choose the iterations to look at."""
        ...

    def assumed_last(self, loop: int, tests: tuple[ExitTest, ...], *, known: bool) -> int | None:
        """Return the iteration in which lanes are taken to leave a loop; None to leave it to analysis.

        Asked first with ``known`` True, and again with False where analysis found nothing: then not None.
        """
        ...

    def undecided(self, node: Node, terminator: Instruction) -> None:
        """Take note of a branch whose predicate is not known."""
        ...


Arrivals = dict[int, "Array"]


@dataclass(slots=True, eq=False)
class Walk:
    """Passes the whole program for the sampled warps."""

    evaluator: Evaluator
    trips: TripCounts
    visitor: Visitor

    def run(self) -> None:
        """Start all lanes at the entry and follow them to the end."""
        valid = self.evaluator.sample.valid.astype(float)
        context = Context({}, np.ones(SCALAR), 0, 1)
        self._region(None, {0: valid}, context)

    def _region(self, loop: int | None, arrivals: Arrivals, context: Context) -> Arrivals:
        """Pass the blocks directly in a loop (None: outside all); return what leaves it, by target."""
        forest = self.evaluator.symbols.forest
        leaving: Arrivals = {}
        for block, inner in forest.items(loop):
            presence = arrivals.pop(block, None)
            if presence is None:
                continue
            if inner is None:
                self.visitor.block(block, presence, context)
                outcome = self._split(block, presence, context)
            else:
                outcome = self._loop(inner, presence, context)
            for target, part in outcome:
                inside = target >= 0 and (loop is None or forest.contains(loop, target))
                if inside and loop is not None and target == forest.loops[loop].header:
                    continue  # the next iteration
                place = arrivals if inside else leaving
                place[target] = place[target] + part if target in place else part
        return leaving

    # Branches -----------------------------------------------------------------------------------------

    def _split(self, block: int, presence: Array, context: Context) -> list[tuple[int, Array]]:
        """Return where the lanes of a block go; -1 is the end of the thread."""
        symbols = self.evaluator.symbols
        last = symbols.flow.terminator(block)
        targets = list(symbols.flow.blocks[block].successors)
        if last is not None and last.flow in (Flow.RETURN, Flow.EXIT):
            targets.insert(0, -1)
        if last is None or len(targets) < 2:
            return [(t, presence) for t in targets]
        if len(targets) > 2 or (last.flow is Flow.JUMP and len(set(last.targets)) != 1):
            return self._scattered(block, targets, presence, last)
        return self._two_ways(block, targets, presence, context, last)

    def _scattered(
        self, block: int, targets: list[int], presence: Array, last: Instruction
    ) -> list[tuple[int, Array]]:
        """Send the lanes of an indirect branch to all targets alike."""
        node = self.evaluator.symbols.edge(block, targets[0])
        if node is not None:
            self.visitor.undecided(node, last)
        return [(t, presence / len(targets)) for t in targets]

    def _two_ways(
        self, block: int, targets: list[int], presence: Array, context: Context, last: Instruction
    ) -> list[tuple[int, Array]]:
        symbols = self.evaluator.symbols
        taken, falls = targets
        node = symbols.guards[last.index]
        forced = context.forced
        if forced is not None and forced.source == block and forced.target in targets:
            assert context.iteration is not None
            assert context.last is not None
            leaves = context.iteration == context.last
            condition: Array | None = leaves if forced.target == taken else ~leaves
        else:
            condition = self.evaluator.value(node, context.environment)
        if condition is not None:
            sides = ((taken, condition), (falls, ~condition))
            return [(t, presence if c.all() else presence * c) for t, c in sides if c.any()]
        out = [t for t in targets if self._leaves(context.loop, t)]
        if len(out) == 1:
            # When lanes leave is the loop's affair (see TripCounts): until then all stay.
            once = presence if context.last is None else presence * (context.iteration == context.last)
            return [(t, once if t == out[0] else presence) for t in targets]
        entered = loop_entry(symbols, block)
        if entered is not None:  # part of the assumption on the loop: it is entered
            return [(entered, presence)]
        self.visitor.undecided(node, last)
        return [(t, presence / 2) for t in targets]

    def _leaves(self, loop: int | None, target: int) -> bool:
        return loop is not None and (target < 0 or not self.evaluator.symbols.forest.contains(loop, target))

    # Loops --------------------------------------------------------------------------------------------

    def _loop(self, loop: int, presence: Array, context: Context) -> list[tuple[int, Array]]:
        entry = self._entry(loop, presence, context)
        chosen = self.visitor.enter(entry, context)
        last = entry.leaving.iteration
        assert last is not None
        depth = context.depth + chosen.axis
        inside = Context(
            {**context.environment, loop: Iteration(chosen.number)},
            context.weight * chosen.weight,
            depth,
            context.size * (len(chosen.number) if chosen.axis else 1),
            loop,
            entry.forced,
            chosen.number,
            last,
        )
        header = self.evaluator.symbols.forest.loops[loop].header
        here = presence * (chosen.number <= last) if chosen.axis or not entry.control.bottom else presence
        left = self._region(loop, {header: here}, inside)
        if chosen.axis:
            left = {target: (part * (chosen.weight > 0)).sum(axis=0) for target, part in left.items()}
        return self._shared(left, presence, entry)

    def _entry(self, loop: int, presence: Array, context: Context) -> LoopEntry:
        control = self.trips.controls[loop]
        tests, this = control.tests, self.evaluator.symbols.forest.loops[loop]
        forced = None
        assumed = self.visitor.assumed_last(loop, tests, known=True)
        if assumed is None:
            leaving = self.trips.leaving(loop, context.environment, presence > 0)
            if leaving.iteration is None:
                assumed = self.visitor.assumed_last(loop, tests, known=False)
        if assumed is not None:
            forced = _controlling(tests, this.header, this.latches)
            if not control.top or (forced is not None and forced.source != this.header):
                assumed -= 1
            leaving = Leaving(np.full(SCALAR, assumed), complete=False)
            self.trips.settle(loop, context.environment, leaving)
        return LoopEntry(loop, presence, leaving, forced, control)

    def _shared(self, left: Arrivals, presence: Array, entry: LoopEntry) -> list[tuple[int, Array]]:
        """Distribute the lanes that entered over the ways out, as the iterations looked at suggest."""
        if not left:
            tests = entry.control.tests
            return [(tests[0].target, presence)] if tests else []
        if len(left) == 1:
            return [(target, presence) for target in left]
        total = sum(left.values(), start=np.zeros(SCALAR))
        safe = np.where(total > 0, total, 1.0)
        main = (
            entry.forced.target
            if entry.forced is not None and entry.forced.target in left
            else next(iter(left))
        )
        return [
            (t, presence * (part / safe + ((total <= 0) if t == main else 0.0))) for t, part in left.items()
        ]


def _controlling(tests: tuple[ExitTest, ...], header: int, latches: tuple[int, ...]) -> ExitTest | None:
    """Return the exit that most likely holds the loop condition: at the top, else at the bottom."""
    for wanted in ({header}, set(latches)):
        found = [t for t in tests if t.source in wanted]
        if found:
            return found[0]
    return tests[0] if tests else None
