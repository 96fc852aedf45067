"""Live registers: which values are still needed at each point, and how many at most.

Where no assembler exists for a target (sm_20 to sm_37), the pressure of virtual registers is the basis for a
guess at how many machine registers a kernel needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.program.expression import SPECIAL_REGISTERS
from warpwatt.program.semantics import spelling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warpwatt.core.program import Instruction, Program
    from warpwatt.program.cfg import ControlFlow

CLASSES = ("pred", "b16", "b32", "b64", "b128")
"""Register classes by width; 16-bit registers occupy a 32-bit one on the machine."""
_WORDS = {"pred": 0, "b16": 1, "b32": 1, "b64": 2, "b128": 4}


@dataclass(frozen=True, slots=True, eq=False)
class Liveness:
    """Live registers of a program.

    Attributes
    ----------
    live_in, live_out
        Registers live at the start and at the end of every block.
    pressure
        Register class to the largest number of its registers live at once.
    """

    flow: ControlFlow
    live_in: Sequence[frozenset[str]]
    live_out: Sequence[frozenset[str]]
    pressure: Mapping[str, int]
    machine_registers: int
    """Largest number of 32-bit registers live at once, predicates apart."""

    def before(self, index: int) -> frozenset[str]:
        """Return the registers live before an instruction."""
        block = self.flow.block_of[index]
        stop = self.flow.blocks[block].stop
        live = set(self.live_out[block])
        for instruction in reversed(self.flow.program.instructions[index:stop]):
            _step(live, instruction)
        return frozenset(live)


def live_registers(flow: ControlFlow) -> Liveness:
    """Return where registers are live and the largest pressure; special registers are never counted.

    >>> from warpwatt.core.program import Instruction, Level, Program
    >>> from warpwatt.program.cfg import control_flow
    >>> first = Instruction(0, "mov.u32", writes=("%r1",), reads=("%tid.x",))
    >>> second = Instruction(1, "add.s32", writes=("%r2",), reads=("%r1", "%r1"))
    >>> live = live_registers(control_flow(Program("k", Level.PTX, "sm_90", (first, second))))
    >>> live.before(1), live.machine_registers
    (frozenset({'%r1'}), 1)
    """
    count = len(flow.blocks)
    uses, kills = zip(*(_summary(flow.instructions(b)) for b in range(count)), strict=True)
    live_in: list[frozenset[str]] = [frozenset()] * count
    live_out: list[frozenset[str]] = [frozenset()] * count
    waiting = list(flow.order)
    queued = set(waiting)
    while waiting:
        block = waiting.pop()
        queued.discard(block)
        out = frozenset().union(*(live_in[s] for s in flow.blocks[block].successors))
        live_out[block] = out
        entering = uses[block] | (out - kills[block])
        if entering != live_in[block]:
            live_in[block] = entering
            for source in flow.blocks[block].predecessors:
                if source not in queued and flow.rank[source] >= 0:
                    queued.add(source)
                    waiting.append(source)
    pressure, words = _pressure(flow, live_out)
    return Liveness(flow, live_in, live_out, pressure, words)


def _reads(instruction: Instruction) -> list[str]:
    return [name for name in instruction.reads if name not in SPECIAL_REGISTERS]


def _summary(instructions: Sequence[Instruction]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the registers a block reads before it writes them, and those it writes."""
    used: set[str] = set()
    killed: set[str] = set()
    for instruction in instructions:
        used.update(name for name in _reads(instruction) if name not in killed)
        killed.update(instruction.writes)
    return frozenset(used), frozenset(killed)


def _step(live: set[str], instruction: Instruction) -> None:
    """Move the set of live registers from behind an instruction to before it."""
    live.difference_update(instruction.writes)
    live.update(_reads(instruction))


def _pressure(flow: ControlFlow, live_out: Sequence[frozenset[str]]) -> tuple[dict[str, int], int]:
    classes = register_classes(flow.program)
    most, most_words = dict.fromkeys(CLASSES, 0), 0
    for block in flow.order:
        live = set(live_out[block])
        tally = dict.fromkeys(CLASSES, 0)
        for name in live:
            tally[classes.get(name, "b32")] += 1
        for instruction in [*reversed(flow.instructions(block)), None]:
            most = {kind: max(most[kind], tally[kind]) for kind in CLASSES}
            most_words = max(most_words, sum(_WORDS[kind] * tally[kind] for kind in CLASSES))
            if instruction is None:
                break
            before = set(instruction.writes) & live
            for name in before:
                tally[classes.get(name, "b32")] -= 1
            live -= before
            for name in set(_reads(instruction)) - live:
                tally[classes.get(name, "b32")] += 1
                live.add(name)
    return most, most_words


def register_classes(program: Program) -> dict[str, str]:
    """Return the class of every register, by the type it is written with or its use as a guard."""
    classes: dict[str, str] = {}
    for instruction in program.instructions:
        for name in instruction.writes:
            classes[name] = _class(instruction, name)
        if instruction.guard is not None:
            classes[instruction.guard.register] = "pred"
    return classes


def _class(instruction: Instruction, name: str) -> str:
    how = spelling(instruction.opcode)
    if how.name in ("setp", "isspacep", "testp") or name.startswith("%p"):
        return "pred"
    bits = [int(kind[1:]) for kind in how.types[:1] if kind != "pred"]
    if how.types[:1] == ("pred",):
        return "pred"
    size = bits[0] if bits else 32
    if "wide" in how.modifiers:
        size *= 2
    return f"b{max(16, size)}" if size <= 64 else "b128"
