"""Compiled files: a cubin, a fatbin, or an ELF file (object, library, executable) with device code in it.

What runs is chosen as the driver chooses it: machine code for the exact architecture; else machine code for
an earlier one of the same major version; else PTX, compiled for the target. (CUDA C++ Programming Guide,
"Binary Compatibility" and "PTX Compatibility".)
"""

from __future__ import annotations

import re
import struct
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from warpwatt.core.errors import InputError, ParseError, UnsupportedGpuError
from warpwatt.core.program import Kernel, Program
from warpwatt.frontend import process, toolchain
from warpwatt.frontend.compilation import assemble_ptx
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.disassembly import Disassembly
from warpwatt.frontend.entries import Entry, compiled_entries
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.signatures import with_signature_types
from warpwatt.frontend.source import ptx_target
from warpwatt.frontend.toolkits import for_target, target_number
from warpwatt.isa import ptx
from warpwatt.isa.sass.cubin import Cubin, CubinKernel, read_cubin
from warpwatt.isa.sass.elf import MACHINE_CUDA, read_elf
from warpwatt.native.demangle import demangle

DEFAULT_OPTIONS = CompileOptions()
_FATBIN_MAGIC = b"\x50\xed\x55\xba"
_FATBIN_HEADER = struct.Struct("<4sHHQ")
_ELF_MAGIC = b"\x7fELF"
_EXTRACTED = re.compile(r"(?:\.(\d+))?\.sm_\w+\.(?:cubin|ptx)$")


@dataclass(frozen=True, slots=True)
class Contents:
    """Device code found in a file, in the order it stands there; each PTX text with its target."""

    cubins: tuple[Cubin, ...] = ()
    ptx: tuple[tuple[str, str], ...] = ()

    @property
    def targets(self) -> str:
        """What there is code for, such as ``sm_80, sm_90, PTX of compute_90``."""
        machine = dict.fromkeys(c.target for c in self.cubins)
        virtual = dict.fromkeys(f"PTX of {t.replace('sm_', 'compute_')}" for t, _ in self.ptx)
        return ", ".join((*machine, *virtual)) or "nothing"


def binary_entries(source: Source, target: str, options: CompileOptions) -> tuple[Entry, ...]:
    """Return the kernels of a compiled file as they would run on ``target``, not disassembled yet.

    Raises
    ------
    InputError, ParseError, ToolchainError
        As :func:`extract`.
    UnsupportedGpuError
        If the file holds no code that can run on the target.
    """
    contents = extract(source, options)
    number = target_number(target)
    exact = [c for c in contents.cubins if _number(c) == number and c.kernels]
    if exact:
        return _cubin_entries(exact, contents, source, target, options, ())
    compatible = [c for c in contents.cubins if _same_major(_number(c), number) and c.kernels]
    if compatible:
        best = max(map(_number, compatible))
        chosen = [c for c in compatible if _number(c) == best]
        warning = f"no machine code for {target}: that for sm_{best}, which the driver would run, is used"
        return _cubin_entries(chosen, contents, source, target, options, (warning,))
    virtual = [(t, text) for t, text in contents.ptx if target_number(t) <= number]
    if virtual:
        return _ptx_entries(virtual, source, target, options)
    raise UnsupportedGpuError(
        f"{source.name} has no code that runs on {target}: it holds {contents.targets}",
        hint=f"compile it with -gencode arch=compute_{number},code=[sm_{number},compute_{number}]",
    )


def extract(source: Source, options: CompileOptions = DEFAULT_OPTIONS) -> Contents:
    """Return the device code in a compiled file.

    Raises
    ------
    ParseError
        If the file is truncated or damaged.
    InputError
        If it holds no device code.
    ToolchainError
        If cuobjdump is missing.
    """
    if source.data.startswith(_ELF_MAGIC):
        try:
            if read_elf(source.data).machine == MACHINE_CUDA:
                return Contents((read_cubin(source.data),))
        except ParseError as error:
            raise _damaged(source, error.message) from error
    elif not source.data.startswith((_FATBIN_MAGIC, b"!<arch>\n")):
        raise InputError(
            "neither a cubin, nor a fatbin, nor an ELF file, nor a static library", file=source.name
        )
    return _dump(source, options)


def _dump(source: Source, options: CompileOptions) -> Contents:
    """Let cuobjdump write out what a fatbin or an ELF file embeds, and read that."""
    tool = toolchain.installed().require("cuobjdump")
    with tempfile.TemporaryDirectory(prefix="warpwatt-") as scratch:
        folder = Path(scratch)
        codes: list[bytes] = []
        texts: list[str] = []
        for number, (name, data) in enumerate(_parts(source.data)):
            part = folder / str(number)  # what lies in different fat binaries may have one name
            part.mkdir()
            (part / name).write_bytes(data)
            done = process.run(
                [tool, name, "-xelf", "all", "-xptx", "all"],
                cwd=part, timeout=options.timeout, memory=options.memory,
            )  # fmt: skip
            codes += [f.read_bytes() for f in _extracted(part, "cubin")]
            texts += [f.read_text("utf-8", "replace") for f in _extracted(part, "ptx")]
        message = done.messages.replace(scratch, "").strip()
    if not codes and not texts:
        if "does not contain device code" in message or not done.status:
            raise InputError(
                "the file holds no CUDA device code",
                file=source.name,
                hint="name the object, library or executable that was compiled with nvcc",
            )
        raise _damaged(source, message.splitlines()[-1] if message else "cuobjdump crashed")
    try:
        return Contents(tuple(map(read_cubin, codes)), tuple((_target_of(text), text) for text in texts))
    except ParseError as error:
        raise _damaged(source, error.message) from error


