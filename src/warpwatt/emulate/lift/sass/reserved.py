"""The kilobyte of shared memory that belongs to the system, where kernels keep account of tensor memory.

From byte 0x40 on of a block's shared memory lie a barrier object (8), the parity that is waited for next
(16), columns that were allocated (20) and where each allocation begins (24). Two blocks that share an
allocation tell each other by them; and what frees columns checks first that they were allocated. Nothing of
it is done here: allocations do not fail, nobody waits for them, and checks hold. The base is known by how
compilers make it: the block's rank shifted by 24, plus the constant 0x40.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Address, Immediate, Instruction, Operand, Register
from warpwatt.isa.sass.products import constant_before, writer_before

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.emulate.lift.sass.operands import Step

_BASE, _RANK_SHIFT = 0x40, 0x18
_FIRST_TARGET = 100
_LONGEST_WAY = 6
_STEPS = ("VIADD", "UIADD3", "IADD3", "IADD", "UIADD", "MOV", "UMOV", "R2UR", "IMAD.MOV", "IMAD.U32", "PRMT")
PARITY = 16
"""Of a load: where the parity lies."""


def in_reserved(s: Step, operand: Operand) -> bool:
    """Tell whether an address or register points to the system's shared memory."""
    if s.sm < _FIRST_TARGET:
        return False
    base = operand.base if isinstance(operand, Address) else operand
    if not isinstance(base, Register):
        return False
    return _from_base(s.program.instructions, s.instruction.index, base.name, _LONGEST_WAY)


def _from_base(code: Sequence[Instruction], index: int, name: str, steps: int) -> bool:
    at = writer_before(code, index, name)
    if at is None or not steps:
        return False
    made = code[at]
    registers = [o.name for o in made.operands if isinstance(o, Register) and o.name not in made.writes]
    registers += [o.name for o in made.operands[1:] if isinstance(o, Register) and o.name in made.writes]
    if made.opcode in ("LEA", "ULEA"):
        shifted = any(isinstance(o, Immediate) and o.value == _RANK_SHIFT for o in made.operands)
        return shifted and any(constant_before(code, at, r) == _BASE for r in registers)
    if not made.opcode.startswith(_STEPS):
        return False
    return any(_from_base(code, at, r, steps - 1) for r in registers if r[-1] not in "ZT")
