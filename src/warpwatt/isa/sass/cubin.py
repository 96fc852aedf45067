"""Cubin files: the code, resources, parameters and source lines of each kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from warpwatt.core.errors import ParseError
from warpwatt.core.program import Resources
from warpwatt.isa.sass.attributes import (
    Attribute,
    KernelParameter,
    attributes,
    indirect_targets,
    kernel_parameters,
    number,
    per_symbol,
    words,
)
from warpwatt.isa.sass.elf import FLAGS_OFFSET, FUNCTION, MACHINE_CUDA, Elf, Section, Symbol, read_elf
from warpwatt.isa.sass.image import RESERVED_SHARED, Image, read_image
from warpwatt.isa.sass.lines import LineTable, line_tables

_TEXT = ".text."
_RELOCATABLE = 1


@dataclass(frozen=True, slots=True)
class Function:
    """A device function within a kernel's code: ``size`` bytes from ``offset``."""

    name: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class CubinKernel:
    """One kernel of a cubin.

    Attributes
    ----------
    name
        The linker's name.
    code
        Its instructions, 16 bytes each, functions it calls included.
    resources
        As ``ptxas -v`` reports them, spills excepted (a cubin does not keep those).
    parameters, parameter_base
        Where the parameters lie in constant bank 0: ``parameter_base`` + offset.
    functions
        Functions behind the kernel's own instructions, by offset.
    branches
        Offset of each indirect branch -> offsets that it may go to.
    lines
        Source line of each instruction (empty without ``-lineinfo``).
    image
        Constant banks, variables and shared memory that the code expects.
    relocated
        Whether the code holds addresses that are filled in when it is linked or loaded.
    """

    name: str
    code: bytes
    resources: Resources
    parameters: tuple[KernelParameter, ...] = ()
    parameter_base: int = 0
    functions: tuple[Function, ...] = ()
    branches: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    lines: LineTable = field(default_factory=LineTable)
    image: Image = field(default_factory=Image)
    relocated: bool = False


@dataclass(frozen=True, eq=False)
class Cubin:
    """A cubin; what it says of a kernel is read when somebody asks for it."""

    elf: Elf
    data: bytes
    """The whole file, for tools that read it."""

    @cached_property
    def sm(self) -> int:
        """The number of its architecture, such as 90."""
        sm = self.elf.flags >> 8 * _byte_of_architecture(self.elf) & 0xFF
        if not 10 <= sm <= 200:
            raise ParseError(f"damaged cubin: its flags name the architecture sm_{sm}")
        return sm

    @property
    def target(self) -> str:
        """Its architecture, such as ``sm_90``."""
        return f"sm_{self.sm}"

    @cached_property
    def toolkit(self) -> str:
        """The version of ptxas, such as ``13.5.37``; empty if it is not recorded."""
        note = self.elf.section(".note.nv.tkinfo")
        found = re.search(rb"\bV(\d+\.\d+\.\d+)", note.data) if note is not None else None
        return found[1].decode() if found else ""

    @property
    def relocatable(self) -> bool:
        """Whether it is not device-linked: what its functions call in other files is missing."""
        return self.elf.kind == _RELOCATABLE

    @cached_property
    def entries(self) -> dict[str, int]:
        """Names of the kernels, in the order of the symbol table, and the numbers of their symbols."""
        return {s.name: i for i, s in enumerate(self.elf.symbols) if _is_entry(self.elf, s)}

    @property
    def kernels(self) -> tuple[CubinKernel, ...]:
        """All kernels, in the order of the symbol table."""
        return tuple(map(self.kernel, self.entries))

    def kernel(self, name: str) -> CubinKernel:
        """Return the kernel of that name.

        Raises
        ------
        KeyError
            If there is none.
        ParseError
            If what the file says of it is damaged.
        """
        if name not in self._known:
            self._known[name] = _kernel(self, self.entries[name])
        return self._known[name]

    def functions(self, name: str) -> tuple[int, ...]:
        """Return the numbers of the symbols of a kernel and of the functions in its section."""
        section = self.elf.symbols[self.entries[name]].section
        return tuple(i for i, s in enumerate(self.elf.symbols) if s.kind == FUNCTION and s.section == section)

    @cached_property
    def module(self) -> Image:
        """What belongs to no kernel: global and constant variables, the addresses in them."""
        return read_image(self.elf, "", self.sm)

    @cached_property
    def _known(self) -> dict[str, CubinKernel]:
        return {}

    @cached_property
    def lines(self) -> dict[int, LineTable]:
        """Source lines by code section."""
        return line_tables(self.elf)

    @cached_property
    def common(self) -> dict[Attribute, dict[int, int]]:
        """Numbers that the file keeps of all its symbols, by attribute and symbol."""
        whole = self.elf.section(".nv.info")
        data = whole.data if whole is not None else b""
        wanted = (Attribute.REGCOUNT, Attribute.FRAME_SIZE, Attribute.MIN_STACK_SIZE)
        return {attribute: per_symbol(data, attribute) for attribute in wanted}


