"""A launch bound to a program (:func:`bind`), and what its arguments mean for symbolic values.

Arguments are matched to parameters by source name, program name or position. For symbolic values, buffers get
distinct made-up addresses, aligned to 256 bytes as ``cudaMalloc`` does, and so do pointers that are
not given: what matters is only how lanes spread around them.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from warpwatt.core.arguments import Argument, Buffer, Fill, Scalar, TensorMap
from warpwatt.core.errors import ArgumentError
from warpwatt.core.launch import Launch
from warpwatt.core.program import Level, Parameter, Program, Space, Variable
from warpwatt.native.demangle import demangle

ALIGNMENT = 256
"""Alignment of ``cudaMalloc`` (CUDA C++ Programming Guide, "Device Memory Accesses")."""
GLOBAL_BASE = 1 << 40
"""First made-up address of a buffer; shared variables lie near 0: generic addresses tell them apart."""
LOCAL_BASE = 1 << 32
_GAP = 1 << 20
TENSOR_MAP_BYTES = 128
"""Size of a ``CUtensorMap`` (cuda.h)."""
_UNKNOWN_SIZE = 1 << 36
"""Room left behind a pointer of unknown size."""


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of addresses and the name the user knows it by."""

    name: str
    base: int
    size: int | None
    uniform: bool = False
    """Whether the launch fills it with one number."""


@dataclass(frozen=True, slots=True)
class Bindings:
    """What the launch says about the leaves of symbolic values.

    ``values`` maps ``NAME+OFFSET`` of parameters and constant symbols to numbers, ``addresses`` variables to
    made-up addresses, ``regions`` lists buffers by address.
    """

    values: Mapping[str, int | float]
    addresses: Mapping[str, int]
    regions: tuple[Region, ...]

    def region(self, address: int) -> Region | None:
        """Return the buffer or variable an address lies in, or None."""
        found = [r for r in self.regions if r.base <= address < r.base + (r.size or _UNKNOWN_SIZE)]
        return found[-1] if found else None


def display_name(parameter: Parameter, index: int) -> str:
    """Return the name to use for a parameter with the user: their own, or its position."""
    return parameter.source_name or str(index)


