"""Calls of functions without a body that the system provides (``emulate/system_functions.py``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Symbol, Vector
from warpwatt.emulate.ir import Type
from warpwatt.emulate.lift.driver import UncoveredError
from warpwatt.emulate.system_functions import SIGNATURES

if TYPE_CHECKING:
    from warpwatt.core.program import Instruction, Operand
    from warpwatt.emulate.lift.ptx.operands import PtxBuilder


def call_system(b: PtxBuilder, i: Instruction) -> None:
    """Lift a ``call`` of such a function: its parameters and its result lie in ``.param`` cells.

    Raises
    ------
    UncoveredError
        If there is none of that name, or it is called otherwise than the compiler does.
    """
    vectors = [operand for operand in i.operands if isinstance(operand, Vector)]
    if not i.targets or i.targets[0] not in SIGNATURES or not vectors:
        raise UncoveredError
    name = i.targets[0]
    types, result = SIGNATURES[name]
    given = vectors[-1].elements
    if len(given) != len(types):
        raise UncoveredError
    args = [cell for operand, type_ in zip(given, types, strict=True) for cell in _cells(b, operand, type_)]
    if name == "cudaGraphSetConditional":
        handle, value = (b.get(cell) for cell in args)
        b.store("global", handle, value)  # a handle is the address of its value (native/runtime/work.h)
        return
    if name == "__cudaCDP2Malloc":
        place, size = (b.get(cell) for cell in args)
        b.store("generic", place, *b.call("malloc", (), (Type.I64, 1), size))
        b.set(_cell(b, vectors[0].elements[0], Type.I32), b.const(Type.I32, 0))
        return
    (made,) = b.call(name, (), (result or Type.I32, 1), *(b.get(cell) for cell in args))
    if result is not None:
        b.set(_cell(b, vectors[0].elements[0], result), made)


def _cells(b: PtxBuilder, operand: Operand, type_: Type | tuple[Type, ...]) -> list[str]:
    """Return the registers that hold a parameter: one, or those of a structure of words."""
    if isinstance(type_, Type):
        return [_cell(b, operand, type_)]
    return [_cell(b, operand, word, 4 * place) for place, word in enumerate(type_)]


def _cell(b: PtxBuilder, operand: Operand, type_: Type, offset: int = 0) -> str:
    """Return the register that holds what a call passes."""
    if not isinstance(operand, Symbol):
        raise UncoveredError
    cell = f"[{operand.name}+{offset}]"
    b.declare(cell, type_)
    return cell
