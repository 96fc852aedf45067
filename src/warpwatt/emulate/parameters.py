"""The parameter block of a launch: scalars, pointers and fields of structures as bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arguments import Argument, Buffer, DType, Scalar, TensorMap
from warpwatt.core.errors import ArgumentError
from warpwatt.core.program import (
    Address,
    Instruction,
    Level,
    Operand,
    Parameter,
    Program,
    Register,
    Symbol,
)
from warpwatt.emulate import fills
from warpwatt.emulate.layout import parameter_offsets
from warpwatt.emulate.lift.sass.constants import parameter_window
from warpwatt.emulate.tensor_map import tensor_map
from warpwatt.native.demangle import demangle
from warpwatt.program.binding import (
    TENSOR_MAP_BYTES,
    check_buffer,
    display_name,
    field_name,
    parameter_reads,
    scalar_value,
)

if TYPE_CHECKING:
    from warpwatt.program.binding import BoundLaunch

_FLOATS = {2: "<e", 4: "<f", 8: "<d"}
_POINTER_BYTES = 8
_ADDEND = 3
"""Place of what a multiplication adds, among its operands that are no predicates: result, factors, addend."""


def block(
    bound: BoundLaunch, place: Callable[[str, Buffer], int], keep: Callable[[str, bytes], int]
) -> bytes:
    """Return the parameter block; parameters that the program never reads may be missing and are zero.

    Parameters
    ----------
    place
        Puts a buffer on the device and returns its address; called with the key in ``bound.arguments``.
    keep
        Puts bytes of a name on the device and returns their address.

    Raises
    ------
    ArgumentError
        If an argument is missing or does not fit.
    """
    program, given = bound.program, bound.arguments
    at = parameter_offsets(program)
    last = max(((at[p.name] + p.size) for p in program.parameters), default=0)
    data = bytearray(last)
    missing: list[tuple[int, Parameter]] = []
    for index, parameter in enumerate(program.parameters):
        start = at[parameter.name]
        if parameter.name in given:
            argument = given[parameter.name]
            if isinstance(argument, Buffer):
                check_buffer(parameter, argument, index)
                value = _pointer(parameter, argument, place, keep)
            else:
                value = scalar_bytes(parameter, argument, index)
            data[start : start + len(value)] = value
        elif found := dict(_fields(program, parameter, given, place)):
            for offset, value in found.items():
                data[start + offset : start + offset + len(value)] = value
            missing += [(index, f) for f in _missing_fields(program, parameter, start, index, found)]
        elif is_read(program, parameter, start):
            missing.append((index, parameter))
    if missing:
        raise _missing(program, missing)
    return bytes(data)


def _pointer(
    parameter: Parameter,
    buffer: Buffer,
    place: Callable[[str, Buffer], int],
    keep: Callable[[str, bytes], int],
) -> bytes:
    """Return the address of a buffer; for a tensor's map the map itself, or the address of one in memory."""
    address = place(parameter.name, buffer)
    if isinstance(buffer, TensorMap):
        data = tensor_map(buffer, address)
        if parameter.size == TENSOR_MAP_BYTES:
            return data
        address = keep(f"map of {parameter.name}", data)
    return address.to_bytes(_POINTER_BYTES, "little")


def is_read(program: Program, parameter: Parameter, start: int) -> bool:
    """Whether a program may read a parameter, which lies ``start`` bytes into the block."""
    if program.level is not Level.SASS:
        return any(Symbol(parameter.name) in _named(i) for i in program.instructions)
    first, window = program.parameter_base + start, parameter_window(program.target)
    return any(
        place is None
        or (place == window and parameter.size == TENSOR_MAP_BYTES)
        or first - size < place < first + parameter.size
        for place, size in _constant_reads(program)
    )


def _constant_reads(program: Program) -> Iterator[tuple[int | None, int]]:
    """Yield offset (None: computed) and bytes of what machine code reads of the parameters' constant bank."""
    for code in (program, *program.functions.values()):
        for instruction in code.instructions:
            for position, operand in enumerate(instruction.operands):
                if isinstance(operand, Address) and operand.base == Symbol("c[0x0]"):
                    computed = operand.index is not None and operand.index.name not in ("RZ", "URZ")
                    yield None if computed else operand.offset, _constant_bytes(instruction, position)


def _constant_bytes(instruction: Instruction, position: int) -> int:
    """Return how much a machine instruction reads of a constant bank for the operand at a position.

    A wide multiplication multiplies 32-bit factors; only what it adds has 64 bits.
    """
    if instruction.memory is not None:
        return instruction.memory.bytes
    if ".WIDE" in instruction.opcode:
        numbers = [k for k, o in enumerate(instruction.operands) if not _predicate(o)]
        return 8 if position in numbers[_ADDEND:] else 4
    return 8 if ".64" in instruction.opcode or instruction.opcode[0] == "D" else 4


