"""PTX to cubin with ptxas, and its report of resources."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import CompileError, ToolchainError
from warpwatt.frontend import process
from warpwatt.frontend.messages import compile_error
from warpwatt.frontend.resources import read_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.core.program import Resources
    from warpwatt.frontend.options import CompileOptions
    from warpwatt.frontend.toolchain import Toolkit


@dataclass(frozen=True, slots=True)
class Assembled:
    """What ptxas made: an empty cubin and no resources where it refused, with the reason in ``warnings``."""

    cubin: bytes = b""
    resources: Mapping[str, Resources] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def assemble(
    ptx: str, target: str, toolkit: Toolkit, options: CompileOptions, *, file: str = ""
) -> Assembled:
    """Assemble PTX for a target.

    Raises
    ------
    CompileError
        If ptxas refuses; ``file`` is shown as the place.
    ToolchainError
        If ptxas is missing or runs out of time.
    """
    with tempfile.TemporaryDirectory(prefix="warpwatt-") as name:
        scratch = Path(name)
        (scratch / "in.ptx").write_text(ptx)
        limit = [] if options.max_registers is None else [f"-maxrregcount={options.max_registers}"]
        command: list[str | Path] = [toolkit.require("ptxas"), "-v", "-lineinfo", f"-arch={target}", *limit]
        command += ["in.ptx", "-o", "out.cubin"]
        outcome = process.run(command, cwd=scratch, timeout=options.timeout, memory=options.memory)
        if outcome.status:
            messages = outcome.messages.replace("in.ptx", file or "in.ptx")
            raise compile_error(messages, "ptxas", target, file=file)
        return Assembled((scratch / "out.cubin").read_bytes(), read_report(outcome.messages, ptx))


def try_assemble(
    ptx: str, target: str, toolkit: Toolkit, options: CompileOptions, *, file: str = ""
) -> Assembled:
    """Assemble PTX if this toolkit can; otherwise return nothing but a warning that says why."""
    try:
        return assemble(ptx, target, toolkit, options, file=file)
    except (CompileError, ToolchainError) as error:
        return Assembled(warnings=(f"not assembled for {target}, registers are assumed: {error.message}",))
