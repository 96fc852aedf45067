"""Instructions back to text, as the compiler (PTX) or the disassembler (SASS) writes them."""

from __future__ import annotations

from warpwatt.core.program import Address, Immediate, Instruction, Level, Operand, Program, Register, Symbol

LEVEL_NAMES = {Level.PTX: "PTX", Level.SASS: "SASS", Level.C: "C"}
_PREDICATES = ("%p", "P", "UP")
_AROUND = ("neg", "not", "abs")
"""Modifiers that stand around an operand; the others follow it, or stand before an address."""


def instruction_text(instruction: Instruction, level: Level) -> str:
    """Return guard, opcode and operands.

    >>> from warpwatt.core.program import Guard, Instruction
    >>> operands = (Register("R2"), Address(Register("R4"), 16))
    >>> instruction_text(Instruction(0, "LDG.E", operands, guard=Guard("P0", negated=True)), Level.SASS)
    '@!P0 LDG.E R2, [R4+0x10];'
    """
    guard = instruction.guard
    before = f"@{'!' if guard.negated else ''}{guard.register} " if guard else ""
    operands = ", ".join(operand_text(operand, level) for operand in instruction.operands)
    return f"{before}{instruction.opcode} {operands}".rstrip() + ";"


def operand_text(operand: Operand, level: Level) -> str:
    """Return one operand.

    >>> operand_text(Register("%p1", negated=True), Level.PTX)
    '!%p1'
    >>> operand_text(Register("R3", True, ("abs", "reuse")), Level.SASS)
    '-|R3|.reuse'
    """
    match operand:
        case Register():
            return _register_text(operand)
        case Immediate():
            return operand.text
        case Symbol(name):
            return name
        case Address():
            return address_text(operand, level)
    return "{" + ", ".join(operand_text(element, level) for element in operand.elements) + "}"


def _register_text(register: Register) -> str:
    negation = "!" if register.name.startswith(_PREDICATES) else "-"
    sign = (negation if register.negated else "") + ("~" if "not" in register.modifiers else "")
    bar = "|" if "abs" in register.modifiers else ""
    suffixes = "".join(f".{m}" for m in register.modifiers if m not in _AROUND)
    return f"{sign}{bar}{register.name}{bar}{suffixes}"


def address_text(address: Address, level: Level) -> str:
    """Return an address in brackets.

    >>> address_text(Address(Register("%rd1"), -4), Level.PTX)
    '[%rd1-4]'
    >>> address_text(Address(Symbol("c[0x0]"), 352), Level.SASS)
    'c[0x0][0x160]'
    >>> address_text(Address(Register("R2", modifiers=("64",)), 8, modifiers=("desc[UR4]",)), Level.SASS)
    'desc[UR4][R2.64+0x8]'
    """
    around = address.modifiers
    sign = ("-" if "neg" in around else "") + ("~" if "not" in around else "")
    bar = "|" if "abs" in around else ""
    prefix = "".join(m for m in around if m not in _AROUND)
    base = address.base
    if isinstance(base, Symbol) and base.name.startswith("c"):
        prefix, base = (prefix + base.name, None) if level is Level.SASS else (prefix, base)
    inside = _inside(base, address, level)
    return f"{sign}{bar}{prefix}[{inside}]{bar}"


def _inside(base: Register | Symbol | None, address: Address, level: Level) -> str:
    """Return ``base+index+offset`` without what is absent or zero."""
    parts = [operand_text(base, level)] if base is not None else []
    if address.index is not None:
        scale = f"*{address.scale}" if address.scale != 1 and level is not Level.SASS else ""
        parts.append(operand_text(address.index, level) + scale)
    if address.offset or not parts:
        parts.append(f"{address.offset:#x}" if level is Level.SASS else str(address.offset))
    return "+".join(parts).replace("+-", "-")


def labels_at(program: Program) -> dict[int, list[str]]:
    """Return the labels in front of each instruction, by its index."""
    at: dict[int, list[str]] = {}
    for label, index in program.labels.items():
        at.setdefault(index, []).append(label)
    return at
