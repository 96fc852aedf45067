"""Instructions back to text, as nearly as the disassembler or the compiler would write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Address, Immediate, Level, Register, Symbol

if TYPE_CHECKING:
    from warpwatt.core.program import Instruction, Operand, Program

_PREDICATES = ("%p", "P", "UP")


def instruction_text(instruction: Instruction) -> str:
    """Return guard, opcode and operands.

    >>> from warpwatt.core.program import Guard, Instruction
    >>> operands = (Register("R2"), Address(Register("R4"), 16))
    >>> instruction_text(Instruction(0, "LDG.E", operands, guard=Guard("P0", negated=True)))
    '@!P0 LDG.E R2, [R4+16];'
    """
    guard = instruction.guard
    before = f"@{'!' if guard.negated else ''}{guard.register} " if guard else ""
    operands = ", ".join(operand_text(operand) for operand in instruction.operands)
    return f"{before}{instruction.opcode} {operands}".rstrip() + ";"


def operand_text(operand: Operand) -> str:
    """Return one operand.

    >>> operand_text(Register("%p1", negated=True)), operand_text(Address(None, 8))
    ('!%p1', '[8]')
    """
    match operand:
        case Register(name, negated):
            sign = "!" if name.startswith(_PREDICATES) else "-"
            return f"{sign if negated else ''}{name}"
        case Immediate():
            return operand.text
        case Symbol(name):
            return name
        case Address():
            return address_text(operand)
    return "{" + ", ".join(operand_text(element) for element in operand.elements) + "}"


def address_text(address: Address) -> str:
    """Return an address in brackets.

    >>> address_text(Address(Register("%rd1"), -4))
    '[%rd1-4]'
    >>> address_text(Address(Register("R2"), 0, Register("R3"), 4))
    '[R2+R3*4]'
    """
    parts = [operand_text(address.base)] if address.base is not None else []
    if address.index is not None:
        scale = f"*{address.scale}" if address.scale != 1 else ""
        parts.append(operand_text(address.index) + scale)
    if address.offset or not parts:
        parts.append(str(address.offset))
    return "[" + "+".join(parts).replace("+-", "-") + "]"


def labels_at(program: Program) -> dict[int, list[str]]:
    """Return the labels in front of each instruction, by its index."""
    at: dict[int, list[str]] = {}
    for label, index in program.labels.items():
        at.setdefault(index, []).append(label)
    return at


LEVEL_NAMES = {Level.PTX: "PTX", Level.SASS: "SASS", Level.C: "C"}