def read_cubin(data: bytes) -> Cubin:
    """Return a cubin.

    Raises
    ------
    ParseError
        The bytes are not a cubin, or a truncated or damaged one.
    """
    elf = read_elf(data)
    if elf.machine != MACHINE_CUDA:
        raise ParseError(
            f"not a cubin: an ELF file for machine {elf.machine}, not {MACHINE_CUDA} (CUDA)",
            hint="compile with nvcc -cubin, or pass the executable itself, not one of its object files",
        )
    found = Cubin(elf, data)
    _ = found.sm  # damaged flags are an error here
    return found


def _byte_of_architecture(elf: Elf) -> int:
    """Return which byte of the flags names the architecture: 1 since ABI version 8, else 0."""
    return int(elf.abi_version >= 8)


def with_architecture(data: bytes, sm: int) -> bytes:
    """Return a cubin whose flags name architecture ``sm``, for a tool that refuses its own.

    Raises
    ------
    ParseError
        As :func:`~warpwatt.isa.sass.elf.read_elf` raises it.
    """
    at = FLAGS_OFFSET + _byte_of_architecture(read_elf(data))
    return data[:at] + bytes([sm]) + data[at + 1 :]


def _is_entry(elf: Elf, symbol: Symbol) -> bool:
    """Return whether a symbol is a kernel: the function that a code section is named after."""
    return (
        symbol.kind == FUNCTION
        and 0 < symbol.section < len(elf.sections)
        and elf.sections[symbol.section].name == _TEXT + symbol.name
        and elf.section(".nv.constant0." + symbol.name) is not None
    )


def _kernel(cubin: Cubin, index: int) -> CubinKernel:
    """Return what the cubin says about the kernel that symbol ``index`` names."""
    elf, symbol = cubin.elf, cubin.elf.symbols[index]
    text = elf.sections[symbol.section]
    if len(text.data) % 16:
        raise ParseError(f"damaged cubin: the code of {symbol.name} is not a multiple of 16 bytes")
    section = elf.section(".nv.info." + symbol.name)
    info = section.data if section is not None else b""
    memory = read_image(elf, symbol.name, cubin.sm)
    cbank = words(next((v for key, v in attributes(info) if key == Attribute.PARAM_CBANK), b""))
    shared = memory.static_shared - RESERVED_SHARED * (cubin.sm >= 90)
    return CubinKernel(
        symbol.name,
        text.data,
        _resources(cubin, index, text, info, shared),
        kernel_parameters(info),
        cbank[1] & 0xFFFF if len(cbank) == 2 else 0,
        _functions(elf, symbol),
        indirect_targets(info),
        cubin.lines.get(symbol.section, LineTable()),
        memory,
        bool(elf.relocations(text.name)),
    )


RECURSIVE_STACK = 16 * 1024
"""Bytes of local memory per thread where recursion leaves the need open. The driver gives 1024 unless the
program raises ``cudaLimitStackSize`` (CUDA C++ Programming Guide), as recursive programs mostly must."""
_UNBOUNDED = 0xFFFFFFFF
"""The minimal stack size that the linker notes for kernels with recursion."""


def _functions(elf: Elf, kernel: Symbol) -> tuple[Function, ...]:
    """Return the functions that share the kernel's section, by offset."""
    found = [
        Function(s.name, s.value, s.size)
        for s in elf.functions.get(kernel.section, ())
        if s.name != kernel.name
    ]
    return tuple(sorted(found, key=lambda f: f.offset))


def _resources(cubin: Cubin, index: int, text: Section, info: bytes, shared: int) -> Resources:
    """Return registers, memory and barriers; older layouts keep registers and barriers in the section."""
    registers = cubin.common[Attribute.REGCOUNT].get(index)
    barriers = number(info, Attribute.NUM_BARRIERS)
    frame = cubin.common[Attribute.FRAME_SIZE].get(index, 0)
    stack = cubin.common[Attribute.MIN_STACK_SIZE].get(index, 0)
    constants = cubin.elf.section(".nv.constant0." + cubin.elf.symbols[index].name)
    return Resources(
        registers=text.info >> 24 if registers is None else registers,
        static_shared=shared,
        local=max(frame, RECURSIVE_STACK if stack == _UNBOUNDED else stack),
        constant=constants.size if constants is not None else 0,
        barriers=text.flags >> 20 & 0x1F if barriers is None else barriers & 0xFF,
        max_threads=_max_threads(info),
    )


def _max_threads(info: bytes) -> int | None:
    """Return the product of the three dimensions of ``__launch_bounds__``, or None."""
    found = next((v for key, v in attributes(info) if key in (Attribute.MAX_THREADS, Attribute.REQNTID)), b"")
    dimensions = words(found)
    return dimensions[0] * dimensions[1] * dimensions[2] if len(dimensions) == 3 else None
