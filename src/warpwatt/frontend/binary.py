"""Compiled files: a cubin, a fatbin, or an ELF file (object, library, executable) with device code in it.

What runs is chosen as the driver chooses it: machine code for the exact architecture; else machine code for
an earlier one of the same major version; else PTX, compiled for the target. (CUDA C++ Programming Guide,
"Binary Compatibility" and "PTX Compatibility".)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial

from warpwatt.core.errors import InputError, ParseError, UnsupportedGpuError
from warpwatt.core.program import Kernel, Program
from warpwatt.frontend.compilation import assemble_ptx
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.disassembly import Disassembly
from warpwatt.frontend.entries import Entry, compiled_entries
from warpwatt.frontend.fatbin import ARCHIVE, ELF, MAGIC, Code, Kind, codes
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.signatures import with_signature_types
from warpwatt.frontend.toolkits import for_target, target_number
from warpwatt.isa import ptx
from warpwatt.isa.sass.cubin import read_cubin
from warpwatt.isa.sass.elf import MACHINE_CUDA, read_elf
from warpwatt.native.demangle import demangle

DEFAULT_OPTIONS = CompileOptions()


@dataclass(frozen=True)
class DeviceCode:
    """What of a file runs on a target: machine code for one architecture or, where there is none, PTX."""

    source: Source
    target: str
    options: CompileOptions
    cubins: tuple[Disassembly, ...]
    """Machine code; what is linked comes first."""
    ptx: tuple[Code, ...]
    """PTX for the architecture of the machine code; without that, PTX to compile."""
    warnings: tuple[str, ...] = ()

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The PTX.

        Raises
        ------
        ParseError
            If it is damaged.
        """
        try:
            return tuple(code.text for code in self.ptx)
        except ParseError as error:
            raise _damaged(self.source, error.message) from error

    def entries(self) -> tuple[Entry, ...]:
        """Return the kernels, not read yet; of equal names, the first stands.

        Raises
        ------
        CompileError, ParseError, ToolchainError
            If there is PTX alone, which is compiled, and that fails.
        """
        machine = (Entry(n, partial(self._kernel, n, one)) for one in self.cubins for n in one.cubin.names)
        found: dict[str, Entry] = {}
        for entry in machine if self.cubins else self._compiled():
            found.setdefault(entry.name, entry)
        return tuple(found.values())

    def _kernel(self, name: str, sass: Disassembly) -> Kernel:
        """Return one kernel of a cubin, with its PTX if the file embeds that for the same architecture."""
        machine, demangled, cubin = sass.program(name), demangle(name), sass.cubin
        unlinked = (_UNLINKED,) if cubin.relocatable else ()
        return Kernel(
            name=name,
            demangled=demangled,
            target=self.target,
            resources=cubin.kernel(name).resources,
            ptx=_embedded_program(name, self.texts),
            sass=with_signature_types(machine, demangled) if machine is not None else None,
            source=self.source.path,
            toolkit=cubin.toolkit,
            warnings=(*self.warnings, *unlinked, *sass.warnings),
        )

    def _compiled(self) -> Iterator[Entry]:
        """Yield the kernels of embedded PTX, compiled for the target as the driver would."""
        choice = for_target(self.target, self.options.toolkit)
        warning = (
            f"no machine code for {self.target}: {self.ptx[0].target} is compiled with toolkit "
            f"{choice.toolkit.version}, the driver's compiler may differ"
        )
        choice = replace(choice, warnings=(*choice.warnings, warning))
        for text in self.texts:
            part = Source(self.source.name, text.encode(), self.source.path)
            compiled = assemble_ptx(part, choice, self.options)
            yield from compiled_entries(compiled, part, self.target, choice, self.options)


def device_code(source: Source, target: str, options: CompileOptions = DEFAULT_OPTIONS) -> DeviceCode:
    """Return what of a compiled file runs on ``target``; the rest of it stays compressed.

    Raises
    ------
    InputError
        If it is no such file, or holds no device code.
    ParseError
        If the file is truncated or damaged.
    UnsupportedGpuError
        If the file holds no code that can run on the target.
    """
    found, number = extract(source), target_number(target)
    without_kernels = None
    for best in sorted({code.architecture for code in found if code.runs_on(number)}, reverse=True):
        running = [code for code in found if code.architecture == best and code.runs_on(number)]
        warning = f"no machine code for {target}: that for sm_{best}, which the driver would run, is used"
        texts = tuple(c for c in found if c.kind is Kind.PTX and c.architecture == best)
        cubins, warnings = _cubins(running, source, options), (warning,) if best != number else ()
        made = DeviceCode(source, target, options, cubins, texts, warnings)
        if any(one.cubin.names for one in cubins):
            return made
        without_kernels = without_kernels or made
    if virtual := [code for code in found if code.compiles_for(number)]:
        newest = max(code.architecture for code in virtual)
        texts = tuple(code for code in virtual if code.architecture == newest)
        return DeviceCode(source, target, options, (), texts)
    if without_kernels is not None:
        return without_kernels
    held = dict.fromkeys(code.target for code in sorted(found, key=lambda one: -one.kind))
    raise UnsupportedGpuError(
        f"{source.name} has no code that runs on {target}: it holds {', '.join(held)}",
        hint=f"compile it with -gencode arch=compute_{number},code=[sm_{number},compute_{number}]",
    )


def _cubins(chosen: Sequence[Code], source: Source, options: CompileOptions) -> tuple[Disassembly, ...]:
    """Return the cubins: what is linked first, then what is for fewer architectures."""
    chosen = sorted(chosen, key=lambda code: (not code.exact, not code.family))
    try:
        found = [Disassembly(code.read(), f"sm_{code.architecture}", options) for code in chosen]
        return tuple(sorted(found, key=lambda one: one.cubin.relocatable))
    except ParseError as error:
        raise _damaged(source, error.message) from error


def extract(source: Source) -> tuple[Code, ...]:
    """Return the device code in a compiled file, not decompressed yet.

    Raises
    ------
    ParseError
        If the file is truncated or damaged.
    InputError
        If it holds no device code.
    """
    data = source.data
    if not data.startswith((ELF, MAGIC, ARCHIVE)):
        raise InputError(
            "neither a cubin, nor a fatbin, nor an ELF file, nor a static library", file=source.name
        )
    try:
        if data.startswith(ELF) and read_elf(data).machine == MACHINE_CUDA:
            number = target_number(read_cubin(data).target)
            return (Code(Kind.CUBIN, number, lambda: data),)
        found = tuple(codes(data))
    except ParseError as error:
        raise _damaged(source, error.message) from error
    if not found:
        raise InputError(
            "the file holds no CUDA device code",
            file=source.name,
            hint="name the object, library or executable that was compiled with nvcc",
        )
    return found


def _damaged(source: Source, reason: str) -> ParseError:
    """Return the error for a file that starts as a binary and does not go on as one."""
    return ParseError(
        f"the file is truncated or damaged ({reason})", file=source.name, hint="copy or compile it again"
    )


_UNLINKED = "the object is not device-linked: registers and code of functions in other files are missing"


def _embedded_program(name: str, texts: Sequence[str]) -> Program | None:
    """Return the PTX program of a kernel from the first text that has it, or None."""
    for text in texts:
        if name in text:
            module = _parsed(text)
            if name in ptx.entries(module):
                return ptx.lower(module, name)
    return None


_parsed = lru_cache(maxsize=8)(ptx.parse)