@dataclass(frozen=True, slots=True, eq=False)
class BoundLaunch:
    """A launch bound to one program: which argument is which parameter's.

    Attributes
    ----------
    program
        The program with the device functions it calls expanded where that can be done
        (:mod:`warpwatt.program.inlining`).
    arguments
        Arguments by program name; constant symbols and fields of structures as ``NAME+OFFSET``.
    names
        What the launch calls each of them.
    """

    program: Program
    launch: Launch
    arguments: Mapping[str, Argument]
    names: Mapping[str, str]

    @property
    def missing(self) -> tuple[tuple[int, Parameter], ...]:
        """Position and parameter of every number and pointer that the launch leaves out."""
        given = {key.partition("+")[0] for key in self.arguments}
        parameters = enumerate(self.program.parameters)
        return tuple((index, p) for index, p in parameters if p.size <= 8 and p.name not in given)

    def bindings(self, pointers: frozenset[str] = frozenset()) -> Bindings:
        """Return what the arguments mean for the leaves of symbolic values.

        Parameters
        ----------
        pointers
            Parameters (``NAME+OFFSET``) that addresses are built on, whether or not the program marks them.

        Raises
        ------
        ArgumentError
            If an argument is of the wrong kind, or does not fit.

        >>> from warpwatt.core.launch import Dim3
        >>> from warpwatt.core.launch import Launch as L
        >>> from warpwatt.core.program import Level, Parameter, Program
        >>> p = Program("k", Level.PTX, "sm_90", (), parameters=(Parameter("k_param_0", "u32", 4, 4),))
        >>> bind(p, L(Dim3(), Dim3(), arguments={"0": Scalar(7)})).bindings().values
        {'k_param_0+0': 7}
        """
        program, given = self.program, self.arguments
        regions: list[Region] = []
        addresses = _variable_addresses(program, regions)
        values: dict[str, int | float] = {
            k: a.value for k, a in given.items() if "+" in k and isinstance(a, Scalar)
        }
        buffers: dict[str, int | None] = {
            k: a.nbytes for k, a in given.items() if "+" in k and isinstance(a, Buffer)
        }
        for index, parameter in enumerate(program.parameters):
            argument, key = given.get(parameter.name), f"{parameter.name}+0"
            if isinstance(argument, Buffer):
                buffers[key] = check_buffer(parameter, argument, index)
            elif argument is not None:
                values[key] = scalar_value(parameter, argument, index)
            elif parameter.pointer and parameter.size == 8:
                buffers[key] = None
        missing: dict[str, int | None] = {p: None for p in sorted(pointers) if p not in values}
        following = GLOBAL_BASE
        for key, size in (missing | buffers).items():
            values[key] = following
            argument = given.get(key.rpartition("+")[0]) or given.get(key)
            uniform = isinstance(argument, Buffer) and argument.fill in (Fill.ZEROS, Fill.ONES)
            regions.append(Region(_buffer_name(program, key), following, size, uniform))
            following += -(-(size or _UNKNOWN_SIZE) // ALIGNMENT) * ALIGNMENT + _GAP
        return Bindings(values, addresses, tuple(regions))


def bind(program: Program, launch: Launch, parameters: tuple[Parameter, ...] = ()) -> BoundLaunch:
    """Return a launch bound to a program.

    ``parameters`` are those of the same kernel in PTX: machine code lacks their names and types.

    Raises
    ------
    ArgumentError
        If an argument matches no parameter and no variable, or one is given twice.
    """
    if program.level is Level.PTX:
        from warpwatt.program.inlining import expand_calls

        program = expand_calls(program)
    elif len(parameters) == len(program.parameters):
        pairs = zip(program.parameters, parameters, strict=True)
        program = replace(
            program, parameters=tuple(replace(p, name=own.name, offset=own.offset) for own, p in pairs)
        )
    by_name: dict[str, str] = {}
    for index, p in enumerate(program.parameters):
        by_name |= {str(index): p.name, p.name: p.name}
    by_name |= {p.source_name: p.name for p in program.parameters if p.source_name}
    symbols = {v.name: v for v in program.variables if v.space in (Space.CONST, Space.GLOBAL)}
    arguments: dict[str, Argument] = {}
    names: dict[str, str] = {}
    for key, argument in launch.arguments.items():
        base, plus, offset = key.rpartition("+")
        if key in by_name:
            target = by_name[key]
        elif key in symbols:
            target = f"{key}+0"
        elif plus and offset.isdigit() and (base in by_name or base in symbols):
            target = f"{by_name.get(base, base)}+{int(offset)}"
        else:
            raise _no_such(program, key, [*by_name, *symbols])
        if target in arguments:
            raise ArgumentError(
                f"kernel {demangle(program.name)}: {key!r} names an argument that was given before"
            )
        arguments[target], names[target] = argument, key
    return BoundLaunch(program, launch, arguments, names)


def _buffer_name(program: Program, key: str) -> str:
    name, _, offset = key.rpartition("+")
    source = next((p.source_name for p in program.parameters if p.name == name), "") or name
    return source if offset == "0" else f"{source}+{offset}"


def _no_such(program: Program, key: str, names: list[str]) -> ArgumentError:
    near = difflib.get_close_matches(key, names, n=1)
    listed = ", ".join(f"{display_name(p, i)} ({_kind(p)})" for i, p in enumerate(program.parameters))
    hint = f"did you mean {near[0]!r}? " if near else ""
    return ArgumentError(
        f"kernel {demangle(program.name)} has no argument {key!r}",
        hint=f"{hint}its arguments are: {listed or '(none)'}",
    )


def _kind(parameter: Parameter) -> str:
    return "pointer" if parameter.pointer else parameter.type


def check_buffer(parameter: Parameter, buffer: Buffer, index: int) -> int:
    """Return the bytes of a buffer given for a parameter; :class:`ArgumentError` if it is no pointer."""
    if isinstance(buffer, TensorMap) and parameter.size == TENSOR_MAP_BYTES:
        return max(1, buffer.nbytes)
    if parameter.size != 8:
        raise ArgumentError(
            f"argument {display_name(parameter, index)!r} is a {parameter.type}, not a pointer",
            hint=f"write --arg {display_name(parameter, index)}=NUMBER",
        )
    return max(1, buffer.nbytes)


def scalar_value(parameter: Parameter, argument: Argument, index: int) -> int | float:
    """Return the number given for a parameter; :class:`ArgumentError` if it does not fit."""
    assert isinstance(argument, Scalar)
    value, name = argument.value, display_name(parameter, index)
    if parameter.pointer and value != 0:
        raise ArgumentError(
            f"argument {name!r} is a pointer, not a number", hint=f"write --arg {name}=f32[1024], for example"
        )
    if parameter.size == TENSOR_MAP_BYTES:
        raise ArgumentError(
            f"argument {name!r} is a structure of {parameter.size} bytes, a tensor map perhaps",
            hint=f"for a tensor map write --arg '{name}=tensor(f16[m,k], box=64x64, swizzle=128)', "
            f"else give its fields by offset: --arg {name}+0=VALUE",
        )
    if parameter.size > 8:
        raise ArgumentError(
            f"argument {name!r} is a structure of {parameter.size} bytes",
            hint=f"give its fields by offset, for example --arg {name}+0=VALUE",
        )
    if parameter.type[0] == "f":
        return float(value)
    if isinstance(value, float) and not value.is_integer():
        if parameter.type[0] == "b":
            return value
        raise ArgumentError(f"argument {name!r} is a {parameter.type}: {value} is not a whole number")
    bits = parameter.size * 8
    low, high = -(1 << (bits - 1)), (1 << bits) - 1
    high = high >> 1 if parameter.type[0] == "s" else high
    if not low <= value <= high:
        raise ArgumentError(f"argument {name!r} is a {parameter.type}: {int(value)} does not fit")
    return int(value)


def _variable_addresses(program: Program, regions: list[Region]) -> dict[str, int]:
    """Lay variables out: shared from 0 (dynamic last), local from 4 GiB, the others below the buffers."""
    following = {Space.SHARED: 0, Space.LOCAL: LOCAL_BASE}
    result: dict[str, int] = {}
    ordered: list[Variable] = sorted(program.variables, key=lambda v: v.size == 0)
    for variable in ordered:
        space = variable.space if variable.space in following else Space.GLOBAL
        align = max(1, variable.align)
        base = -(-following.setdefault(space, GLOBAL_BASE // 2) // align) * align
        result[variable.name] = base
        regions.append(Region(variable.name, base, variable.size or None))
        following[space] = base + variable.size
    return result
