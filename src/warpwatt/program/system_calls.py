"""Which functions of the system a program calls: ``vprintf``, ``malloc``, ``free``, which have no code."""

from __future__ import annotations

from collections.abc import Iterator

from warpwatt.core.program import Address, Immediate, Instruction, Level, Operand, Program, Register, Symbol

_LINKED_BANK = 4
"""The constant bank with the addresses of other modules' code."""


def system_calls(program: Program) -> Iterator[tuple[Instruction, str]]:
    """Yield the calls of functions without a body whose names are known, with these."""
    for instruction in program.instructions:
        name = _of_ptx(program, instruction) if program.level is Level.PTX else _of_sass(program, instruction)
        if name:
            yield instruction, name


def _of_ptx(program: Program, instruction: Instruction) -> str | None:
    names = instruction.targets[:1] if instruction.opcode.startswith("call") else ()
    return names[0] if names and names[0] not in program.functions else None


def _of_sass(program: Program, instruction: Instruction) -> str | None:
    load = linked_load(program, instruction) if instruction.opcode.startswith("CALL.ABS") else None
    return None if load is None else function_at(program, load)


def linked_load(program: Program, call: Instruction) -> Instruction | None:
    """Return what loads an address of other modules' code, where a call jumps there; else None."""
    load = _last_write(program, call, call.operands[0] if call.operands else None)
    return None if load is None or _linked_word(load) is None else load


def function_at(program: Program, load: Instruction) -> str | None:
    """Return the function whose address such an instruction loads; None where that is not known."""
    word = _linked_word(load)
    if word is None:
        return None
    offset = word.offset
    if word.index is not None:
        last = _last_write(program, load, word.index)
        numbers = () if last is None else [o for o in last.operands if isinstance(o, Immediate)]
        if len(numbers) != 1:
            return None
        offset += int(numbers[0].value)
    found = (p.variable for p in program.pointers if (p.bank, p.offset) == (_LINKED_BANK, offset))
    return next(found, None)


def _linked_word(load: Instruction) -> Address | None:
    bank = Symbol(f"c[{_LINKED_BANK:#x}]")
    return next((o for o in load.operands if isinstance(o, Address) and o.base == bank), None)


def _last_write(program: Program, before: Instruction, register: Operand | None) -> Instruction | None:
    """Return the last instruction in front of another, in the order of the code, that writes a register."""
    if not isinstance(register, Register):
        return None
    ahead = reversed(program.instructions[: before.index])
    return next((i for i in ahead if register.name in i.writes), None)
