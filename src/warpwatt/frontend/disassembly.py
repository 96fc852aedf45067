"""SASS programs of a cubin through nvdisasm, run beside the other work and cached."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import ParseError, ToolchainError
from warpwatt.core.program import Level
from warpwatt.frontend import process, toolchain
from warpwatt.frontend.cache import digest
from warpwatt.frontend.compilation import cached_bytes
from warpwatt.frontend.toolkits import target_number

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Future

    from warpwatt.core.program import Program
    from warpwatt.frontend.options import CompileOptions

OLDEST_TARGET = 75
"""nvdisasm 13 refuses SASS of older targets."""


@dataclass(eq=False)
class Disassembly:
    """The SASS of a cubin; nvdisasm (a third of a second) starts at once, its result is awaited when needed.

    ``warnings`` says why there is no SASS where there is none. Empty ``cubin``: no SASS and no warning.
    """

    cubin: bytes
    target: str
    options: CompileOptions
    warnings: tuple[str, ...] = ()
    _running: Future[bytes] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.cubin or Level.SASS not in self.options.levels:
            return
        if target_number(self.target) < OLDEST_TARGET:
            self.warnings = (f"no SASS: nvdisasm does not know {self.target}",)
            return
        pool = ThreadPoolExecutor(1)
        self._running = pool.submit(disassemble, self.cubin, self.options)
        pool.shutdown(wait=False)

    @cached_property
    def programs(self) -> Mapping[str, Program]:
        """SASS programs by kernel; empty, with a warning, where nvdisasm is missing or fails."""
        if self._running is None:
            return {}
        from warpwatt.isa import sass  # noqa: PLC0415 - a prediction from PTX alone does without

        try:
            return sass.programs(sass.read_cubin(self.cubin), self._running.result())
        except (ToolchainError, ParseError) as error:
            self.warnings = (*self.warnings, f"no SASS: {error.message}")
            return {}


def disassemble(cubin: bytes, options: CompileOptions) -> bytes:
    """Return what ``nvdisasm -json`` prints for a cubin.

    Raises
    ------
    ToolchainError
        If nvdisasm is missing, runs out of time or refuses the cubin.
    """
    toolkit = toolchain.installed()
    tool = toolkit.require("nvdisasm")

    def make() -> bytes:
        with tempfile.TemporaryDirectory(prefix="warpwatt-") as scratch:
            file = Path(scratch) / "in.cubin"
            file.write_bytes(cubin)
            outcome = process.run([tool, "-json", file], timeout=options.timeout, memory=options.memory)
        if outcome.status:
            lines = outcome.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
            raise ToolchainError(f"nvdisasm {toolkit.version} fails: {lines[-1]}", hint="use --level ptx")
        return outcome.stdout

    return cached_bytes(digest(b"nvdisasm -json", toolkit.version.encode(), cubin), options, make)
