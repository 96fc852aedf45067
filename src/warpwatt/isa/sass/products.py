"""Sizes of matrix products in tensor memory, whose opcodes name none: from their instruction descriptors.

The descriptor (CUTLASS, ``cute/arch/mma_sm100_desc.hpp``) is a uniform register that compilers fill with a
constant shortly before: N / 8 in bits 17-22, M / 16 in bits 24-28, the
format of A in bits 7-9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from warpwatt.core.program import Address, Immediate, Instruction, Register

_DEPTHS = {"UTCHMMA": 16, "UTCQMMA": 32, "UTCIMMA": 32, "UTCOMMA": 64}
"""K by opcode: 32 bytes of A's row; TF32 has half of FP16's."""
_TF32 = 2
_MOVES = ("MOV", "UMOV", "R2UR", "IMAD.MOV", "IMAD.U32")
_LONGEST_WAY = 8
"""Moves between a constant and its use."""
_FULL_ROWS = 128
"""Rows that a tensor core multiplies at once; of 64 in one block, half of it idles."""


@dataclass(frozen=True, slots=True)
class Product:
    """D (m × n) += A (m × k) B (k × n); ``pair``: by two blocks, half of the rows each."""

    m: int
    n: int
    k: int
    pair: bool

    @property
    def rows(self) -> int:
        """Rows whose time one tensor core takes."""
        return self.m // 2 if self.pair else max(self.m, _FULL_ROWS)

    @property
    def flops(self) -> float:
        """Floating-point operations of one instruction, of both blocks together."""
        return 2.0 * self.m * self.n * self.k

    @classmethod
    def decode(cls, opcode: str, descriptor: int) -> Product:
        """Return what a descriptor says.

        >>> Product.decode("UTCHMMA", 0x08400490)
        Product(m=128, n=256, k=16, pair=False)
        >>> Product.decode("UTCQMMA.2CTA", 0x10A00000).m
        256
        """
        base, *modifiers = opcode.split(".")
        k = _DEPTHS[base]
        if base == "UTCHMMA" and descriptor >> 7 & 7 == _TF32:
            k //= 2
        return cls((descriptor >> 24 & 31) * 16, (descriptor >> 17 & 63) * 8, k, "2CTA" in modifiers)


def is_product(opcode: str) -> bool:
    """Tell whether an opcode multiplies in tensor memory."""
    return opcode.partition(".")[0] in _DEPTHS


def product_of(instructions: Sequence[Instruction], index: int) -> Product | None:
    """Return the size of the product at ``index``; None where its descriptor is no constant."""
    instruction = instructions[index]
    named = [o.base for o in instruction.operands if isinstance(o, Address) and "idesc" in o.modifiers]
    if not is_product(instruction.opcode) or not named or not isinstance(named[0], Register):
        return None
    value = constant_before(instructions, index, named[0].name)
    return None if value is None else Product.decode(instruction.opcode, value)


def writer_before(instructions: Sequence[Instruction], index: int, name: str) -> int | None:
    """Return which instruction wrote a register last, in the order of the code."""
    return next((at for at in range(index - 1, -1, -1) if name in instructions[at].writes), None)


def constant_before(instructions: Sequence[Instruction], index: int, name: str) -> int | None:
    """Return the constant last moved to a register, in the order of the code; None for another."""
    for _ in range(_LONGEST_WAY):
        at = writer_before(instructions, index, name)
        if at is None or not instructions[at].opcode.startswith(_MOVES):
            return None
        source = instructions[at].operands[-1]
        if isinstance(source, Immediate):
            return int(source.value)
        if not isinstance(source, Register):
            return None
        index, name = at, source.name
    return None


def with_products(instructions: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
    """Return the instructions with the operations of products in tensor memory, which one thread starts.

    Where the size is no constant, that of :func:`assumed` stands for it.
    """
    found = list(instructions)
    for place, instruction in enumerate(instructions):
        if is_product(instruction.opcode):
            product = product_of(instructions, place) or assumed(instruction.opcode)
            found[place] = replace(instruction, flops=product.flops)
    return tuple(found)


def assumed(opcode: str) -> Product:
    """Return the size taken where the descriptor is not known: 128 rows a block and 256 columns.

    >>> assumed("UTCHMMA.2CTA")
    Product(m=256, n=256, k=16, pair=True)
    """
    pair = "2CTA" in opcode.split(".")
    return Product(256 if pair else 128, 256, _DEPTHS[opcode.partition(".")[0]], pair)
