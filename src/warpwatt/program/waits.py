"""What waits: sleeps, loops that watch the clock, loops that look until another block has written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from warpwatt.core.program import (
    Access,
    Address,
    Flow,
    Immediate,
    Instruction,
    Operand,
    Program,
    Register,
    Space,
)
from warpwatt.program.cfg import control_flow
from warpwatt.program.loops import Loop, natural_loops

SLEEP_SPREAD = 0.5
"""Standard deviation of the logarithm of how long ``nanosleep`` takes: any time up to twice what is asked for
(PTX ISA), the middle 80 % of which it spans."""
_CLOCKS = ("SR_CLOCKLO", "SR_CLOCKHI", "SR_CLOCK", "%clock", "%clock64", "%clock_hi")
_NOT_MEMORY = (Space.CONST, Space.PARAM)
_ELSEWHERE = (Space.GLOBAL, Space.GENERIC)
_LOCKING = ("cas", "exch")


@dataclass(frozen=True, slots=True)
class Poll:
    """An instruction that reads one place again and again until what it finds ends the loop.

    ``locks``: it takes what it waits for (compare-and-swap or exchange), so that one gets in at a time.
    """

    index: int
    locks: bool


def sleeps(program: Program) -> dict[int, float | None]:
    """Return the seconds that each ``nanosleep`` asks for; None where they are not a constant.

    It takes between nothing and twice as long (PTX ISA, ``nanosleep``). What sleeps beside a barrier object
    (``NANOSLEEP.SYNCS``) wakes with that, before which it has waited already.
    """
    asks = (i for i in program.instructions if i.opcode.lower().startswith("nanosleep"))
    found = (i for i in asks if not i.opcode.endswith(".SYNCS"))
    return {i.index: _constant(program, i.operands[-1] if i.operands else None) for i in found}


def _constant(program: Program, operand: object) -> float | None:
    """Return seconds, of an immediate or of a register that is moved there from one, once."""
    if isinstance(operand, Immediate):
        return float(operand.value) * 1e-9
    if not isinstance(operand, Register):
        return None
    writers = [i for i in program.instructions if operand.name in i.writes]
    moved = len(writers) == 1 and "mov" in writers[0].opcode.lower()
    return _constant(program, writers[0].operands[-1]) if moved and writers[0].operands[1:] else None


@lru_cache(maxsize=64)
def clock_loops(program: Program) -> tuple[frozenset[int], ...]:
    """Return the instructions of each loop that reads the clock and does nothing to memory or for others."""
    if not any(map(_reads_clock, program.instructions)):
        return ()
    return tuple(
        frozenset(i.index for i in body)
        for body in _innermost(program)
        if any(map(_reads_clock, body)) and not any(map(_does_something, body))
    )


def _reads_clock(instruction: Instruction) -> bool:
    return any(isinstance(o, Register) and o.name in _CLOCKS for o in instruction.operands)


def _does_something(instruction: Instruction) -> bool:
    memory = instruction.memory
    return instruction.flow in (Flow.BARRIER, Flow.CALL) or (
        memory is not None and memory.space not in _NOT_MEMORY
    )


@lru_cache(maxsize=64)
def sleeping_polls(program: Program) -> tuple[frozenset[int], ...]:
    """Return the instructions of each loop that reads shared memory, changes none, and sleeps between.

    So threads of a block wait for each other where they do not use a barrier (``cuda::pipeline``,
    ``cuda::barrier``).
    """
    asleep = sleeps(program)
    if not asleep:
        return ()
    return tuple(
        frozenset(i.index for i in body)
        for body in _innermost(program)
        if any(i.index in asleep for i in body)
        and any(i.memory is not None and i.memory.space is Space.SHARED for i in body)
        and all(i.memory is None or i.memory.access is Access.LOAD for i in body)
    )


@lru_cache(maxsize=64)
def polls(program: Program) -> tuple[Poll, ...]:
    """Return what loops look at until another thread has changed it.

    A loop's way out must depend on what is read from an address that the loop does not change, and on
    nothing that the loop counts up: a retried compare-and-swap, whose comparand is what it read last, ends
    by itself.
    """
    return tuple(poll for body in _last_to_read(program) for poll in _polls_of(body))


@lru_cache(maxsize=64)
def retries(program: Program) -> dict[int, int]:
    """Return each compare-and-swap that a loop repeats until it succeeds, and where that begins."""
    if not any(map(_compares_and_swaps, program.instructions)):
        return {}
    waiting = {poll.index for poll in polls(program)}
    return {
        i.index: body[0].index
        for body in _innermost(program)
        for i in body
        if _compares_and_swaps(i) and i.index not in waiting and not _moves(i, body)
    }


def _compares_and_swaps(instruction: Instruction) -> bool:
    return any(word in ("cas", "cast") for word in instruction.opcode.lower().split("."))


def _polls_of(body: Sequence[Instruction]) -> Iterator[Poll]:
    inputs = {i.index: _inputs(i, body) for i in body}
    for leaving in body:
        if leaving.flow is not Flow.JUMP or leaving.guard is None:
            continue
        decided = _decided_by(leaving, body, inputs)
        read = [i for i in decided if _reads_elsewhere(i) and not _moves(i, body)]
        if read and not _counts(decided, inputs):
            first = min(read, key=lambda i: i.index)
            yield Poll(first.index, _locks(first))
            return


def _inputs(instruction: Instruction, body: Sequence[Instruction]) -> set[str]:
    """Return the registers whose values in an iteration decide what an instruction does.

    An address that stays the same is none, nor is what a guarded write leaves alone.
    """
    reads = set(instruction.reads)
    if _reads_elsewhere(instruction) and not _moves(instruction, body):
        place = next(k for k, o in enumerate(instruction.operands) if isinstance(o, Address))
        data = (o for o in instruction.operands[place + 1 :] if isinstance(o, Register))
        reads -= _address(instruction) - {o.name for o in data}
    if instruction.guard is not None:
        reads -= set(instruction.writes)
    return reads


def _decided_by(
    leaving: Instruction, body: Sequence[Instruction], inputs: Mapping[int, set[str]]
) -> list[Instruction]:
    """Return the instructions of a loop that what its jump does depends on."""
    wanted = set(leaving.reads)
    found: dict[int, Instruction] = {}
    while True:
        more = [i for i in body if i.index not in found and not wanted.isdisjoint(i.writes)]
        if not more:
            return list(found.values())
        for i in more:
            found[i.index] = i
            wanted |= inputs[i.index]


def _reads_elsewhere(instruction: Instruction) -> bool:
    """Whether an instruction looks at memory that other blocks write: a load, or an atomic used as one."""
    memory = instruction.memory
    if memory is None or memory.space not in _ELSEWHERE:
        return False
    return memory.access is Access.LOAD or (
        memory.access is Access.ATOMIC and (_locks(instruction) or _is_zero(instruction.operands[-1]))
    )


def _locks(instruction: Instruction) -> bool:
    return any(word in _LOCKING for word in instruction.opcode.lower().split("."))


def _is_zero(operand: Operand) -> bool:
    if isinstance(operand, Register):
        return operand.name == "RZ"
    return isinstance(operand, Immediate) and operand.value == 0


def _address(instruction: Instruction) -> set[str]:
    parts = [part for o in instruction.operands if isinstance(o, Address) for part in (o.base, o.index)]
    return {part.name for part in parts if isinstance(part, Register)}


def _moves(instruction: Instruction, body: Sequence[Instruction]) -> bool:
    """Whether the address that an instruction reads from is another in the next iteration.

    Machine code may put the same one into its register again, over the result.
    """
    written = {register for i in body for register in i.writes}
    for register in _address(instruction) & written:
        others = [i for i in body if register in i.writes and i is not instruction]
        if not others or any(not written.isdisjoint(i.reads) for i in others):
            return True
    return False


def _counts(decided: Sequence[Instruction], inputs: Mapping[int, set[str]]) -> bool:
    """Whether one of the values depends on itself an iteration ago."""
    needs = {
        i.index: {other.index for other in decided if not inputs[i.index].isdisjoint(other.writes)}
        for i in decided
    }
    while needs:
        free = [index for index, others in needs.items() if others.isdisjoint(needs)]
        if not free:
            return True
        for index in free:
            del needs[index]
    return False


def _innermost(program: Program) -> Iterator[list[Instruction]]:
    """Yield the instructions of each loop without loops inside."""
    for loop in natural_loops(control_flow(program)).loops:
        if not loop.children:
            yield _body(program, loop)


def _last_to_read(program: Program) -> Iterator[list[Instruction]]:
    """Yield the instructions of each loop that has no loop inside which reads memory."""
    loops = natural_loops(control_flow(program)).loops
    for loop in loops:
        inner = (i for child in loop.children for i in _body(program, loops[child]))
        if not any(map(_reads_elsewhere, inner)):
            yield _body(program, loop)


def _body(program: Program, loop: Loop) -> list[Instruction]:
    blocks = [control_flow(program).blocks[number] for number in loop.blocks]
    return [program.instructions[i] for block in blocks for i in range(block.start, block.stop)]
