"""The program's device code: modules as the runtime registers them, their kernels and variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.core.program import Kernel, Level, Program, Space, Variable
from warpwatt.emulate.layout import linked
from warpwatt.frontend.binary import DeviceCode, device_code
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.entries import Entry, with_names
from warpwatt.frontend.load import DEFAULT_OPTIONS
from warpwatt.frontend.select import plain_name
from warpwatt.frontend.signatures import parameter_names
from warpwatt.frontend.toolkits import OLDEST_TARGET, target_number

if TYPE_CHECKING:
    from warpwatt.frontend.disassembly import Disassembly
    from warpwatt.frontend.options import CompileOptions


class Module:
    """Fat binaries, a cubin or PTX, and where the program wants its variables.

    Parameters
    ----------
    image
        The bytes that were registered.
    name
        What messages call it.
    """

    def __init__(self, image: bytes, name: str, options: CompileOptions = DEFAULT_OPTIONS) -> None:
        self._source = Source(name, image)
        self._options = options
        self._addresses: dict[str, int] = {}
        self._codes: dict[str, DeviceCode] = {}
        self._entries: dict[str, Mapping[str, Entry]] = {}
        self._variables: dict[str, Mapping[str, Variable]] = {}
        self._kernels: dict[tuple[str, str], Kernel] = {}

    @property
    def _is_ptx(self) -> bool:
        return b".target" in self._source.data[:4096] and b"\0" not in self._source.data.rstrip(b"\0")[:4096]

    def kernel(self, name: str, target: str) -> Kernel:
        """Return a kernel for a target, its variables placed.

        Raises
        ------
        UnsupportedGpuError
            If nothing in the module runs on the target, or there is no such kernel.
        CompileError, ParseError, ToolchainError
            As loading a binary does.
        """
        key = name, target
        if key not in self._kernels:
            entry = self.entries(target).get(name)
            if entry is None:
                raise UnsupportedGpuError(f"no kernel {name} for {target} in the program")
            kernel = _placed_kernel(_named(entry.make()), self._addresses)
            if target_number(kernel.target) > target_number(target):
                said = f"the program has no code for {target}: that for {kernel.target} stands in"
                warnings = (f"{said}, registers are assumed", *kernel.warnings)
                kernel = replace(kernel, resources=replace(kernel.resources, assumed=True), warnings=warnings)
            self._kernels[key] = kernel
        return self._kernels[key]

    def entries(self, target: str) -> Mapping[str, Entry]:
        """Return the kernels that run on a target by name."""
        if target not in self._entries:
            if self._is_ptx:
                from warpwatt.frontend.load import entries

                found = entries(self._source, target, self._options)
            else:
                found = self._code(target).entries()
            self._entries[target] = {entry.name: entry for entry in found}
        return self._entries[target]

    def _code(self, target: str) -> DeviceCode:
        """Return the code that runs on a target, or that of the one that stands in for it.

        That is for GPUs so old that nvcc compiles for them no longer: the oldest that it knows.
        """
        if target not in self._codes:
            try:
                self._codes[target] = device_code(self._source, target, self._options)
            except UnsupportedGpuError:
                if target_number(target) >= OLDEST_TARGET:
                    raise
                self._codes[target] = device_code(self._source, f"sm_{OLDEST_TARGET}", self._options)
        return self._codes[target]

    def variables(self, target: str) -> Mapping[str, Variable]:
        """Return the variables of the module with what they hold at the start, as far as it can be told.

        Raises
        ------
        ParseError, UnsupportedGpuError
            As :meth:`kernel`.
        """
        if target not in self._variables:
            code = None if self._is_ptx else self._code(target)
            texts = (self._source.text,) if code is None else () if code.cubins else code.texts
            found = [*map(_linked_variables, code.cubins if code else ()), *map(_declared_variables, texts)]
            self._variables[target] = {n: v for each in reversed(found) for n, v in each.items()}
        return self._variables[target]

    def place(self, name: str, address: int, target: str) -> bytes:
        """Give a variable its address and return what it holds at the start; empty if that is all zeros."""
        self._addresses[name] = address
        self._kernels.clear()
        with suppress(UnsupportedGpuError):  # said where a kernel is wanted
            if variable := self.variables(target).get(name):
                return variable.initial
        return b""


def _declared_variables(text: str) -> dict[str, Variable]:
    """Return the variables of PTX."""
    from warpwatt.isa.ptx import parse
    from warpwatt.isa.ptx.storage import core_variable, module_variables

    return {name: core_variable(variable) for name, variable in module_variables(parse(text)).items()}


def _linked_variables(machine: Disassembly) -> dict[str, Variable]:
    """Return the global and constant variables of machine code with what the linker has written to them."""
    own = machine.cubin.image
    program = Program("", Level.SASS, machine.target, (), variables=own.variables)
    image = linked(replace(program, constants=own.constants, pointers=own.pointers)).globals
    found = {}
    for variable in own.variables:
        if variable.space is Space.GLOBAL and variable.offset is not None:
            initial = image[variable.offset : variable.offset + variable.size]
            found[variable.name] = replace(variable, initial=initial)
        elif variable.space is Space.CONST:
            found[variable.name] = variable
    return found


def _placed_kernel(kernel: Kernel, addresses: Mapping[str, int]) -> Kernel:
    """Return a kernel whose variables know their addresses."""
    if not addresses:
        return kernel
    ptx = None if kernel.ptx is None else _placed(kernel.ptx, addresses)
    return replace(kernel, ptx=ptx, sass=None if kernel.sass is None else _placed(kernel.sass, addresses))


def _placed(program: Program, addresses: Mapping[str, int]) -> Program:
    """Return a program and the functions that it calls with variables at their addresses."""
    functions: dict[str, Program] = {}
    for name, function in program.functions.items():
        own = _with_addresses(function.variables, addresses)
        functions[name] = replace(function, variables=own, functions=functions)
    return replace(program, variables=_with_addresses(program.variables, addresses), functions=functions)


def _with_addresses(variables: tuple[Variable, ...], addresses: Mapping[str, int]) -> tuple[Variable, ...]:
    return tuple(replace(v, address=addresses.get(v.name)) for v in variables)


def _named(kernel: Kernel) -> Kernel:
    """Return a kernel whose parameters have the names of its source, where that is still at hand."""
    for file in dict.fromkeys(_files(kernel)):
        names = _names_in(file).get(plain_name(kernel.display_name))
        if names is not None:
            return with_names(kernel, names)
    return kernel


def _files(kernel: Kernel) -> Iterator[str]:
    programs = [p for p in (kernel.ptx, kernel.sass) if p is not None and p.level is not Level.C]
    for program in programs:
        yield from (i.line.outermost.file for i in program.instructions if i.line is not None)


@lru_cache(maxsize=256)
def _names_in(file: str) -> Mapping[str, tuple[str, ...]]:
    """Return the parameter names of the kernels that a source file defines; none if it cannot be read."""
    try:
        return parameter_names(Path(file).read_text(errors="replace"))
    except OSError:
        return {}
