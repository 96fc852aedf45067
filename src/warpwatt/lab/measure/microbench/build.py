"""Probes to machine code: all probes of a target in one module, through the compilers' cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.errors import ToolchainError
from warpwatt.core.program import Level
from warpwatt.frontend.compilation import assemble_ptx
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.disassembly import Disassembly
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.toolkits import for_target, target_number
from warpwatt.lab.measure.microbench import ptx, suite
from warpwatt.lab.measure.microbench.placing import CUBIN, TOOLKIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from warpwatt.core.program import Program
    from warpwatt.frontend.compiled import Compiled
    from warpwatt.lab.measure.microbench.model import Probe

TARGETS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
"""Targets that every probe is checked for."""


def compile_probes(probes: Iterable[Probe], target: str, *, cached: bool = True) -> Compiled:
    """Return the machine code of a module that holds the probes.

    Raises
    ------
    ToolchainError
        If a compiler is missing or refuses the generated text; the message holds ptxas's own.
    """
    text = ptx.module(target, [probe.source for probe in probes])
    options = CompileOptions(levels=frozenset({Level.PTX}), cached=cached)
    made = assemble_ptx(Source("<microbenchmarks>", text.encode()), for_target(target), options)
    if not made.cubin:
        raise ToolchainError("the microbenchmarks do not assemble", details="\n".join(made.warnings))
    return made


def disassemble_probes(probes: Iterable[Probe], target: str) -> Mapping[str, Program]:
    """Return the SASS program of each probe by its name.

    Raises
    ------
    ToolchainError
        As :func:`compile_probes`, or if nvdisasm fails.
    """
    chosen = tuple(probes)
    code = compile_probes(chosen, target).cubin
    disassembly = Disassembly(code, target, CompileOptions(levels=frozenset({Level.SASS})))
    found = {probe.name: disassembly.program(probe.name) for probe in chosen}
    if missing := [name for name, program in found.items() if program is None]:
        reasons = "\n".join(disassembly.warnings)
        raise ToolchainError(f"no machine code of {', '.join(missing[:3])}", details=reasons)
    return {name: program for name, program in found.items() if program is not None}


def compile_for(target: str) -> Compiled:
    """Return the machine code of every probe that exists on a target; raises as :func:`compile_probes`."""
    return compile_probes([p for p in suite.probes() if p.exists_on(target_number(target))], target)


def write(folder: Path, target: str) -> None:
    """Compile all probes of a target into a prepared folder; raises as :func:`compile_probes`."""
    made = compile_for(target)
    (folder / CUBIN).write_bytes(made.cubin)
    (folder / TOOLKIT).write_text(f"{made.toolkit}\n", encoding="utf-8")