def _parts(data: bytes) -> list[tuple[str, bytes]]:
    """Return the fat binaries that stand one after the other, or the whole file, with names for cuobjdump.

    A fat binary begins with its magic number, a version, the bytes of its header and those behind it.
    """
    found = []
    while data.startswith(_FATBIN_MAGIC) and len(data) >= _FATBIN_HEADER.size:
        _, _, head, rest = _FATBIN_HEADER.unpack_from(data)
        found.append(("in.fatbin", data[: head + rest]))
        data = data[head + rest :]
    return found or [("in.elf", data)]


def _damaged(source: Source, reason: str) -> ParseError:
    """Return the error for a file that starts as a binary and does not go on as one."""
    return ParseError(
        f"the file is truncated or damaged ({reason.removeprefix('cuobjdump fatal   : ')})",
        file=source.name,
        hint="copy or compile it again",
    )


def _extracted(folder: Path, suffix: str) -> list[Path]:
    """Return the files that cuobjdump wrote, by their numbers; of a fatbin that names its source: none."""
    found = [(m[1], f) for f in folder.glob(f"*.{suffix}") if (m := _EXTRACTED.search(f.name))]
    return [file for _, file in sorted((int(number or 0), file) for number, file in found)]


def _target_of(text: str) -> str:
    """Return the target that a PTX text names; raises :class:`ParseError` if it names none."""
    target = ptx_target(text.encode())
    if not target:
        raise ParseError("embedded PTX without a .target directive")
    return target


def _number(cubin: Cubin) -> int:
    return target_number(cubin.target)


def _same_major(available: int, wanted: int) -> bool:
    """Return whether machine code for one architecture runs on another: same major version, not newer."""
    return available // 10 == wanted // 10 and available <= wanted


def _cubin_entries(
    cubins: Sequence[Cubin],
    contents: Contents,
    source: Source,
    target: str,
    options: CompileOptions,
    warnings: tuple[str, ...],
) -> tuple[Entry, ...]:
    """Return the kernels of cubins for one architecture; of equal names, the first stands."""
    texts = [text for t, text in contents.ptx if target_number(t) == _number(cubins[0])]
    found: dict[str, Entry] = {}
    for cubin in sorted(cubins, key=lambda one: one.relocatable):  # what is linked comes first
        sass = Disassembly(cubin.data, cubin.target, options)
        notes = warnings + ((_UNLINKED,) if cubin.relocatable else ())
        for kernel in cubin.kernels:
            make = partial(_kernel, kernel, cubin, sass, texts, source, target, notes)
            found.setdefault(kernel.name, Entry(kernel.name, demangle(kernel.name), make))
    return tuple(found.values())


_UNLINKED = "the object is not device-linked: registers and code of functions in other files are missing"


def _kernel(
    kernel: CubinKernel,
    cubin: Cubin,
    sass: Disassembly,
    texts: Sequence[str],
    source: Source,
    target: str,
    warnings: tuple[str, ...],
) -> Kernel:
    """Return one kernel of a cubin, with its PTX if the file embeds that for the same architecture."""
    machine, name = sass.program(kernel.name), demangle(kernel.name)
    return Kernel(
        name=kernel.name,
        demangled=name,
        target=target,
        resources=kernel.resources,
        ptx=_embedded_program(kernel.name, texts),
        sass=with_signature_types(machine, name) if machine is not None else None,
        source=source.path,
        toolkit=cubin.toolkit,
        warnings=(*warnings, *sass.warnings),
    )


def _embedded_program(name: str, texts: Sequence[str]) -> Program | None:
    """Return the PTX program of a kernel from the first text that has it, or None."""
    for text in texts:
        if name in text:
            module = ptx.parse(text)
            if name in ptx.entries(module):
                return ptx.lower(module, name)
    return None


def _ptx_entries(
    virtual: Sequence[tuple[str, str]], source: Source, target: str, options: CompileOptions
) -> tuple[Entry, ...]:
    """Return the kernels of the newest embedded PTX, compiled for the target as the driver would."""
    newest = max(target_number(t) for t, _ in virtual)
    choice = for_target(target, options.toolkit)
    warning = (
        f"no machine code for {target}: PTX of compute_{newest} is compiled with toolkit "
        f"{choice.toolkit.version}, the driver's compiler may differ"
    )
    choice = replace(choice, warnings=(*choice.warnings, warning))
    found: dict[str, Entry] = {}
    for name, text in virtual:
        if target_number(name) == newest:
            part = Source(source.name, text.encode(), source.path)
            for entry in compiled_entries(assemble_ptx(part, choice, options), part, target, choice, options):
                found.setdefault(entry.name, entry)
    return tuple(found.values())