def _predicate(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.name.startswith(("P", "UP"))


def _named(instruction: Instruction) -> Iterator[Operand | None]:
    """Yield operands, and the bases of addresses."""
    for operand in instruction.operands:
        yield operand.base if isinstance(operand, Address) else operand


def scalar_bytes(parameter: Parameter, argument: Scalar, index: int = 0) -> bytes:
    """Return a number as the bytes of its parameter; one of unknown type is a float if it has a fraction.

    Raises
    ------
    ArgumentError
        If it does not fit.

    >>> from warpwatt.core.program import Parameter
    >>> scalar_bytes(Parameter("n", "u32", 4, 4), Scalar(-1)).hex()
    'ffffffff'
    >>> scalar_bytes(Parameter("a", "b64", 8, 8), Scalar(0.5)).hex()
    '000000000000e03f'
    """
    value, size = scalar_value(parameter, argument, index), parameter.size
    if parameter.type == "bf16":
        return fills.convert(np.array([value]), DType.BF16).tobytes()
    if parameter.type[0] == "f" or (isinstance(value, float) and size in _FLOATS):
        try:
            return struct.pack(_FLOATS[size], value)
        except OverflowError:
            name = display_name(parameter, index)
            raise ArgumentError(f"argument {name!r} is a {parameter.type}: {value} does not fit") from None
    return (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def _fields(
    program: Program, parameter: Parameter, given: Mapping[str, Argument], place: Callable[[str, Buffer], int]
) -> Iterator[tuple[int, bytes]]:
    """Yield offset and bytes of the fields that are given for a structure, as wide as they are read."""
    read = _layout(program, parameter)
    given_at = {int(key.rpartition("+")[2]): key for key in given if key.rpartition("+")[0] == parameter.name}
    for offset, key in sorted(given_at.items()):
        argument = given[key]
        room = min([o for o in {*given_at, *read} if o > offset], default=parameter.size) - offset
        if isinstance(argument, Buffer):
            yield offset, place(key, argument).to_bytes(_POINTER_BYTES, "little")
            continue
        type_, size = read.get(offset, ("b", 4 if isinstance(argument.value, float) else min(8, room)))
        if not size or offset + size > parameter.size:
            raise ArgumentError(
                f"kernel {demangle(program.name)}: {key!r} lies beyond the {parameter.size} bytes of it"
            )
        field = replace(parameter, type=f"{type_}{8 * size}", size=size, pointer=False, source_name=key)
        yield offset, scalar_bytes(field, argument)


def _missing_fields(
    program: Program, parameter: Parameter, start: int, index: int, found: Mapping[int, bytes]
) -> Iterator[Parameter]:
    """Yield the fields of a structure that the program reads and nobody gave."""
    known = {offset + k for offset, value in found.items() for k in range(len(value))}
    layout = _layout(program, parameter)
    for offset in _read_offsets(program, parameter, start, layout):
        kind, size = layout[offset]
        if not known.issuperset(range(offset, offset + size)):
            name, field = field_name(parameter, index, offset), parameter.field_at(offset)
            pointer = field is not None and field.pointer
            yield replace(
                parameter, name=name, type=f"{kind}{8 * size}", size=size, source_name=name, pointer=pointer
            )


def _read_offsets(
    program: Program, parameter: Parameter, start: int, layout: Mapping[int, tuple[str, int]]
) -> list[int]:
    """Return the offsets of a structure's fields that the program reads, as far as its layout is known."""
    if program.level is not Level.SASS:
        return sorted({offset for offset, _ in parameter_reads(program, parameter.name)} & layout.keys())
    first = program.parameter_base + start
    read = {at + k - first for at, size in _constant_reads(program) if at is not None for k in range(size)}
    return [
        offset for offset, (_, size) in sorted(layout.items()) if read & set(range(offset, offset + size))
    ]


def _layout(program: Program, parameter: Parameter) -> dict[int, tuple[str, int]]:
    """Return kind and bytes of what a structure holds by offset: as declared, else as it is read."""
    declared = {field.offset: (field.type.rstrip("0123456789"), field.size) for field in parameter.fields}
    return {**dict(parameter_reads(program, parameter.name)), **declared}


def _missing(program: Program, missing: list[tuple[int, Parameter]]) -> ArgumentError:
    texts, flags = [], []
    for index, parameter in missing:
        name = display_name(parameter, index)
        texts.append(f"argument {name!r} ({'pointer' if parameter.pointer else parameter.type})")
        if parameter.size == TENSOR_MAP_BYTES:
            flags.append(f"--arg '{name}=tensor(f16[m,k], box=64x64, swizzle=128)'")
            continue
        example = "f32[1024]" if parameter.pointer else "1.0" if parameter.type[0] == "f" else "1024"
        flags.append(f"--arg {name}={example}")
    return ArgumentError(
        f"kernel {demangle(program.name)} needs " + ", ".join(texts),
        hint="write, for example, " + " ".join(flags),
    )
