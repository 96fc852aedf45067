"""Compiled files: a cubin, a fatbin, or an ELF file (object, library, executable) with device code in it.

What runs is chosen as the driver chooses it: machine code for the exact architecture; else machine code for
an earlier one of the same major version; else PTX, compiled for the target. (CUDA C++ Programming Guide,
"Binary Compatibility" and "PTX Compatibility".)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from warpwatt.core.errors import InputError, ParseError, UnsupportedGpuError
from warpwatt.core.program import Kernel, Program
from warpwatt.frontend.compilation import assemble_ptx
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.disassembly import Disassembly
from warpwatt.frontend.entries import Entry, compiled_entries
from warpwatt.frontend.fatbin import ARCHIVE_MAGIC, ELF_MAGIC, FATBIN_MAGIC, Kind, Part, parts
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.signatures import with_signature_types
from warpwatt.frontend.toolkits import for_target, target_number
from warpwatt.isa import ptx
from warpwatt.isa.sass.cubin import Cubin
from warpwatt.native.demangle import demangle

DEFAULT_OPTIONS = CompileOptions()


@dataclass(frozen=True, slots=True)
class Contents:
    """Device code found in a file, in the order it stands there."""

    parts: tuple[Part, ...] = ()

    @property
    def cubins(self) -> tuple[Part, ...]:
        """Machine code."""
        return tuple(part for part in self.parts if part.kind is Kind.CUBIN)

    @property
    def ptx(self) -> tuple[Part, ...]:
        """PTX."""
        return tuple(part for part in self.parts if part.kind is Kind.PTX)

    @property
    def targets(self) -> str:
        """What there is code for, such as ``sm_80, sm_90, PTX of compute_90``."""
        machine = dict.fromkeys(f"sm_{part.number}" for part in self.cubins)
        virtual = dict.fromkeys(f"PTX of compute_{part.number}" for part in self.ptx)
        return ", ".join((*machine, *virtual)) or "nothing"

    def machine_code(self, number: int) -> tuple[Part, ...]:
        """Return the cubins with kernels that the driver would run on an architecture; empty if none."""
        exact = [p for p in self.cubins if p.number == number and p.cubin.entries]
        if exact:
            return tuple(exact)
        same_major = [p for p in self.cubins if p.number // 10 == number // 10 and p.number < number]
        for best in sorted({p.number for p in same_major}, reverse=True):
            if found := [p for p in same_major if p.number == best and p.cubin.entries]:
                return tuple(found)
        return ()


def binary_entries(source: Source, target: str, options: CompileOptions) -> tuple[Entry, ...]:
    """Return the kernels of a compiled file as they would run on ``target``, not disassembled yet.

    Raises
    ------
    InputError, ParseError, ToolchainError
        As :func:`extract`.
    UnsupportedGpuError
        If the file holds no code that can run on the target.
    """
    contents, number = extract(source), target_number(target)
    machine = contents.machine_code(number)
    if machine:
        best = machine[0].number
        said = f"no machine code for {target}: that for sm_{best}, which the driver would run, is used"
        warnings = () if best == number else (said,)
        return _cubin_entries(machine, contents, source, target, options, warnings)
    virtual = [part for part in contents.ptx if part.number <= number]
    if virtual:
        return _ptx_entries(virtual, source, target, options)
    raise UnsupportedGpuError(
        f"{source.name} has no code that runs on {target}: it holds {contents.targets}",
        hint=f"compile it with -gencode arch=compute_{number},code=[sm_{number},compute_{number}]",
    )


def extract(source: Source) -> Contents:
    """Return the device code in a compiled file.

    Raises
    ------
    ParseError
        If the file is truncated or damaged.
    InputError
        If it holds no device code.
    """
    if not source.data.startswith((ELF_MAGIC, FATBIN_MAGIC, ARCHIVE_MAGIC)):
        raise InputError(
            "neither a cubin, nor a fatbin, nor an ELF file, nor a static library", file=source.name
        )
    try:
        found = parts(source.data)
    except ParseError as error:
        raise _damaged(source, error.message) from error
    if not found:
        raise InputError(
            "the file holds no CUDA device code",
            file=source.name,
            hint="name the object, library or executable that was compiled with nvcc",
        )
    return Contents(found)


def _damaged(source: Source, reason: str) -> ParseError:
    """Return the error for a file that starts as a binary and does not go on as one."""
    return ParseError(
        f"the file is truncated or damaged ({reason})",
        file=source.name,
        hint="copy or compile it again",
    )


def _cubin_entries(
    machine: Sequence[Part],
    contents: Contents,
    source: Source,
    target: str,
    options: CompileOptions,
    warnings: tuple[str, ...],
) -> tuple[Entry, ...]:
    """Return the kernels of cubins for one architecture; of equal names, the first stands."""
    texts = [part for part in contents.ptx if part.number == machine[0].number]
    found: dict[str, Entry] = {}
    for cubin in sorted((part.cubin for part in machine), key=lambda one: one.relocatable):  # linked first
        sass = Disassembly(cubin.data, cubin.target, options, cubin)
        notes = warnings + ((_UNLINKED,) if cubin.relocatable else ())
        for name in cubin.entries:
            make = partial(_kernel, name, cubin, sass, texts, source, target, notes)
            found.setdefault(name, Entry(name, make))
    return tuple(found.values())


_UNLINKED = "the object is not device-linked: registers and code of functions in other files are missing"


def _kernel(
    kernel: str,
    cubin: Cubin,
    sass: Disassembly,
    texts: Sequence[Part],
    source: Source,
    target: str,
    warnings: tuple[str, ...],
) -> Kernel:
    """Return one kernel of a cubin, with its PTX if the file embeds that for the same architecture."""
    machine, name = sass.program(kernel), demangle(kernel)
    return Kernel(
        name=kernel,
        demangled=name,
        target=target,
        resources=cubin.kernel(kernel).resources,
        ptx=_embedded_program(kernel, texts),
        sass=with_signature_types(machine, name) if machine is not None else None,
        source=source.path,
        toolkit=cubin.toolkit,
        warnings=(*warnings, *sass.warnings),
    )


def _embedded_program(name: str, texts: Sequence[Part]) -> Program | None:
    """Return the PTX program of a kernel from the first text that has it, or None."""
    for part in texts:
        if name in part.text:
            module = ptx.parse(part.text)
            if name in ptx.entries(module):
                return ptx.lower(module, name)
    return None


def _ptx_entries(
    virtual: Sequence[Part], source: Source, target: str, options: CompileOptions
) -> tuple[Entry, ...]:
    """Return the kernels of the newest embedded PTX, compiled for the target as the driver would."""
    newest = max(part.number for part in virtual)
    choice = for_target(target, options.toolkit)
    warning = (
        f"no machine code for {target}: PTX of compute_{newest} is compiled with toolkit "
        f"{choice.toolkit.version}, the driver's compiler may differ"
    )
    choice = replace(choice, warnings=(*choice.warnings, warning))
    found: dict[str, Entry] = {}
    for part in virtual:
        if part.number == newest:
            text = Source(source.name, part.text.encode(), source.path)
            for entry in compiled_entries(assemble_ptx(text, choice, options), text, target, choice, options):
                found.setdefault(entry.name, entry)
    return tuple(found.values())
