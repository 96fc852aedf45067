"""Which form of a kernel to execute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError
from warpwatt.emulate.ir import Op
from warpwatt.emulate.lift import lift

if TYPE_CHECKING:
    from warpwatt.core.program import Kernel
    from warpwatt.emulate.ir import Routine


def routine_of(kernel: Kernel) -> Routine:
    """Return a kernel's PTX, lifted, or its machine code where that has semantics for more instructions.

    PTX has fewer instructions and is the same for all GPUs; but recursive calls and calls through pointers
    are only there as machine code.

    Raises
    ------
    InputError
        If the kernel has neither, or its code jumps to a label it does not have.
    """
    forms = [lift(program) for program in (kernel.ptx, kernel.sass) if program is not None]
    if not forms:
        raise InputError(f"{kernel.name} has neither PTX nor machine code to execute")
    return min(forms[:1] if not missing(forms[0]) else forms, key=lambda routine: len(missing(routine)))


def missing(routine: Routine) -> dict[int, str]:
    """Return instructions without semantics -> opcode; textures have some, only their traffic is not counted.

    >>> from warpwatt.emulate.ir import Routine
    >>> missing(Routine(None, (), {}, uncovered={3: "call.uni"}))
    {3: 'call.uni'}
    """
    executed = {o.instruction for block in routine.blocks for o in block.operations if o.op is Op.CALL}
    return {i: opcode for i, opcode in routine.uncovered.items() if i not in executed}
