"""Which registers a SASS instruction writes and reads, register pairs and fragments included.

``RZ``, ``PT`` and their uniform forms hold constants and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, repeat

from warpwatt.core.program import Address, Guard, Immediate, Operand, Register, Space, Symbol, Unit
from warpwatt.isa.sass.opcodes import Opcode, tile

_CONSTANTS = frozenset({"RZ", "URZ", "PT", "UPT", "SRZ"})
_PREDICATES = frozenset(f"{file}P{number}" for file in ("", "U") for number in "0123456789T")
_NUMBERED = re.compile(r"(U?R)(\d+)$")
_DIMENSIONS = re.compile(r"(\d)D$")
_BANK_REGISTER = re.compile(r"cx?\[(UR\d+)\]$")
_DESCRIPTOR = re.compile(r"desc\[(UR\d+)\]$")
_PREDICATE_FILE = tuple(f"P{i}" for i in range(7))
_WIDE_ADDRESSES = frozenset({Space.GLOBAL, Space.GENERIC})


def access_bytes(modifiers: Sequence[str]) -> int:
    """Return the bytes per thread that a memory instruction's modifiers name; 4 where they name none.

    >>> access_bytes(["E", "128", "CONSTANT"]), access_bytes(["E", "U16"]), access_bytes([])
    (16, 2, 4)
    """
    sizes = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "F64": 8, "96": 12, "128": 16, "256": 32}
    return next((sizes[m] for m in modifiers if m in sizes), 4)


def matrix_count(modifiers: Sequence[str]) -> int:
    """Return how many 8 x 8 matrices LDSM or STSM moves: one register per thread each."""
    return int(modifiers[-1]) if modifiers and modifiers[-1] in ("2", "4") else 1


def column_registers(modifiers: Sequence[str]) -> int:
    """Return the registers per thread that a tensor-memory load or store moves (``.x4``: four of 32 bits)."""
    count = next((int(m[1:]) for m in modifiers if re.match(r"x\d+$", m)), 1)
    factor = 4 if any("256" in m for m in modifiers) else 2 if any("128" in m for m in modifiers) else 1
    return count * factor


def component_count(operands: Sequence[Operand]) -> int:
    """Return how many components a texture access returns: by its mask, which comes last; without one, 4."""
    mask = operands[-1] if operands else None
    return (int(mask.value) & 15).bit_count() if isinstance(mask, Immediate) else 4


def destination_count(rule: str, operands: Sequence[Operand]) -> int:
    """Return how many leading operands are destinations, by a ``writes`` rule of the opcode table."""
    if rule == "first":
        return _first(operands)
    leading = 0
    while leading < len(operands) and _is_predicate(operands[leading]):
        leading += 1
    counts = {"none": 0, "one": 1, "most": len(operands) - 1, "all": len(operands)}
    counts |= {"predicates": min(leading, 2), "two": leading + 2}
    return counts[rule] if rule in counts else _first(operands)


def _first(operands: Sequence[Operand]) -> int:
    """Return the length of: a predicate or not, a register, predicates that are not the last operand."""
    at = 1 if operands and _is_predicate(operands[0]) else 0
    if at < len(operands) and isinstance(operands[at], Register) and not _is_predicate(operands[at]):
        at += 1
        while at < len(operands) - 1 and _is_predicate(operands[at]):
            at += 1
    return at


def find_registers(
    opcode: str, entry: Opcode, operands: Sequence[Operand], guard: Guard | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the registers that an instruction writes, and those it reads, by name, each once, in order.

    Read are sources, addresses, the guard, and where there is one the old value of what is written.
    """
    count = destination_count(entry.writes, operands)
    widths = _widths(opcode, entry, operands)
    writes = _written(opcode, operands, count, widths)
    names: list[str] = [guard.register, *writes] if guard is not None else []
    for position, (operand, width) in enumerate(zip(operands, widths, strict=True)):
        if isinstance(operand, Address):
            names += _address_registers(opcode, entry, operands, position)
        elif position >= count:
            names += _expand(operand, width)
    if opcode.startswith("P2R"):
        names += _masked_predicates(operands)
    return writes, tuple(dict.fromkeys(n for n in names if n not in _CONSTANTS))


def _written(opcode: str, operands: Sequence[Operand], count: int, widths: Sequence[int]) -> tuple[str, ...]:
    """Return the registers of the first ``count`` operands, and what two opcodes write besides."""
    names = [n for o, w in zip(operands[:count], widths, strict=False) for n in _expand(o, w)]
    if opcode.startswith(("R2P", "BMOV")):
        base, *modifiers = opcode.split(".")
        if base == "R2P":
            names = _masked_predicates(operands)
        if base == "BMOV" and "CLEAR" in modifiers:
            names += [n for o in operands[1:] for n in _expand(o, 1)]
    return tuple(dict.fromkeys(names))


def _is_predicate(operand: Operand) -> bool:
    return isinstance(operand, Register) and not operand.negated and operand.name in _PREDICATES


def _expand(operand: Operand, width: int) -> tuple[str, ...]:
    """Return the names of ``width`` registers from the operand's own on."""
    if not isinstance(operand, Register):
        return ()
    return _names(operand.name, 2 if "64" in operand.modifiers else width)


@lru_cache(maxsize=4096)
def _names(name: str, width: int) -> tuple[str, ...]:
    """Return the names of ``width`` registers from one on; constants and whole files have none."""
    if name in _CONSTANTS or name in ("PR", "UPR"):
        return ()
    found = _NUMBERED.match(name)
    return tuple(f"{found[1]}{int(found[2]) + i}" for i in range(width)) if found else (name,)


