"""Loads and stores of every space (PTX ISA 9.7.9): ld, ldu, st, parameters, the cells of calls, hints."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from warpwatt.core.program import Address, Instruction, Operand, Program, Space, Symbol
from warpwatt.emulate.ir import Type
from warpwatt.emulate.layout import CONSTANT_BANK, PARAMETER_BANK
from warpwatt.emulate.lift.driver import UncoveredError
from warpwatt.emulate.lift.ptx.opcode import bits_of, signed, type_of
from warpwatt.emulate.lift.ptx.operands import size_of
from warpwatt.emulate.lift.ptx.patterns import nothing
from warpwatt.program.semantics import parameter_cells

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.ptx.opcode import Opcode
    from warpwatt.emulate.lift.ptx.operands import PtxBuilder
    from warpwatt.emulate.lift.ptx.patterns import Semantics

SPACES = ("global", "shared", "local", "const", "param")


def space_of(how: Opcode) -> str:
    """Return the state space an opcode names without ``::cta`` and the like; ``generic`` if none."""
    for word in how.words:
        name = word.partition("::")[0]
        if name in SPACES:
            return name
    return "generic"


def element_type(kind: str) -> Type:
    """Return the type an element has in memory; 16-bit floats are plain bits there."""
    type_ = type_of(kind)
    return Type.I16 if type_ is Type.F16 else type_


def _count(how: Opcode) -> int:
    return next((int(w[1:]) for w in how.words if w in ("v2", "v4", "v8")), 1)


def _load(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    space, kind, count = space_of(how), how.kind, _count(how)
    if bits_of(kind) > 64:
        raise UncoveredError
    if space == "param":
        _load_parameter(b, how, i)
        return
    element, sign = element_type(kind), signed(kind)
    bank = CONSTANT_BANK if space == "const" else 0
    values = b.load(space, b.address(i.operands[1], space), element, count, bank)
    for target, value in zip(b.elements(i.operands[0], count), values, strict=True):
        b.write(target, value, signed=sign)


def _store(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    space, count = space_of(how), _count(how)
    if bits_of(how.kind) > 64:
        raise UncoveredError
    if space == "param":
        _store_parameter(b, how, i)
        return
    element = element_type(how.kind)
    values = [b.read(o, element) for o in b.elements(i.operands[1], count)]
    b.store(space, b.address(i.operands[0], space), *values)


# -- parameters -------------------------------------------------------------------------------------------


def _load_parameter(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``ld.param``: kernel parameters from constant bank 0, else what a call has passed."""
    kind, count = how.kind, _count(how)
    element, sign = element_type(kind), signed(kind)
    address, targets = i.operands[1], b.elements(i.operands[0], count)
    cells = _cells(b, i)
    values: Sequence[Value]
    if cells:
        values = [_read_cell(b, cell, element) for cell in cells]
    elif (start := _kernels_own(b, address)) is not None:
        size = size_of(kind)
        values = [b.constant(PARAMETER_BANK, start + k * size, element) for k in range(count)]
    elif not _symbol(address) and _points_to_kernels_own(b):
        values = b.load("const", b.address(address), element, count, PARAMETER_BANK)
    else:
        values = b.load("local", b.address(address), element, count)
    for target, value in zip(targets, values, strict=True):
        b.write(target, value, signed=sign)


def _store_parameter(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``st.param``: what a call passes or returns, in a register where all accesses agree on it."""
    element, count = element_type(how.kind), _count(how)
    values = [b.read(o, element) for o in b.elements(i.operands[1], count)]
    cells = _cells(b, i)
    if not cells:
        b.store("local", b.address(i.operands[0]), *values)
    for cell, value in zip(cells, values, strict=False):
        b.declare(cell, _whole(element))
        b.set(cell, value)


def _read_cell(b: PtxBuilder, cell: str, type_: Type) -> Value:
    b.declare(cell, _whole(type_))
    return b.cast_bits(b.get(cell), type_)


def _whole(type_: Type) -> Type:
    return Type(f"i{type_.bits}")


def _kernels_own(b: PtxBuilder, address: Operand) -> int | None:
    """Return the offset of a kernel parameter that an address names; None if it names none."""
    start = b.layout.parameters.get(_symbol(address))
    return start + address.offset if start is not None and isinstance(address, Address) else None


def _points_to_kernels_own(b: PtxBuilder) -> bool:
    """Whether an address in a register is that of a kernel parameter, not of what a call passes.

    Raises
    ------
    UncoveredError
        If the program takes addresses of both, so that there is no telling.
    """
    taken = _in_memory(b.program)
    own = taken & set(b.layout.parameters)
    if own and own != taken:
        raise UncoveredError
    return own == taken


def _cells(b: PtxBuilder, i: Instruction) -> tuple[str, ...]:
    """Return the cells an access touches, none where it goes through memory."""
    address = next(o for o in i.operands if isinstance(o, Address))
    if not isinstance(address.base, Symbol) or address.base.name in b.layout.parameters:
        return ()
    return parameter_cells(i) if address.base.name not in _in_memory(b.program) else ()


@lru_cache(maxsize=64)
def _in_memory(program: Program) -> frozenset[str]:
    """Return the ``.param`` variables whose accesses overlap in part, or whose address is taken."""
    ranges: dict[str, set[tuple[int, int]]] = {}
    taken: set[str] = set()
    for i in program.instructions:
        for operand in i.operands:
            name = _symbol(operand)
            if not name:
                continue
            if i.memory is not None and i.memory.space is Space.PARAM and isinstance(operand, Address):
                size = i.memory.bytes
                parts = max(1, len(parameter_cells(i)))
                each = size // parts
                ranges.setdefault(name, set()).update((operand.offset + k * each, each) for k in range(parts))
            elif i.opcode.startswith(("mov", "cvta")):
                taken.add(name)
    for name, found in ranges.items():
        ordered = sorted(found)
        if any(s + n > t for (s, n), (t, _) in pairwise(ordered)):
            taken.add(name)
    passed = {v.name for v in program.variables if v.space is Space.PARAM}
    return frozenset(taken & (passed | {p.name for p in program.parameters}))


def _symbol(operand: Operand) -> str:
    base = operand.base if isinstance(operand, Address) else operand
    return base.name if isinstance(base, Symbol) else ""


# -- without effect on values -----------------------------------------------------------------------------


def _policy(b: PtxBuilder, _how: Opcode, i: Instruction) -> None:
    """Lift ``createpolicy``: an opaque cache policy, 0 here."""
    b.write(i.operands[0], b.const(Type.I64, 0))


def _allocate(_b: PtxBuilder, _how: Opcode, _i: Instruction) -> None:
    raise UncoveredError


TABLE: dict[str, Semantics] = {
    "ld": _load,
    "ldu": _load,
    "st": _store,
    "prefetch": nothing,
    "prefetchu": nothing,
    "applypriority": nothing,
    "discard": nothing,
    "createpolicy": _policy,
    "membar": nothing,
    "fence": nothing,
    "nanosleep": nothing,
    "pmevent": nothing,
    "setmaxnreg": nothing,
    "griddepcontrol": nothing,
    "alloca": _allocate,
}
