"""A launch bound to a program (:func:`bind`), and what its arguments mean for symbolic values.

Arguments are matched to parameters by source name, program name or position. For symbolic values, buffers get
distinct made-up addresses, aligned to 256 bytes as ``cudaMalloc`` does, and so do pointers that are
not given: what matters is only how lanes spread around them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from warpwatt.core.arguments import Argument, Buffer, Fill, Scalar, TensorMap
from warpwatt.core.errors import ArgumentError
from warpwatt.core.launch import Launch
from warpwatt.core.program import Address, Field, Level, Parameter, Program, Space, Symbol, Variable
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
        """Position and parameter of every number and pointer that the launch leaves out.

        Of structures whose fields are known, these are the fields that the program reads.
        """
        given = {key.partition("+")[0] for key in self.arguments}
        left = [(i, p) for i, p in enumerate(self.program.parameters) if p.size <= 8 and p.name not in given]
        return (*(pair for pair in left if not pair[1].fields), *self._missing_fields())

    def _missing_fields(self) -> Iterator[tuple[int, Parameter]]:
        for index, p in enumerate(self.program.parameters):
            read = {offset for offset, _ in parameter_reads(self.program, p.name)} if p.fields else set()
            for field in p.fields:
                key = f"{p.name}+{field.offset}"
                if field.offset in read and key not in self.arguments and p.name not in self.arguments:
                    shown = field_name(p, index, field.offset)
                    yield index, Parameter(key, field.type, field.size, field.size, field.pointer, shown)

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
    fields = _field_places(program)
    arguments: dict[str, Argument] = {}
    names: dict[str, str] = {}
    for key, argument in launch.arguments.items():
        base, plus, offset = key.rpartition("+")
        if key in by_name:
            target = by_name[key]
        elif key in fields:
            target = fields[key]
        elif key in symbols:
            target = f"{key}+0"
        elif plus and offset.isdigit() and (base in by_name or base in symbols):
            target = f"{by_name.get(base, base)}+{int(offset)}"
        else:
            raise _no_such(program, key, [*by_name, *fields, *symbols])
        _check_field(program, target, argument)
        if target in arguments:
            raise ArgumentError(
                f"kernel {demangle(program.name)}: {key!r} names an argument that was given before"
            )
        arguments[target], names[target] = argument, key
    return BoundLaunch(program, launch, arguments, names)


def _check_field(program: Program, target: str, argument: Argument) -> None:
    """Check what is given for a field of a structure, as :func:`scalar_value` does for a parameter."""
    name, _, offset = target.rpartition("+")
    for index, parameter in enumerate(program.parameters):
        field = parameter.field_at(int(offset)) if parameter.name == name else None
        if field is not None:
            shown = field_name(parameter, index, field.offset)
            single = Parameter(target, field.type, field.size, field.size, field.pointer, shown)
            if isinstance(argument, Buffer):
                check_buffer(single, argument, index)
            else:
                scalar_value(single, argument, index)


def _field_places(program: Program) -> dict[str, str]:
    """Return ``NAME+OFFSET`` of every field of the structures by what users call it, ``p.dt``."""
    return {
        f"{display_name(parameter, index)}.{field.name}": f"{parameter.name}+{field.offset}"
        for index, parameter in enumerate(program.parameters)
        for field in parameter.fields
    }


def field_name(parameter: Parameter, index: int, offset: int) -> str:
    """Return the name to use with the user for what lies ``offset`` bytes into a structure."""
    field, name = parameter.field_at(offset), display_name(parameter, index)
    return f"{name}.{field.name}" if field is not None else f"{name}+{offset}"


def parameter_reads(program: Program, name: str) -> Iterator[tuple[int, tuple[str, int]]]:
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


def names_in(program: Program) -> frozenset[str]:
    """Return the names of variables and parameters that PTX loads from or takes the address of."""
    operands = (operand for instruction in program.instructions for operand in instruction.operands)
    bases = (operand.base if isinstance(operand, Address) else operand for operand in operands)
    return frozenset(base.name for base in bases if isinstance(base, Symbol))


def _buffer_name(program: Program, key: str) -> str:
    name, _, offset = key.rpartition("+")
    for index, parameter in enumerate(program.parameters):
        if parameter.name == name and parameter.fields:
            return field_name(parameter, index, int(offset))
    source = next((p.source_name for p in program.parameters if p.name == name), "") or name
    return source if offset == "0" else f"{source}+{offset}"


def _no_such(program: Program, key: str, names: list[str]) -> ArgumentError:
    import difflib  # only where somebody has mistyped a name

    near = difflib.get_close_matches(key, names, n=1)
    listed = ", ".join(_described(p, i) for i, p in enumerate(program.parameters))
    hint = f"did you mean {near[0]!r}? " if near else ""
    return ArgumentError(
        f"kernel {demangle(program.name)} has no argument {key!r}",
        hint=f"{hint}its arguments are: {listed or '(none)'}",
    )


def _described(parameter: Parameter, index: int) -> str:
    """Return name and type of a parameter, of a structure those of its fields."""
    name = display_name(parameter, index)
    if parameter.fields:
        return ", ".join(f"{name}.{f.name} ({_kind(f)})" for f in parameter.fields)
    structure = f"structure of {parameter.size} bytes, by offset: {name}+0, {name}+4 ..."
    return f"{name} ({structure if parameter.structure else _kind(parameter)})"


def _kind(parameter: Parameter | Field) -> str:
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
            hint=f"give its fields, for example --arg {field_name(parameter, index, 0)}=VALUE",
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
