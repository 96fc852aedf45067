"""What kernels do that cannot be right, seen while blocks run: remarks, since times stay what they are.

Shared memory that one warp writes and another touches with no barrier between, that is read before anybody
has written it, and ``__syncthreads()`` at which warps of a block wait in different places (CUDA C++
Programming Guide, "Synchronization Functions": all threads must reach the same one).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwatt.core.program import Program
    from warpwatt.emulate.run import Hazard, Run

ORDERED_OTHERWISE = frozenset(
    {"MEMBAR", "FENCE", "SYNCS", "LDGSTS", "UBLKCP", "UTMALDG", "UTMASTG", "membar", "fence", "mbarrier"}
)
"""First parts of opcodes by which warps wait for each other without a barrier, or others write for them."""
_MEETING = {
    "read after write": ("reads", "writes"),
    "write after read": ("writes", "reads"),
    "write after write": ("writes", "writes"),
}


def can_be_checked(program: Program) -> bool:
    """Whether barriers alone order what a program's warps do in shared memory, as far as its opcodes say."""
    for instruction in program.instructions:
        first, *rest = instruction.opcode.split(".")
        copied = first == "cp" and "async" in rest
        lock = first in ("ATOMS", "atom") and {"CAS", "CAST", "cas"} & set(rest)
        if first in ORDERED_OTHERWISE or copied or lock:
            return False
    return True


def remarks(runs: Sequence[Run], program: Program) -> tuple[str, ...]:
    """Return a remark for each pair of lines that meet, and each line that reads what nobody wrote."""
    found = (hazard for run in runs for hazard in run.hazards)
    return tuple(dict.fromkeys(text for hazard in found for text in _remark(hazard, program)))


def _remark(hazard: Hazard, program: Program) -> Iterator[str]:
    first, second = (_line(program, at) for at in (hazard.first, hazard.second))
    if hazard.kind in _MEETING:
        later, earlier = _MEETING[hazard.kind]
        where = f"line {second} {later} shared memory that another warp {earlier} in line {first}"
        yield f"race: {where}, and no __syncthreads() lies between: right only if the value stays the same"
    elif hazard.kind == "uninitialised":
        yield f"line {second} reads shared memory that no thread of the block has written"
    elif first != second:
        yield f"threads of a block wait at different __syncthreads(), before lines {first} and {second}"


def _line(program: Program, instruction: int) -> str:
    line = program.instructions[instruction].line
    return "?" if line is None else str(line.outermost.line)
