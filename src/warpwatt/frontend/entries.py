"""Kernels of compiled PTX and machine code, by name: programs, resources and the user's names joined."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial

from warpwatt.core.program import Kernel, Level, Program
from warpwatt.frontend.compilation import assemble_ptx, mark_assumed
from warpwatt.frontend.compiled import Compiled, Source
from warpwatt.frontend.disassembly import OLDEST_TARGET, Disassembly
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.pressure import assumed_resources, max_threads
from warpwatt.frontend.select import plain_name
from warpwatt.frontend.toolkits import OLDEST_TARGET as STAND_IN
from warpwatt.frontend.toolkits import ToolkitChoice, target_number
from warpwatt.native.demangle import demangle

_TENSOR = re.compile(r"\bw?mma\.")
"""An instruction of the tensor cores in PTX."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel that is known by name; ``make`` parses its programs."""

    name: str
    make: Callable[[], Kernel]

    @property
    def demangled(self) -> str:
        """Its name in C++."""
        return demangle(self.name)


@dataclass(frozen=True, slots=True)
class _Input:
    """What kernels are made from; equal where ``identity`` is, so that one process makes each kernel once."""

    identity: tuple[object, ...]
    compiled: Compiled = field(compare=False)
    source: Source = field(compare=False)
    target: str
    choice: ToolkitChoice
    options: CompileOptions


def compiled_entries(
    compiled: Compiled, source: Source, target: str, choice: ToolkitChoice, options: CompileOptions
) -> tuple[Entry, ...]:
    """Return the kernels of compiled PTX and cubin: the same objects for the same code and names."""
    made_of = (compiled.target, compiled.toolkit, compiled.ptx, compiled.cubin, compiled.warnings)
    names = (source.name, source.path, *compiled.parameters.items(), *compiled.resources.items())
    return _entries(_Input((*made_of, *names), compiled, source, target, choice, options))


@lru_cache(maxsize=16)
def _entries(given: _Input) -> tuple[Entry, ...]:
    from warpwatt.isa import ptx

    compiled, source, choice = given.compiled, given.source, given.choice
    module = ptx.parse(compiled.ptx, source.name if not compiled.resources else None)
    if choice.assumed:
        compiled = mark_assumed(compiled)
    sass = _machine_code(compiled, source, choice, given.options)
    limits = max_threads(compiled.ptx)
    warnings = (*choice.warnings, *compiled.warnings)

    @cache
    def make(name: str) -> Kernel:
        program = with_source_names(ptx.lower(module, name), compiled.parameters)
        resources = compiled.resources.get(name) or assumed_resources(program, limits.get(name))
        machine = sass.program(name)
        return Kernel(
            name=name,
            demangled=demangle(name),
            target=given.target,
            resources=resources,
            ptx=program,
            sass=with_types(machine, program),
            source=source.path,
            toolkit=compiled.toolkit,
            warnings=(*warnings, *sass.warnings),
        )

    return tuple(Entry(n, partial(make, n)) for n in ptx.entries(module))


def _machine_code(
    compiled: Compiled, source: Source, choice: ToolkitChoice, options: CompileOptions
) -> Disassembly:
    """Return the machine code; that for Turing where that of the GPU is not read.

    So it is before Volta, and of Volta's tensor cores: each product takes four steps, which nobody documents.
    """
    number = target_number(compiled.target)
    unread = number < OLDEST_TARGET or (number < STAND_IN and _TENSOR.search(compiled.ptx) is not None)
    if compiled.cubin and Level.SASS in options.levels and unread:
        text = replace(source, data=compiled.ptx.encode())
        nearest = replace(choice, target=f"sm_{STAND_IN}")
        compiled = assemble_ptx(text, nearest, options)
    return Disassembly(compiled.cubin, compiled.target, options)


def with_source_names(program: Program, names: Mapping[str, Sequence[str]]) -> Program:
    """Return a program whose parameters carry the user's names, where declaration and program agree."""
    known = names.get(plain_name(demangle(program.name)), ())
    return _named(program, known) if len(known) == len(program.parameters) else program


def with_types(machine: Program | None, program: Program) -> Program | None:
    """Return machine code whose parameters are those of its PTX: a cubin knows sizes and places alone."""
    if machine is None or [p.size for p in machine.parameters] != [p.size for p in program.parameters]:
        return machine
    pairs = zip(program.parameters, machine.parameters, strict=True)
    return replace(machine, parameters=tuple(replace(p, offset=own.offset) for p, own in pairs))


def with_names(kernel: Kernel, names: Sequence[str]) -> Kernel:
    """Return a kernel whose parameters carry these names; superfluous names at the end are dropped."""
    if kernel.ptx is None or len(names) < len(kernel.ptx.parameters):
        return kernel
    ptx = _named(kernel.ptx, names)
    return replace(kernel, ptx=ptx, sass=with_types(kernel.sass, ptx))


def _named(program: Program, names: Sequence[str]) -> Program:
    pairs = zip(program.parameters, names, strict=False)
    return replace(program, parameters=tuple(replace(p, source_name=name) for p, name in pairs))
