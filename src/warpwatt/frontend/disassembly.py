"""SASS programs of a cubin: by our tables or, where these do not suffice, through nvdisasm."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from warpwatt.core.errors import ParseError, ToolchainError
from warpwatt.core.program import Level, Program
from warpwatt.frontend import toolchain
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.toolkits import target_number
from warpwatt.storage.cache import default_cache, digest

OLDEST_TARGET = 70
"""The oldest target whose SASS is read: words of Maxwell and Pascal are others."""
_TURING = 75
"""The oldest target that nvdisasm 13 reads; Volta's words are among its words."""


@dataclass(eq=False)
class Disassembly:
    """The SASS of a cubin, read from its words; nvdisasm is asked for all of it where a word is not known.

    ``warnings`` says why there is no SASS where there is none. Empty ``cubin``: no SASS and no warning.
    """

    cubin: bytes
    target: str
    options: CompileOptions
    warnings: tuple[str, ...] = ()
    asked: bool = field(default=False, init=False)
    """Whether nvdisasm, or what is kept of its answers, was needed."""
    _text: bytes | None = field(default=None, init=False, repr=False)
    _programs: dict[str, Program] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.cubin or Level.SASS not in self.options.levels:
            self.cubin = b""
        elif target_number(self.target) < OLDEST_TARGET:
            self.cubin = b""
            self._refuse(f"that of {self.target} cannot be read")

    def program(self, name: str) -> Program | None:
        """Return a kernel's SASS; None, with a warning, where nvdisasm is needed, but missing, or fails.

        The first call translates only that kernel, a call for another one all of them.
        """
        if self.cubin and name not in self._programs:
            try:
                self._translate(None if self._programs else name)
            except (ParseError, ToolchainError) as error:
                self.cubin = b""
                self._refuse(error.message)
        return self._programs.get(name)

    def _translate(self, name: str | None) -> None:
        from warpwatt.isa import sass

        cubin = sass.read_cubin(self.cubin)
        chosen = tuple(kernel for kernel in cubin.kernels if name in (None, kernel.name))
        self._programs |= sass.known_programs(replace(cubin, kernels=chosen))
        if unknown := tuple(kernel for kernel in chosen if kernel.name not in self._programs):
            self._programs |= sass.programs(replace(cubin, kernels=unknown), self._listing())

    def _listing(self) -> bytes:
        """Return what nvdisasm prints for the cubin, or printed for the same one before."""
        self.asked = True
        if self._text is None:
            toolkit = toolchain.installed()
            key = digest(b"nvdisasm -json", toolkit.version.encode(), self.cubin)
            self._text = default_cache().get(key) if self.options.cached else None
            if self._text is None:
                self._text = disassemble(self._readable(), toolkit.require("nvdisasm"), self.options)
                if self.options.cached:
                    default_cache().put(key, self._text)
        return self._text

    def _readable(self) -> bytes:
        from warpwatt.isa.sass import with_architecture

        older = target_number(self.target) < _TURING
        return with_architecture(self.cubin, _TURING) if older else self.cubin

    def _refuse(self, reason: str) -> None:
        self.warnings = (*self.warnings, f"no SASS: {reason}")


def disassemble(cubin: bytes, tool: Path, options: CompileOptions) -> bytes:
    """Return what ``nvdisasm -json`` prints for a cubin.

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
        outcome = process.run([tool, "-json", file], timeout=options.timeout, memory=options.memory)
    if outcome.status:
        lines = outcome.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise ToolchainError(f"nvdisasm fails: {lines[-1]}", hint="use --level ptx")
    return outcome.stdout
