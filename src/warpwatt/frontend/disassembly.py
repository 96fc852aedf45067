"""SASS programs of a cubin: by our tables or, where these do not suffice, through nvdisasm."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import ParseError, ToolchainError
from warpwatt.core.program import Level, Program
from warpwatt.frontend import toolchain
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.toolkits import target_number
from warpwatt.storage.cache import default_cache, digest

if TYPE_CHECKING:
    from warpwatt.isa.sass import Cubin

OLDEST_TARGET = 70
"""The oldest target whose SASS is read: words of Maxwell and Pascal are others."""
_TURING = 75
"""The oldest target that nvdisasm 13 reads; Volta's words are among its words."""


@dataclass(eq=False)
class Disassembly:
    """The SASS of a cubin, read from its words; nvdisasm is asked for a kernel where a word is not known.

    ``warnings`` says why there is no SASS where there is none. Empty ``data``: no SASS and no warning.
    """

    data: bytes = field(repr=False)
    target: str
    options: CompileOptions
    warnings: tuple[str, ...] = ()
    asked: bool = field(default=False, init=False)
    """Whether nvdisasm, or what is kept of its answers, was needed."""
    _programs: dict[str, Program] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.data and Level.SASS in self.options.levels and target_number(self.target) < OLDEST_TARGET:
            self._refuse(f"that of {self.target} cannot be read")

    @cached_property
    def cubin(self) -> Cubin:
        """The cubin that is read; raises :class:`ParseError`."""
        from warpwatt.isa import sass

        return sass.read_cubin(self.data)

    def program(self, name: str) -> Program | None:
        """Return a kernel's SASS; None, with a warning, where nvdisasm is needed, but missing, or fails."""
        readable = self.data and Level.SASS in self.options.levels and not self.warnings
        if readable and name not in self._programs:
            try:
                self._translate(name)
            except (ParseError, ToolchainError) as error:
                self._refuse(error.message)
        return self._programs.get(name)

    def _translate(self, name: str) -> None:
        from warpwatt.isa import sass

        if name in self.cubin.names:
            known = sass.known_program(self.cubin.kernel(name), self.cubin.target)
            found = {name: known} if known else sass.programs(self.cubin, self._listing(name), [name])
            self._programs |= found

    def _listing(self, name: str) -> bytes:
        """Return what nvdisasm prints for a kernel of the cubin, or printed for the same one before."""
        self.asked = True
        toolkit, index = toolchain.installed(), self.cubin.names[name]
        key = digest(b"nvdisasm -json -fun", toolkit.version.encode(), str(index).encode(), self.data)
        text = default_cache().get(key) if self.options.cached else None
        if text is None:
            text = disassemble(self._readable(), toolkit.require("nvdisasm"), self.options, index)
            if self.options.cached:
                default_cache().put(key, text)
        return text

    def _readable(self) -> bytes:
        from warpwatt.isa.sass import with_architecture

        older = target_number(self.target) < _TURING
        return with_architecture(self.data, _TURING) if older else self.data

    def _refuse(self, reason: str) -> None:
        self.warnings = (*self.warnings, f"no SASS: {reason}")


def disassemble(cubin: bytes, tool: Path, options: CompileOptions, symbol: int) -> bytes:
    """Return what ``nvdisasm -json`` prints for the kernel of a cubin that a symbol names.

    Raises
    ------
    ToolchainError
        If nvdisasm runs out of time or refuses the cubin.
    """
    # Imported here because a warm run, which must start fast, does not need them.
    import tempfile
    from pathlib import Path

    from warpwatt.frontend import process

    with tempfile.TemporaryDirectory(prefix="warpwatt-") as scratch:
        file = Path(scratch) / "in.cubin"
        file.write_bytes(cubin)
        outcome = process.run(
            [tool, "-json", "-fun", str(symbol), file], timeout=options.timeout, memory=options.memory
        )
    if outcome.status:
        lines = outcome.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise ToolchainError(f"nvdisasm fails: {lines[-1]}", hint="use --level ptx")
    return outcome.stdout
