"""Branches that the parameters of a launch decide: ways that it cannot take are left out.

Library kernels look whether pointers are null, and at what they point to only if they are not: scale factors,
arrays of groups. What such ways may read, any memory, does not steer a launch that cannot take them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Block, End, Memory, Op, Operation, Routine, Terminator, Value
from warpwatt.emulate.known_bits import NOTHING, Known, evaluation
from warpwatt.emulate.propagation import propagate, successors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_ROUNDS = 4
"""After so many times that branches fall away, no more are looked for."""


def without_untaken(routine: Routine, parameters: bytes) -> Routine:
    """Return the routine with empty blocks where the parameters say that no thread comes."""
    for _ in range(_ROUNDS):
        blocks = tuple(_decided(routine, parameters))
        if blocks == routine.blocks:
            break
        routine = _without_unreachable(replace(routine, blocks=blocks))
    return routine


def _decided(routine: Routine, parameters: bytes) -> Iterator[Block]:
    """Yield the blocks with jumps for branches, and without loads by no lane."""
    found = propagate(routine, _evaluation(routine, parameters), NOTHING)
    for block in routine.blocks:
        end, taken = block.end, _number(found, block.end.condition)
        if end.end is End.BRANCH and taken is not None:
            end = Terminator(End.JUMP, (end.targets[0 if taken else 1],), instruction=end.instruction)
        skipped = [o.op is Op.LOAD and _number(found, o.mask) == 0 for o in block.operations]
        if end is block.end and not any(skipped):
            yield block
            continue
        pairs = zip(block.operations, skipped, strict=True)
        operations = [part for o, skip in pairs for part in (_zeros(o) if skip else (o,))]
        yield replace(block, operations=operations, end=end)


def _zeros(load: Operation) -> tuple[Operation, ...]:
    """Return what stands for the results of a load that no lane makes."""
    return tuple(Operation(Op.CONST, (value,), (), 0, None, load.instruction) for value in load.results)


def _without_unreachable(routine: Routine) -> Routine:
    reached, waiting = {0}, [0]
    while waiting:
        for target in successors(routine, routine.blocks[waiting.pop()]):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    empty = (
        block if index in reached else replace(block, operations=[], end=Terminator(End.EXIT))
        for index, block in enumerate(routine.blocks)
    )
    return replace(routine, blocks=tuple(empty))


def _number(found: Mapping[int, Known], value: Value | None) -> int | None:
    """Return the number that a value is in all lanes, if it is one."""
    known = found.get(value.index, NOTHING) if value is not None else NOTHING
    return known.low if known and known.low == known.high else None


def _evaluation(routine: Routine, parameters: bytes) -> Callable[[Operation, Mapping[int, Known]], Known]:
    """Return an evaluation that knows parameters, comparisons and selections by known conditions."""
    others, base = evaluation(), routine.program.parameter_base

    def evaluate(o: Operation, found: Mapping[int, Known]) -> Known:
        args = [found.get(value.index, NOTHING) for value in o.args]
        if o.op is Op.LOAD and isinstance(o.data, Memory) and o.data.space in ("const", "param"):
            known = _parameter(o, o.data, args[0], base, parameters)
            return others(o, found) if known is None else known
        if o.op in (Op.EQ, Op.NE) and all(args):
            same = _compared(*args)
            return Known.within(1) if same is None else Known.of(int(same == (o.op is Op.EQ)), 1)
        if o.op is Op.SELECT and args[0] and args[0].low == args[0].high:
            return args[1 if args[0].low else 2]
        return others(o, found)

    return evaluate


def _parameter(load: Operation, memory: Memory, at: Known, base: int, parameters: bytes) -> Known | None:
    """Return what a load of parameters gives; None where it is none, or its results differ."""
    start = at.low - base
    if memory.bank != 0 or not at or at.low != at.high or start < 0 or start + memory.bytes > len(parameters):
        return None
    each = memory.bytes // len(load.results)
    words = {
        int.from_bytes(parameters[start + k * each : start + (k + 1) * each], "little")
        for k in range(len(load.results))
    }
    return Known.of(words.pop(), load.results[0].type.bits) if len(words) == 1 else None


def _compared(a: Known, b: Known) -> bool | None:
    """Return whether two values are equal; None if that is open."""
    if a.low == a.high == b.low == b.high:
        return True
    unlike = (a.ones & ~a.zeros & ~b.ones) | (b.ones & ~b.zeros & ~a.ones)
    return False if unlike or a.high < b.low or b.high < a.low else None
