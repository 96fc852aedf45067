"""Rows of the instruction table for register banks: the reads that the reuse cache does not save."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpwatt.core.program import Instruction, Register, Unit

if TYPE_CHECKING:
    import numpy as np

    from warpwatt.models.pipeline.simulator import Records

_REGISTER = re.compile(r"R(\d+)$")
_BANKED = (Unit.FP32, Unit.FP16, Unit.FP64, Unit.INT)


def count_bank_reads(instructions: Sequence[Instruction], table: Records) -> None:
    """Count the reads of both banks (even and odd registers) that the reuse cache does not save."""
    kept: dict[int, str] = {}
    for instruction in instructions:
        sources = _sources(instruction)
        if instruction.unit in _BANKED:
            for slot, register in enumerate(sources):
                if register is not None and kept.get(slot) != register.name:
                    _read(register, table[instruction.index], wide=instruction.unit is Unit.FP64)
        kept = {
            slot: register.name
            for slot, register in enumerate(sources)
            if register is not None and "reuse" in register.modifiers
        }


def _sources(instruction: Instruction) -> tuple[Register | None, ...]:
    """Return the register operands by source slot; None where a slot holds something else."""
    values = [o for o in instruction.operands if not _is_predicate(o)]
    return tuple(o if isinstance(o, Register) and _REGISTER.match(o.name) else None for o in values[1:4])


def _is_predicate(operand: object) -> bool:
    return (isinstance(operand, Register) and operand.name[:1] == "P") or (
        isinstance(operand, Register) and operand.name[:2] == "UP"
    )


def _read(register: Register, row: np.void, *, wide: bool) -> None:
    match = _REGISTER.match(register.name)
    assert match is not None
    if wide:
        row["even_bank_reads"] += 1
        row["odd_bank_reads"] += 1
    else:
        row["odd_bank_reads" if int(match[1]) % 2 else "even_bank_reads"] += 1
