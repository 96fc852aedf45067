"""From a file to kernels: compile or read it, parse every level, attach resources and names.

``load`` returns every kernel; ``load_kernel`` translates only the one that is asked for, which is what a
prediction wants from a file with hundreds of template instances.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

from warpwatt.core.errors import CompileError, InputError
from warpwatt.core.program import Kernel
from warpwatt.core.progress import step
from warpwatt.frontend.compilation import assemble_ptx, compile_cuda
from warpwatt.frontend.compiled import Compiled, Source
from warpwatt.frontend.entries import Entry, compiled_entries
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.select import select
from warpwatt.frontend.source import Kind, kind_of, ptx_target, read_source
from warpwatt.frontend.toolkits import ToolkitChoice, for_target, target_number

DEFAULT_OPTIONS = CompileOptions()

__all__ = ["load", "load_kernel", "select"]

WHOLE_PTX_BYTES = 1 << 20
"""PTX up to this size is assembled whole; a library of kernels would keep ptxas busy for minutes."""


def load(
    source: Path | str | Source, target: str, options: CompileOptions = DEFAULT_OPTIONS
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
    return tuple(entry.make() for entry in entries(_opened(source), target, options))


def load_kernel(
    source: Path | str | Source, target: str, options: CompileOptions = DEFAULT_OPTIONS, name: str = ""
) -> Kernel:
    """Return the one kernel that ``name`` means (see :func:`~warpwatt.frontend.select.select`).

    ``axpy<float, 4>`` is compiled even if nothing in the file launches that instance of the template.

    Raises
    ------
    KernelSelectionError
        If none or several fit.
    InputError, CompileError, ParseError, ToolchainError
        As :func:`load`.
    """
    opened = _opened(source)
    with step(f"compiling for {target}"):
        if kind_of(opened) is not Kind.CUDA or not _INSTANCE.fullmatch(name):
            return select(entries(opened, target, options), name).make()
        from warpwatt.frontend.written import qualified

        instance = qualified(name, opened.text)
        with_instance = replace(options, instantiate=(*options.instantiate, instance))
        try:
            return select(entries(opened, target, with_instance), name).make()
        except CompileError as refusal:
            try:  # only part of a name, or a name without its namespace
                return select(entries(opened, target, options), name).make()
            except (CompileError, InputError):
                raise refusal from None


_INSTANCE = re.compile(r"[\w:]+ ?<[\w:<>, ()&*-]+>")
"""A template's name with arguments; what could leave the expression is not among its characters."""


def _opened(source: Path | str | Source) -> Source:
    return source if isinstance(source, Source) else read_source(source)


def entries(source: Source, target: str, options: CompileOptions, *, cubin: bytes = b"") -> tuple[Entry, ...]:
    """Return the kernels of a source by name, their programs not parsed yet.

    ``cubin`` is what the user's own tool made of PTX; its code and resources replace ours.
    """
    kind = kind_of(source)
    if kind is Kind.BINARY:
        found = _binary_entries(source, target, options)
    elif kind is Kind.PTX:
        choice = _with_features(for_target(target, options.toolkit), source)
        if len(source.data) > WHOLE_PTX_BYTES and not cubin:
            return _large_ptx_entries(source, target, choice, options)
        compiled = assemble_ptx(source, choice, options)
        compiled = _with_cubin(compiled, cubin) if cubin else compiled
        found = compiled_entries(compiled, source, target, choice, options)
    else:
        choice = for_target(target, options.toolkit)
        choice, compiled = _with_needed_features(source, choice, options)
        found = compiled_entries(compiled, source, target, choice, options)
    if not found:
        hint = "a template needs an instance: --kernel 'f<int>', or a launch in the file"
        raise InputError(f"no kernel for {target} in this {kind}", file=source.name, hint=hint)
    return found


def _large_ptx_entries(
    source: Source, target: str, choice: ToolkitChoice, options: CompileOptions
) -> tuple[Entry, ...]:
    """Return the kernels of a large PTX text; each is assembled alone, when it is wanted."""
    from warpwatt.isa import ptx

    module = ptx.parse(source.text, source.name)

    def make(name: str) -> Kernel:
        alone = replace(source, data=ptx.text_of(module, name).encode())
        compiled = assemble_ptx(alone, choice, options)
        return compiled_entries(compiled, alone, target, choice, options)[0].make()

    return tuple(Entry(n, partial(make, n)) for n in ptx.entries(module))


def _with_needed_features(
    source: Source, choice: ToolkitChoice, options: CompileOptions
) -> tuple[ToolkitChoice, Compiled]:
    """Compile CUDA; where it needs what only this architecture has (``wgmma``), for ``sm_90a``."""
    try:
        return choice, compile_cuda(source, choice, options)
    except CompileError as refusal:
        if f"-arch={choice.target}a" not in refusal.hint:
            raise
        specific = replace(choice, target=f"{choice.target}a")
        try:
            return specific, compile_cuda(source, specific, options)
        except CompileError:
            raise refusal from None


def _with_features(choice: ToolkitChoice, source: Source) -> ToolkitChoice:
    """Keep the architecture-specific features PTX was written for (``sm_90a``) on the same architecture."""
    named = ptx_target(source.data)
    same = named.endswith(("a", "f")) and target_number(named) == target_number(choice.target)
    return replace(choice, target=named) if same else choice


def _with_cubin(compiled: Compiled, data: bytes) -> Compiled:
    """Take code and resources from a cubin the user's own tool made."""
    from warpwatt.isa import sass

    cubin = sass.read_cubin(data)
    resources = {kernel.name: kernel.resources for kernel in cubin.kernels}
    return replace(compiled, cubin=data, resources=resources, toolkit=cubin.toolkit, warnings=())


def _binary_entries(source: Source, target: str, options: CompileOptions) -> tuple[Entry, ...]:
    from warpwatt.frontend.binary import device_code

    return device_code(source, target, options).entries()
