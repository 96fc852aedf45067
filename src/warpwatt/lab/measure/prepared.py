"""Compiled programs in a folder, ready for a machine that has a GPU and no compiler.

``prepared.json`` beside the cubins says for each program where its machine code lies, how each kernel's
parameters are passed, and what was compiled. Reading it needs nothing but the standard library.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from warpwatt.core.arguments import Buffer
from warpwatt.core.errors import InputError, ParseError
from warpwatt.core.program import Parameter

if TYPE_CHECKING:
    from warpwatt.lab.measure.corpus import CorpusProgram

INDEX = "prepared.json"
FORMAT = 1
EMPTY = "empty_kernel"
"""Name of the kernel that does nothing, whose time is the floor of every other."""


def digest(data: bytes) -> str:
    """Return the first 16 hexadecimal digits of a SHA-256."""
    return sha256(data).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Code:
    """Machine code of a program: ``parameters`` by kernel, in order; ``digest`` identifies the cubin."""

    cubin: bytes
    digest: str
    toolkit: str
    parameters: Mapping[str, tuple[Parameter, ...]]


class Codes(Protocol):
    """Where machine code comes from."""

    def has(self, program: CorpusProgram) -> bool:
        """Return whether a program is there at all, for whatever target."""

    def code(self, program: CorpusProgram) -> Code | None:
        """Return a program's machine code; None where the target cannot run it."""

    def empty(self) -> Code | None:
        """Return the kernel that does nothing, or None."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prepared folder for one target."""

    folder: Path
    target: str
    toolkit: str
    programs: Mapping[str, Mapping[str, Any]]

    @classmethod
    def read(cls, folder: Path) -> Prepared:
        """Read the index.

        Raises
        ------
        InputError
            If the folder was not prepared.
        ParseError
            If its index is damaged or of another version.
        """
        file = folder / INDEX
        hint = "write it with: warpwatt measure --prepare DIR --target sm_90"
        try:
            index = json.loads(file.read_text(encoding="utf-8"))
        except OSError:
            raise InputError("no prepared programs here", file=folder, hint=hint) from None
        except ValueError as error:
            raise ParseError(f"not JSON: {error}", file=file, hint=hint) from None
        if not isinstance(index, dict) or index.get("format") != FORMAT:
            raise ParseError("written by another version", file=file, hint=hint)
        return cls(folder, index["target"], index["toolkit"], index["programs"])

    def has(self, program: CorpusProgram) -> bool:
        """Return whether the folder was prepared for a program."""
        return program.name in self.programs

    def code(self, program: CorpusProgram) -> Code | None:
        """Return a program's machine code; None where it was not compiled for this target.

        Raises
        ------
        InputError
            If the program is not in the folder, or its source has changed since.
        """
        entry = self.programs.get(program.name)
        hint = "prepare the folder again"
        if entry is None:
            raise InputError(f"program {program.name!r} is not prepared", file=self.folder, hint=hint)
        if entry["source"] != digest(program.source.read_bytes()):
            raise InputError(f"{program.source.name} has changed since", file=self.folder, hint=hint)
        return self._code(program.name) if entry["cubin"] else None

    def empty(self) -> Code | None:
        """Return the kernel that does nothing, if the folder has it."""
        return self._code(EMPTY) if EMPTY in self.programs else None

    def _code(self, name: str) -> Code:
        entry = self.programs[name]
        cubin = (self.folder / entry["cubin"]).read_bytes()
        if digest(cubin) != entry["digest"]:
            raise ParseError("damaged: its digest is not the index's", file=self.folder / entry["cubin"])
        parameters = {
            kernel: tuple(Parameter(**fields) for fields in listed)
            for kernel, listed in entry["kernels"].items()
        }
        return Code(cubin, entry["digest"], self.toolkit, parameters)


class Unprepared:
    """Stands in for machine code in a simulation: nothing is compiled, parameters are guessed."""

    def has(self, program: CorpusProgram) -> bool:
        """Return that it is there: a name is enough."""
        del program
        return True

    def code(self, program: CorpusProgram) -> Code:
        """Return the program's name as its code."""
        kernels = {one.kernel: one.launch for size in program.sizes for one in size.launches}
        parameters = {
            kernel: tuple(_guess(name, value) for name, value in launch.arguments.items())
            for kernel, launch in kernels.items()
        }
        return Code(program.name.encode(), digest(program.name.encode()), "none", parameters)

    def empty(self) -> Code:
        """Return a kernel that does nothing."""
        return Code(EMPTY.encode(), digest(EMPTY.encode()), "none", {EMPTY: ()})


def _guess(name: str, value: object) -> Parameter:
    if isinstance(value, Buffer):
        return Parameter(name, "u64", 8, 8, pointer=True, source_name=name)
    kind = "f32" if isinstance(getattr(value, "value", None), float) else "u32"
    return Parameter(name, kind, 4, 4, source_name=name)
