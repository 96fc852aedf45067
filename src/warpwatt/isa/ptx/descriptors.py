"""Size of ``tcgen05.mma``: its shape stands in an operand, the instruction descriptor (PTX ISA 9.7.17.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from warpwatt.core.program import Address, Immediate, Instruction, Register
from warpwatt.isa.ptx.opcodes import descriptor_operations, meaning


def resolve_descriptors(instructions: list[Instruction]) -> None:
    """Give every ``tcgen05.mma`` its operations; one whose descriptor is not constant counts as not known."""
    for position, instruction in enumerate(instructions):
        kind = meaning(instruction.opcode).kind if instruction.opcode.startswith("tcgen05.mma") else ""
        if kind:
            value = _descriptor(instruction, instructions)
            flops = 0.0 if value is None else descriptor_operations(kind, value)
            instructions[position] = replace(instruction, flops=flops, known=flops > 0)


def _descriptor(instruction: Instruction, instructions: Sequence[Instruction]) -> int | None:
    """Return the descriptor: the first operand behind D, A and B that is no address."""
    for operand in instruction.operands[3:]:
        if isinstance(operand, Immediate):
            return int(operand.value)
        if isinstance(operand, Register):
            return _constant(operand.name, instructions)
        if not isinstance(operand, Address):
            return None
    return None


def _constant(register: str, instructions: Sequence[Instruction]) -> int | None:
    """Return the value of a register that one ``mov`` of a literal, and nothing else, writes."""
    writers = [i for i in instructions if register in i.writes]
    if len(writers) != 1 or not writers[0].opcode.startswith("mov.") or len(writers[0].operands) != 2:
        return None
    source = writers[0].operands[1]
    return source.value if isinstance(source, Immediate) and isinstance(source.value, int) else None
