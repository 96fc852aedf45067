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
from warpwatt.isa.sass.elf import FLAGS_OFFSET, MACHINE_CUDA, Elf, Section, Symbol, read_elf
from warpwatt.isa.sass.image import RESERVED_SHARED, Image, read_image
from warpwatt.isa.sass.lines import LineTable, line_tables

_TEXT = ".text."
_FUNCTION = 2
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


@dataclass(frozen=True)
class Cubin:
    """A cubin: ``target`` such as ``sm_90``. Its kernels are read when they are asked for."""

    target: str
    data: bytes
    """The whole file, for tools that read it."""
    elf: Elf
    _read: dict[str, CubinKernel] = field(default_factory=dict, init=False, compare=False, repr=False)

    @cached_property
    def names(self) -> Mapping[str, int]:
        """Each kernel's name and number of its symbol, in the order of the symbol table."""
        elf = self.elf
        return {s.name: i for i, s in enumerate(elf.symbols) if s.kind == _FUNCTION and _is_entry(elf, s)}

    @cached_property
    def kernels(self) -> tuple[CubinKernel, ...]:
        """All kernels, by :meth:`kernel`."""
        return tuple(map(self.kernel, self.names))

    @cached_property
    def image(self) -> Image:
        """The module's variables, without those of a single kernel."""
        return read_image(self.elf, "", self._sm)

    @cached_property
    def toolkit(self) -> str:
        """The version of ptxas that made it, such as ``13.5.37`` (empty if not recorded)."""
        note = self.elf.section(".note.nv.tkinfo")
        found = re.search(rb"\bV(\d+\.\d+\.\d+)", note.data) if note is not None else None
        return found[1].decode() if found else ""

    @property
    def relocatable(self) -> bool:
        """Not device-linked: what its functions call in other files is missing."""
        return self.elf.kind == _RELOCATABLE

    def kernel(self, name: str) -> CubinKernel:
        """Return the kernel of that name.

        Raises
        ------
        KeyError
            If there is none.
        ParseError
            If the file is damaged.
        """
        if name not in self._read:
            self._read[name] = self._kernel(name, self.elf.symbols[self.names[name]])
        return self._read[name]

    def _kernel(self, name: str, symbol: Symbol) -> CubinKernel:
        elf = self.elf
        text = elf.sections[symbol.section]
        if text.size % 16:
            raise ParseError(f"damaged cubin: the code of {name} is not a multiple of 16 bytes")
        section = elf.section(".nv.info." + name)
        info = section.data if section is not None else b""
        memory = read_image(elf, name, self._sm, self.image)
        cbank = words(next((v for key, v in attributes(info) if key == Attribute.PARAM_CBANK), b""))
        return CubinKernel(
            name,
            text.data,
            self._resources(name, text, info, memory.static_shared - RESERVED_SHARED * (self._sm >= 90)),
            kernel_parameters(info),
            cbank[1] & 0xFFFF if len(cbank) == 2 else 0,
            _functions(elf, symbol),
            indirect_targets(info),
            self._lines.get(symbol.section, LineTable()),
            memory,
            bool(elf.relocations(text.name)),
        )

    @property
    def _sm(self) -> int:
        return int(self.target.removeprefix("sm_"))

    @cached_property
    def _lines(self) -> Mapping[int, LineTable]:
        return line_tables(self.elf)

    @cached_property
    def _numbers(self) -> Mapping[tuple[int, int], int]:
        """What the file says of its symbols, by attribute and symbol."""
        section = self.elf.section(".nv.info")
        return per_symbol(section.data if section is not None else b"")

    def _resources(self, name: str, text: Section, info: bytes, shared: int) -> Resources:
        """Return registers, memory and barriers; older layouts keep registers and barriers in the section."""
        symbol, common = self.names[name], self._numbers
        registers = common.get((Attribute.REGCOUNT, symbol))
        barriers = number(info, Attribute.NUM_BARRIERS)
        frame = common.get((Attribute.FRAME_SIZE, symbol), 0)
        stack = common.get((Attribute.MIN_STACK_SIZE, symbol), 0)
        constants = self.elf.section(".nv.constant0." + name)
        return Resources(
            registers=text.info >> 24 if registers is None else registers,
            static_shared=shared,
            local=max(frame, RECURSIVE_STACK if stack == _UNBOUNDED else stack),
            constant=constants.size if constants is not None else 0,
            barriers=text.flags >> 20 & 0x1F if barriers is None else barriers & 0xFF,
            max_threads=_max_threads(info),
        )


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
    return Cubin(f"sm_{_architecture(elf)}", data, elf)


def _architecture(elf: Elf) -> int:
    """Return the number after ``sm_``."""
    sm = elf.flags >> 8 * _byte_of_architecture(elf) & 0xFF
    if not 10 <= sm <= 200:
        raise ParseError(f"damaged cubin: its flags name the architecture sm_{sm}")
    return sm


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
    """Return whether a function is a kernel: a code section and one of its parameters are named after it."""
    named = 0 < symbol.section < len(elf.sections) and elf.sections[symbol.section].name
    return named == _TEXT + symbol.name and ".nv.constant0." + symbol.name in elf.index


RECURSIVE_STACK = 16 * 1024
"""Bytes of local memory per thread where recursion leaves the need open. The driver gives 1024 unless the
program raises ``cudaLimitStackSize`` (CUDA C++ Programming Guide), as recursive programs mostly must."""
_UNBOUNDED = 0xFFFFFFFF
"""The minimal stack size that the linker notes for kernels with recursion."""


def _functions(elf: Elf, kernel: Symbol) -> tuple[Function, ...]:
    """Return the functions that share the kernel's section, by offset."""
    found = [
        Function(s.name, s.value, s.size)
        for s in elf.defined[kernel.section]
        if s.kind == _FUNCTION and s.name != kernel.name
    ]
    return tuple(sorted(found, key=lambda f: f.offset))


def _max_threads(info: bytes) -> int | None:
    """Return the product of the three dimensions of ``__launch_bounds__``, or None."""
    found = next((v for key, v in attributes(info) if key in (Attribute.MAX_THREADS, Attribute.REQNTID)), b"")
    dimensions = words(found)
    return dimensions[0] * dimensions[1] * dimensions[2] if len(dimensions) == 3 else None
