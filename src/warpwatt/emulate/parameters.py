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
    Space,
    Symbol,
)
from warpwatt.emulate import fills
from warpwatt.emulate.layout import parameter_offsets
from warpwatt.emulate.lift.sass.constants import parameter_window
from warpwatt.emulate.tensor_map import tensor_map
from warpwatt.native.demangle import demangle
from warpwatt.program.binding import TENSOR_MAP_BYTES, check_buffer, display_name, scalar_value

if TYPE_CHECKING:
    from warpwatt.program.binding import BoundLaunch

_FLOATS = {2: "<e", 4: "<f", 8: "<d"}
_POINTER_BYTES = 8
_ADDEND = 3
"""Place of what a multiplication adds, among its operands that are no predicates: result, factors, addend."""


def block(bound: BoundLaunch, place: Callable[[str, Buffer], int]) -> bytes:
    """Return the parameter block; parameters that the program never reads may be missing and are zero.

    Parameters
    ----------
    place
        Puts a buffer on the device and returns its address; called with the key in ``bound.arguments``.

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
                value = _pointer(parameter, argument, place)
            else:
                value = scalar_bytes(parameter, argument, index)
            data[start : start + len(value)] = value
        elif found := dict(_fields(program, parameter, given, place)):
            for offset, value in found.items():
                data[start + offset : start + offset + len(value)] = value
            missing += [(index, field) for field in _missing_fields(program, parameter, index, found)]
        elif is_read(program, parameter, start):
            missing.append((index, parameter))
    if missing:
        raise _missing(program, missing)
    return bytes(data)


def _pointer(parameter: Parameter, buffer: Buffer, place: Callable[[str, Buffer], int]) -> bytes:
    """Return the address of a buffer, or the tensor map that describes it."""
    address = place(parameter.name, buffer)
    if isinstance(buffer, TensorMap) and parameter.size == TENSOR_MAP_BYTES:
        return tensor_map(buffer, address)
    return address.to_bytes(_POINTER_BYTES, "little")


def is_read(program: Program, parameter: Parameter, start: int) -> bool:
    """Whether a program may read a parameter, which lies ``start`` bytes into the block."""
    if program.level is not Level.SASS:
        return any(Symbol(parameter.name) in _named(i) for i in program.instructions)
    first, window = program.parameter_base + start, parameter_window(program.target)
    for code in (program, *program.functions.values()):
        for instruction in code.instructions:
            for position, operand in enumerate(instruction.operands):
                size = _constant_bytes(instruction, position)
                if isinstance(operand, Address) and operand.base == Symbol("c[0x0]"):
                    if operand.offset == window and parameter.size == TENSOR_MAP_BYTES:
                        return True
                    computed = operand.index is not None and operand.index.name not in ("RZ", "URZ")
                    if computed or first - size < operand.offset < first + parameter.size:
                        return True
    return False


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
    read = dict(_reads(program, parameter.name))
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
    program: Program, parameter: Parameter, index: int, found: Mapping[int, bytes]
) -> Iterator[Parameter]:
    """Yield the fields of a structure that the program reads and nobody gave."""
    known = {offset + k for offset, value in found.items() for k in range(len(value))}
    for offset, (kind, size) in _reads(program, parameter.name):
        if not known.issuperset(range(offset, offset + size)):
            name = f"{display_name(parameter, index)}+{offset}"
            yield replace(parameter, name=name, type=f"{kind}{8 * size}", size=size, source_name=name)


def _reads(program: Program, name: str) -> Iterator[tuple[int, tuple[str, int]]]:
    """Yield (offset, (kind, bytes)) of the loads of a parameter in PTX; kind is f, s, u or b."""
    for instruction in program.instructions:
        memory = instruction.memory
        if memory is None or memory.space is not Space.PARAM:
            continue
        for operand in instruction.operands:
            if isinstance(operand, Address) and operand.base == Symbol(name):
                *parts, kind = instruction.opcode.split(".")
                count = {"v2": 2, "v4": 4}.get(parts[-1], 1)
                size = memory.bytes // count
                yield from ((operand.offset + size * k, (kind[0], size)) for k in range(count))


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
