"""PTX to cubin with ptxas, and its report of resources."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from warpwatt.core.errors import CompileError, ToolchainError
from warpwatt.core.program import Resources
from warpwatt.frontend import process
from warpwatt.frontend.compiled import Compiled
from warpwatt.frontend.messages import compile_error
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.pressure import max_threads
from warpwatt.frontend.toolchain import Toolkit

_ENTRY = re.compile(r"Compiling entry function '([^']+)' for")
_PROPERTIES = re.compile(r"Function properties for '?([^'\s]+)")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")


def assemble(ptx: str, target: str, toolkit: Toolkit, options: CompileOptions, *, file: str = "") -> Compiled:
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
        cubin = (scratch / "out.cubin").read_bytes()
        return Compiled(target, toolkit.version, ptx, cubin, read_report(outcome.messages, ptx))


def try_assemble(
    ptx: str, target: str, toolkit: Toolkit, options: CompileOptions, *, file: str = ""
) -> Compiled:
    """Assemble PTX if this toolkit can; otherwise return it with a warning that says why."""
    try:
        return assemble(ptx, target, toolkit, options, file=file)
    except (CompileError, ToolchainError) as error:
        warning = f"not assembled for {target}, registers are assumed: {error.message}"
        return Compiled(target, toolkit.version, ptx, warnings=(warning,))


def read_report(report: str, ptx: str = "") -> dict[str, Resources]:
    """Return the resources of every entry that ``ptxas -v`` reports.

    ``ptx`` adds ``max_threads``, which ptxas does not print.

    >>> text = '''ptxas info    : Compiling entry function 'f' for 'sm_90'
    ... ptxas info    : Function properties for f
    ...     8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
    ... ptxas info    : Used 10 registers, used 1 barriers, 1024 bytes smem, 380 bytes cmem[0]'''
    >>> read_report(text)["f"]
    Resources(registers=10, static_shared=1024, local=8, spill_stores=4, spill_loads=12,
              constant=380, barriers=1, max_threads=None, assumed=False)
    """
    limits = max_threads(ptx)
    return {name: _resources(name, lines, limits.get(name)) for name, lines in _sections(report)}


def _sections(report: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each entry's name and its lines of the report."""
    name, lines = "", list[str]()
    for line in report.splitlines():
        if entry := _ENTRY.search(line):
            if name:
                yield name, lines
            name, lines = entry[1], []
        lines.append(line)
    if name:
        yield name, lines


def _resources(name: str, lines: list[str], limit: int | None) -> Resources:
    frame, owner, used = (0, 0, 0), "", ""
    for line in lines:
        if found := _PROPERTIES.search(line):
            owner = found[1]
        elif (found := _FRAME.search(line)) and owner == name:
            frame = (int(found[1]), int(found[2]), int(found[3]))
        elif _REGISTERS.search(line) and not used:
            used = line
    registers = _REGISTERS.search(used)
    return Resources(
        registers=int(registers[1]) if registers else 0,
        static_shared=_amount(used, r"(\d+) bytes smem"),
        local=max(frame[0], _amount(used, r"(\d+) bytes cumulative stack size")),
        spill_stores=frame[1],
        spill_loads=frame[2],
        constant=sum(int(size) for size in re.findall(r"(\d+) bytes cmem\[\d+\]", used)),
        barriers=_amount(used, r"used (\d+) barriers"),
        max_threads=limit,
        assumed=registers is None,
    )


def _amount(line: str, pattern: str) -> int:
    found = re.search(pattern, line)
    return int(found[1]) if found else 0
