"""From a file to kernels: compile or read it, parse every level, join resources and names.

``load`` returns every kernel; ``load_kernel`` translates only the one that is asked for, which is what a
prediction wants from a file with hundreds of template instances.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError, ParseError, ToolchainError
from warpwatt.core.program import Kernel, Level, Program, Resources
from warpwatt.frontend.compilation import assemble_ptx, assumed, compile_cuda
from warpwatt.frontend.demangle import demangle
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.resources import max_threads
from warpwatt.frontend.select import plain_name, select
from warpwatt.frontend.source import Kind, kind_of, read_source
from warpwatt.frontend.toolkits import Choice, for_target, target_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from warpwatt.frontend.compiled import Compiled, Source

DEFAULT_OPTIONS = CompileOptions()

__all__ = ["load", "load_kernel", "select"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel that is known by name; ``make`` parses its programs."""

    name: str
    demangled: str
    make: Callable[[], Kernel]


def load(
    source: Path | str, target: str, options: CompileOptions = DEFAULT_OPTIONS
) -> tuple[Kernel, ...]:
    """Return every kernel of a file, compiled for a target such as ``sm_90``; ``-`` is standard input.

    Raises
    ------
    InputError
        If the file cannot be read, is of no known kind, or holds no kernel.
    CompileError, ParseError
        If the compiler or a parser refuses it.
    ToolchainError
        If a compiler is missing.
    """
    return tuple(entry.make() for entry in entries(read_source(source), target, options))


def load_kernel(
    source: Path | str, target: str, options: CompileOptions = DEFAULT_OPTIONS, name: str = ""
) -> Kernel:
    """Return the one kernel that ``name`` means (see :func:`~warpwatt.frontend.select.select`).

    Raises
    ------
    KernelSelectionError
        If none or several fit.
    InputError, CompileError, ParseError, ToolchainError
        As :func:`load`.
    """
    return select(entries(read_source(source), target, options), name).make()


def entries(source: Source, target: str, options: CompileOptions) -> tuple[Entry, ...]:
    """Return the kernels of a source by name, their programs not parsed yet."""
    kind = kind_of(source)
    if kind is Kind.BINARY:
        found = _binary_entries(source, target, options)
    elif kind is Kind.PTX:
        found = _ptx_entries(source, target, options)
    else:
        found = _cuda_entries(source, target, options)
    if not found:
        hint = "a template needs an instance: launch it in the file, or add: template __global__ void name<...>(...);"
        raise InputError(f"no kernel for {target} in this {kind}", file=source.name, hint=hint)
    return found


def _cuda_entries(source: Source, target: str, options: CompileOptions) -> tuple[Entry, ...]:
    choice = for_target(target, options.toolkit)
    compiled = compile_cuda(source, choice, options)
    return compiled_entries(compiled, source, target, choice, options)


def _ptx_entries(source: Source, target: str, options: CompileOptions) -> tuple[Entry, ...]:
    choice = for_target(target, options.toolkit)
    compiled = assemble_ptx(source, choice, options)
    return compiled_entries(compiled, source, target, choice, options)


def compiled_entries(
    compiled: Compiled, source: Source, target: str, choice: Choice, options: CompileOptions
) -> tuple[Entry, ...]:
    """Return the kernels of compiled PTX and cubin."""
    from warpwatt.isa import ptx  # noqa: PLC0415 - binaries do not need the parser

    module = ptx.parse(compiled.ptx, source.name if not compiled.resources else None)
    if choice.assumed:
        compiled = replace(compiled, cubin=b"", resources=assumed(compiled).resources)
    sass = _Disassembly(compiled.cubin, choice, options)
    limits = max_threads(compiled.ptx)
    warnings = (*choice.warnings, *compiled.warnings)

    def make(name: str) -> Kernel:
        program = with_source_names(ptx.lower(module, name), compiled.parameters)
        resources = compiled.resources.get(name) or _from_liveness(program, limits.get(name))
        machine = sass.program(name)
        return Kernel(
            name,
            demangle(name),
            target,
            resources,
            program if Level.PTX in options.levels else None,
            machine,
            source.path,
            compiled.toolkit,
            (*warnings, *sass.warnings),
        )

    return tuple(Entry(n, demangle(n), lambda n=n: make(n)) for n in ptx.entries(module))
