"""What decides over the loops of a program: their exits and tests, and what happens inside them.

All of it follows from the program alone and is kept per program.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.core.program import Flow
from warpwatt.program.expression import UNKNOWN, loop_trait

if TYPE_CHECKING:
    from warpwatt.program.expression import Node
    from warpwatt.program.symbolic import Symbols


@dataclass(frozen=True, slots=True)
class ExitTest:
    """A way out of a loop: the edge (target -1: the thread ends) and the predicate of taking it.

    ``predicate`` is None where the paths to it are too many.
    """

    source: int
    target: int
    predicate: Node | None


@dataclass(frozen=True, slots=True)
class LoopControl:
    """One loop, seen from its control.

    Attributes
    ----------
    tests
        The ways out, guarded returns included.
    bottom
        Whether lanes leave only at the very end of an iteration.
    top
        Whether they may leave before anything else happens: a ``while`` loop as it is written.
    traits
        What branches, guards and loops inside depend on, the loop's own exits apart.
    varies
        Whether that includes the iteration.
    height
        How many loops that vary lie one inside the other, from this one inwards.
    """

    tests: tuple[ExitTest, ...]
    bottom: bool
    top: bool
    traits: int
    varies: bool
    height: int


@lru_cache(maxsize=32)
def loop_controls(symbols: Symbols) -> tuple[LoopControl, ...]:
    """Return the control of every loop of a program, by loop index."""
    result: list[LoopControl | None] = [None] * len(symbols.forest.loops)
    for loop in reversed(symbols.forest.loops):
        tests = _exit_tests(symbols, loop.index)
        traits = _inner_traits(symbols, loop.index, tests)
        varies = bool(traits & loop_trait(loop.index))
        heights = [inner.height for child in loop.children if (inner := result[child]) is not None]
        bottom = len(loop.latches) == 1 and all(t.source in loop.latches for t in tests)
        top = loop.header not in loop.latches and any(t.source == loop.header for t in tests)
        height = varies + max(heights, default=0)
        result[loop.index] = LoopControl(tests, bottom, top, traits, varies, height)
    return tuple(control for control in result if control is not None)


def _exit_tests(symbols: Symbols, loop: int) -> tuple[ExitTest, ...]:
    this = symbols.forest.loops[loop]
    edges = list(this.exits)
    for block in this.blocks:
        last = symbols.flow.terminator(block)
        if last is not None and last.flow in (Flow.RETURN, Flow.EXIT) and last.guard is not None:
            edges.append((block, -1))
    return tuple(ExitTest(s, t, _leaving_predicate(symbols, loop, s, t)) for s, t in edges)


def _leaving_predicate(symbols: Symbols, loop: int, source: int, target: int) -> Node | None:
    this = symbols.forest.loops[loop]
    directly = symbols.forest.innermost[source] == loop
    if directly and all(symbols.flow.dominates(source, latch) for latch in this.latches):
        return symbols.edge(source, target)  # tested in every iteration
    return symbols.along(this.header, source, target)


def _inner_traits(symbols: Symbols, loop: int, tests: tuple[ExitTest, ...]) -> int:
    own = {t.source for t in tests if t.predicate is not None}
    traits = 0
    for block in symbols.forest.loops[loop].blocks:
        terminator = symbols.flow.terminator(block)
        for instruction in symbols.flow.instructions(block):
            guard = symbols.guards.get(instruction.index)
            if guard is not None and not (block in own and instruction is terminator):
                traits |= symbols.algebra.traits_of(guard)
    return traits


def loop_entry(symbols: Symbols, block: int) -> int | None:
    """Return the side of a branch that enters a loop whose count depends on data, if the branch is its guard.

    That is so where the loop lies behind one side only and has the source line of the branch, as the check
    before a rotated loop does; without lines, where that side leads straight to the loop.
    """
    last = symbols.flow.terminator(block)
    targets = symbols.flow.blocks[block].successors
    if last is None or len(targets) != 2:
        return None
    for loop in symbols.forest.loops:
        tests = loop_controls(symbols)[loop.index].tests
        if not any(t.predicate is None or symbols.algebra.traits_of(t.predicate) & UNKNOWN for t in tests):
            continue
        behind = [t for t in targets if symbols.flow.dominates(t, loop.header)]
        if len(behind) != 1 or symbols.flow.dominates(loop.header, block):
            continue
        same_line = loop.line is not None and last.line is not None and loop.line.line == last.line.line
        if same_line or _leads_to(symbols, behind[0], loop.header):
            return behind[0]
    return None


def _leads_to(symbols: Symbols, block: int, header: int) -> bool:
    """Whether control goes from a block to a loop header without a choice."""
    for _ in range(8):
        if block == header:
            return True
        following = symbols.flow.blocks[block].successors
        if len(following) != 1:
            return False
        block = following[0]
    return False