def _masked_predicates(operands: Sequence[Operand]) -> list[str]:
    """Return the predicates that the mask, the last operand of P2R and R2P, selects."""
    mask = operands[-1] if operands else None
    bits = int(mask.value) if isinstance(mask, Immediate) else 0x7F
    return [name for i, name in enumerate(_PREDICATE_FILE) if bits >> i & 1]


def _widths(opcode: str, entry: Opcode, operands: Sequence[Operand]) -> list[int]:
    """Return the registers of every operand; predicates and addresses count as 1."""
    values = _value_widths(opcode, entry, operands)
    each = chain(values, repeat(values[-1]))
    widths = [1 if _is_flag(o) else next(each) for o in operands]
    if entry.unit is Unit.TEXTURE:  # the handle, 64 bits in uniform registers
        uniform = [isinstance(o, Register) and o.name.startswith("UR") for o in operands]
        widths = [2 if u else w for u, w in zip(uniform, widths, strict=True)]
    return widths


def _is_flag(operand: Operand) -> bool:
    """Return whether an operand is a predicate (negated or not), an address but no constant, or a name."""
    if isinstance(operand, Register):
        return operand.name in _PREDICATES
    if isinstance(operand, Address):
        return not (isinstance(operand.base, Symbol) and operand.base.name.startswith("c"))
    return isinstance(operand, Symbol)


def _value_widths(opcode: str, entry: Opcode, operands: Sequence[Operand]) -> tuple[int, ...]:
    """Return the registers of each value operand, by the entry's width; those behind are as the last."""
    widths = entry.width
    if isinstance(widths, str):
        modifiers = opcode.split(".")[1:]
        match widths:
            case "memory":
                widths = (max(access_bytes(modifiers) // 4, 1),)
            case "matrices":
                widths = (matrix_count(modifiers),)
            case "columns":
                widths = (column_registers(modifiers),)
            case "fragments" | "group":
                widths = _tensor_widths(opcode, operands)
            case "texture":
                widths = _texture_widths(modifiers, operands)
            case "surface":
                widths = (max(access_bytes(modifiers) // 4, 1), 1)
            case _:
                widths = (1,)
    return widths


def _tensor_widths(opcode: str, operands: Sequence[Operand]) -> tuple[int, ...]:
    """Return registers of D, A, B, C and one for each further operand (metadata, scales)."""
    found = tile(opcode)
    if found is None:
        return (1,)
    if found.threads == 32:
        return (found.d, found.a, found.b, found.d, 1)
    from_registers = len(operands) > 1 and isinstance(operands[1], Register)
    return (found.d, found.a, found.d, 1) if from_registers else (found.d, found.d, 1)


def _texture_widths(modifiers: list[str], operands: Sequence[Operand]) -> tuple[int, ...]:
    """Return registers of a texture access: third and fourth component, first and second, coordinates."""
    count = component_count(operands)
    results = (max(count - 2, 0), min(count, 2))
    symbols = [o.name for o in operands if isinstance(o, Symbol)]
    needed = sum(int(m[1]) for m in map(_DIMENSIONS.search, symbols) if m) or 3 * ("CUBE" in symbols) or 1
    needed += sum(m in ("LL", "LB", "DC", "AOFFI") for m in modifiers) + any("ARRAY" in s for s in symbols)
    if "SCR" in modifiers:  # coordinates scattered over two operands
        return (*results, max(needed - needed // 2, 1), max(needed // 2, 1))
    sources = sum(isinstance(o, Register) and o.name.startswith("R") for o in operands) - 2
    return (*results, max(needed - max(sources - 1, 0), 1), 1)


def _address_registers(opcode: str, entry: Opcode, operands: Sequence[Operand], position: int) -> list[str]:
    """Return the registers of an address operand: descriptor, base and index."""
    address = operands[position]
    assert isinstance(address, Address)
    names: list[str] = []
    for modifier in address.modifiers:
        if found := _DESCRIPTOR.match(modifier):
            names += _expand(Register(found[1]), 2)
    if isinstance(address.base, Symbol) and (found := _BANK_REGISTER.match(address.base.name)):
        names += _expand(Register(found[1]), 2 if address.base.name.startswith("cx") else 1)
    for register in (address.base, address.index):
        if isinstance(register, Register):
            names += _expand(register, _address_width(opcode, entry, operands, position, register))
    return names


def _address_width(
    opcode: str, entry: Opcode, operands: Sequence[Operand], position: int, register: Register
) -> int:
    """Return how many registers an address's base or index takes."""
    address = operands[position]
    assert isinstance(address, Address)
    base, *modifiers = opcode.split(".")
    if entry.width == "bulk":
        return _bulk_width(base, modifiers, position)
    if "gdesc" in address.modifiers:
        both = base.endswith("GMMA") and not isinstance(operands[1], Register)
        return 4 if both else 2
    if isinstance(address.base, Symbol) or {"tmem", "idesc"} & set(address.modifiers):
        return 1
    if entry.space is Space.SURFACE:
        return max(sum(int(m[1]) for m in map(_DIMENSIONS.search, modifiers) if m), 1)
    if "U32" in register.modifiers or any(m.startswith("X") for m in register.modifiers):
        return 1
    shared_side = base == "LDGSTS" and position == 0
    wide = (entry.space in _WIDE_ADDRESSES or base in ("CCTL", "QSPC")) and "E" in modifiers
    return 2 if "desc" in address.modifiers or (wide and not shared_side) else 1


def _bulk_width(base: str, modifiers: list[str], position: int) -> int:
    """Return the uniform registers of a bulk copy's operand: addresses, barrier and tile coordinates."""
    dimensions = next((int(m[1]) for m in map(_DIMENSIONS.match, modifiers) if m), 0)
    if position or not dimensions:
        return 2
    return dimensions + {"UTMALDG": 2, "UTMAPF": 0}.get(base, 1)
