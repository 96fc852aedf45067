"""Slow paths of arithmetic: what hardly any operands take (``slow_paths.toml`` says which ones do).

A division, a square root or a sine tests its operands and jumps to a routine for those that the few
instructions in place cannot do. Contents of buffers that nobody described take it seldom, so it does not
count as control flow that they decide.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from warpwatt.core.program import Flow, Immediate
from warpwatt.emulate.ir import End, Terminator
from warpwatt.emulate.propagation import successors
from warpwatt.program.graph import postorder

if TYPE_CHECKING:
    from warpwatt.core.execution import Execution
    from warpwatt.core.program import Instruction, Program
    from warpwatt.emulate.ir import Block, Routine, Value

_BELOW, _ABOVE = frozenset({"lt", "ltu", "le", "leu"}), frozenset({"ge", "geu", "gt", "gtu"})


@dataclass(frozen=True, slots=True)
class SlowPath:
    """An entry of the table: an operation, its routines, its operand's thresholds, what operands take it."""

    name: str
    function: str
    taken: str
    source: str
    magnitude: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class WithoutSlowPaths:
    """A routine whose slow paths are never taken; ``tests``: each path, the branch to it, its condition."""

    routine: Routine
    tests: tuple[tuple[SlowPath, int, Value], ...]


@cache
def table() -> tuple[SlowPath, ...]:
    """Return the entries of the table.

    >>> [path.name for path in table()]
    ['division', 'reciprocal', 'square root', 'sine, cosine or tangent']
    """
    text = files("warpwatt.emulate").joinpath("slow_paths.toml").read_text("utf-8")
    rows = tomllib.loads(text).items()
    return tuple(SlowPath(n, **(row | {"magnitude": tuple(row.get("magnitude", ()))})) for n, row in rows)


@lru_cache(maxsize=64)
def without_slow_paths(routine: Routine) -> WithoutSlowPaths:
    """Return a routine without its slow paths; blocks keep their numbers, those cut off do nothing."""
    paths = _paths(routine)
    if not paths:
        return WithoutSlowPaths(routine, ())
    ends = [block.end for block in routine.blocks]
    tests: list[tuple[SlowPath, int, Value]] = []
    while found := next(_branches(ends, paths), None):
        at, side, path = found
        end = ends[at]
        if end.condition is not None and len(end.targets) > 1:
            tests.append((path, end.instruction, end.condition))
            ends[at] = Terminator(End.JUMP, (end.targets[1 - side],), instruction=end.instruction)
        else:
            paths[-1, at] = path  # control gets here only on the way to a slow path
            ends[at] = Terminator(End.EXIT)
    cut = replace(routine, blocks=tuple(replace(b, end=e) for b, e in zip(routine.blocks, ends, strict=True)))
    reached = set(postorder([successors(cut, block) for block in cut.blocks], [0]))
    blocks = (b if i in reached else _empty(b) for i, b in enumerate(cut.blocks))
    return WithoutSlowPaths(replace(cut, blocks=tuple(blocks)), tuple(tests))


def slow_share(execution: Execution, routine: Routine) -> float:
    """Return the share of a launch's warp instructions that only slow paths execute."""
    kept = without_slow_paths(routine).routine
    cut = (
        i
        for whole, left in zip(routine.blocks, kept.blocks, strict=True)
        if whole.operations and not left.operations
        for i in whole.instructions
    )
    return sum(execution.counts[i] for i in cut) / max(1.0, execution.warp_instructions)


def _empty(block: Block) -> Block:
    return replace(block, operations=[], end=Terminator(End.EXIT))


def _branches(
    ends: list[Terminator], paths: dict[tuple[int, int], SlowPath]
) -> Iterator[tuple[int, int, SlowPath]]:
    """Yield ends that lead to a slow path: block, which of its targets, the path."""
    for at, end in enumerate(ends):
        for side, target in enumerate(end.targets):
            if at == 0 and len(end.targets) == 1:
                continue
            path = paths.get((at, target)) or paths.get((-1, target))
            if path is not None:
                yield at, side, path


def _paths(routine: Routine) -> dict[tuple[int, int], SlowPath]:
    """Return the edges (from, -1: anywhere; to) between blocks that are slow paths."""
    found: dict[tuple[int, int], SlowPath] = {}
    instructions = routine.program.instructions
    for index, block in enumerate(routine.blocks):
        for instruction in (instructions[i] for i in block.instructions):
            path = _called(instruction)
            if path is not None and index:
                found[-1, index] = path
        end = block.end
        if end.end is End.BRANCH and 0 <= end.instruction < len(instructions):
            side = _far_side(routine.program, instructions[end.instruction])
            if side is not None:
                found[index, end.targets[side[0]]] = side[1]
    return found


def _called(instruction: Instruction) -> SlowPath | None:
    """Return the slow path whose routine an instruction calls."""
    if not instruction.opcode.lower().startswith("call"):
        return None
    names = " ".join(instruction.targets)
    return next((path for path in table() if re.search(path.function, names)), None)


def _far_side(program: Program, branch: Instruction) -> tuple[int, SlowPath] | None:
    """Return the side of a branch (0 where its guard holds) that operands beyond a threshold take."""
    guard = branch.guard
    if guard is None or branch.flow is not Flow.JUMP:
        return None
    before = reversed(program.instructions[: branch.index])
    test = next((i for i in before if guard.register in i.writes), None)
    if test is None:
        return None
    for path in table():
        if any(isinstance(o, Immediate) and o.value in path.magnitude for o in test.operands):
            words = set(test.opcode.lower().split("."))
            beyond_if_true = bool(words & _ABOVE)
            if beyond_if_true or words & _BELOW:
                return int(beyond_if_true == guard.negated), path
    return None
