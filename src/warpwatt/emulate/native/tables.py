"""What the machine and the code of a routine number alike, whichever form the code has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.layout import CONSTANT_BYTES
from warpwatt.emulate.native.records import WARP

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Block, Operation, RegisterKind, Routine


_NEUTRAL = {Op.ADD: 0, Op.OR: 0, Op.XOR: 0, Op.UMAX: 0, Op.AND: -1, Op.UMIN: -1}
_SIGNED = (Op.SMIN, Op.SMAX)
BULK_ARGUMENTS = 10
"""Arguments of ``bulk_copy``: coordinates that are missing are 0."""


@dataclass(slots=True, eq=False)
class RoutineTables:
    """The tables of a routine; who writes its code fills ``operations``, ``calls`` and ``guarded``, in order.

    ``operations`` are the memory operations by row, ``calls`` those of runtime functions, ``guarded`` the
    instructions of each COUNT. ``offsets`` places registers in the warp; ``register_bytes`` is their size.
    """

    routine: Routine
    record: bool
    operations: list[Operation] = field(default_factory=list)
    calls: list[Operation] = field(default_factory=list)
    guarded: list[int] = field(default_factory=list)
    offsets: dict[str, int] = field(default_factory=dict)
    register_bytes: int = 0
    leavers: set[str | None] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._place_registers(self.routine.registers)
        self.leavers = {block.end.leavers for block in self.routine.blocks} - {None}

    def _place_registers(self, registers: Mapping[str, RegisterKind]) -> None:
        """Lay registers out, vectors first, each aligned to its size up to 64."""
        sizes = {name: register_bytes(kind) for name, kind in registers.items()}
        place = WARP.itemsize
        for name in sorted(sizes, key=lambda name: -sizes[name]):
            self.offsets[name] = place
            place += sizes[name]
        self.register_bytes = -(-(place - WARP.itemsize) // 64) * 64

    def sets_leavers(self, block: Block) -> bool:
        """Whether a block sets a register of lanes that are not waited for."""
        return any(o.data in self.leavers for o in block.operations if o.op is Op.SET)


def register_bytes(kind: RegisterKind) -> int:
    """Return the bytes of a register in the warp's record."""
    if kind.uniform:
        return 8
    return 4 if kind.type is Type.I1 else 32 * kind.type.bits // 8


def used_values(block: Block) -> set[int]:
    """Return the values of a block that something reads."""
    used = {value.index for operation in block.operations for value in operation.args}
    used |= {operation.mask.index for operation in block.operations if operation.mask is not None}
    end = block.end
    return used | {v.index for v in (end.condition, end.value, end.value2) if v is not None}


def last_sets(block: Block) -> set[int]:
    """Return the places of the operations that set each register last."""
    return set({o.data: place for place, o in enumerate(block.operations) if o.op is Op.SET}.values())


def is_operand(operation: Operation, constants: Mapping[int, int]) -> bool:
    """Whether a load reads a constant bank at a known address; ``constants`` are the block's CONST values."""
    memory = operation.memory
    known = constants.get(operation.args[0].index)
    return memory.space == "const" and known is not None and known + memory.bytes <= CONSTANT_BYTES


def called(operation: Operation) -> tuple[str, tuple[object, ...]]:
    """Return the name and the constants of a CALL."""
    assert isinstance(operation.data, tuple)
    name, constants = operation.data
    return str(name), tuple(constants)


def neutral(how: Op, kind: Type) -> int:
    """Return the integer that changes nothing in a reduction.

    >>> neutral(Op.SMAX, Type.I32), neutral(Op.SMIN, Type.I32), neutral(Op.AND, Type.I32)
    (-2147483648, 2147483647, -1)
    """
    if how not in _SIGNED:
        return _NEUTRAL[how]
    greatest = (1 << (kind.bits - 1)) - 1
    return -1 - greatest if how is Op.SMAX else greatest
