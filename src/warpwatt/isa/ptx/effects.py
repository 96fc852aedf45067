"""Operands as a program holds them, and the registers in them."""

from __future__ import annotations

from typing import NamedTuple

from warpwatt.core.program import Address, Immediate, Register, Symbol, Vector
from warpwatt.core.program import Operand as CoreOperand
from warpwatt.isa.ptx.syntax import Bracket, Group, Operand, Pair, SymbolOffset

CARRY = "%cc"
"""Name given to the carry flag, which PTX never names."""
_SPECIAL_VECTORS = frozenset({
    "%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid",
})  # fmt: skip


class Use(NamedTuple):
    """One written operand (a tuple: thousands are made on the way to every prediction).

    Attributes
    ----------
    operands
        What it becomes: one operand, or several for an address with coordinates (address, then the rest).
    registers
        Registers in it; of a vector component ``%v.x`` the whole ``%v``.
    symbols
        Names of variables, functions and labels in it.
    address
        Whether it stands in square brackets, so that its registers are read even where it comes first.
    partial
        Whether it names a part of a register, so that writing it keeps the rest.
    """

    operands: tuple[CoreOperand, ...]
    registers: tuple[str, ...]
    symbols: tuple[str, ...] = ()
    address: bool = False
    partial: bool = False


def analyse_operand(operand: Operand) -> Use:
    """Return what an operand becomes and mentions.

    >>> analyse_operand(Pair(Register("%r1"), Register("_"))).registers
    ('%r1',)
    >>> image, coordinates = analyse_operand(Bracket((Symbol("image"), Vector((Register("%f1"),))))).operands
    >>> image.base, coordinates.elements[0].name
    (Symbol(name='image'), '%f1')
    """
    if isinstance(operand, Register) and "." not in operand.name and operand.name != "_":
        return Use((operand,), (operand.name,))
    if isinstance(operand, Immediate):
        return Use((operand,), ())
    operands = core_operands(operand)
    leaves = [leaf for item in operands for leaf in _leaves(item)]
    names = [leaf.name for leaf in leaves if isinstance(leaf, Register) and leaf.name != "_"]
    return Use(
        operands,
        tuple(_containing_register(name) for name in names),
        tuple(leaf.name for leaf in leaves if isinstance(leaf, Symbol)),
        isinstance(operand, Address | Bracket),
        any(_containing_register(name) != name for name in names),
    )


def core_operands(operand: Operand) -> tuple[CoreOperand, ...]:
    """Return the operand without the types that only the syntax has.

    ``a|b`` and ``(a, b)`` become vectors, ``name + 4`` an address.
    """
    match operand:
        case Pair(first, second):
            return (Vector((*core_operands(first), *core_operands(second))),)
        case Group(elements):
            return (Vector(tuple(c for element in elements for c in core_operands(element))),)
        case SymbolOffset(name, offset):
            return (Address(Symbol(name), offset),)
        case Bracket(elements):
            base = elements[0]
            first = Address(base) if isinstance(base, Register | Symbol) else core_operands(base)[0]
            return (first, *(c for element in elements[1:] for c in core_operands(element)))
    return (operand,)


def _leaves(operand: CoreOperand) -> list[Register | Symbol | Immediate]:
    """Return the registers, symbols and literals in an operand."""
    if isinstance(operand, Vector):
        return [leaf for element in operand.elements for leaf in _leaves(element)]
    if isinstance(operand, Address):
        return [] if operand.base is None else [operand.base]
    return [operand]


def _containing_register(name: str) -> str:
    """Return the register a component belongs to; components of special registers stand for themselves.

    >>> _containing_register("%v1.x"), _containing_register("%tid.x"), _containing_register("%r1")
    ('%v1', '%tid.x', '%r1')
    """
    base, dot, _ = name.partition(".")
    return name if not dot or base in _SPECIAL_VECTORS else base
