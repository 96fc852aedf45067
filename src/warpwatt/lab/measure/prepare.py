"""Compile the corpus ahead, where the compilers are.

The result: :mod:`~warpwatt.lab.measure.prepared`. The machine code is what a prediction looks at: same
compiler, same flags.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpwatt.core.errors import InputError
from warpwatt.core.program import Level
from warpwatt.frontend.compilation import compile_cuda
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.load import load
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.source import read_source
from warpwatt.frontend.toolkits import for_target, target_number
from warpwatt.lab.measure.choice import PointChoice, needed_probes, needed_programs
from warpwatt.lab.measure.microbench import machine_code
from warpwatt.lab.measure.prepared import EMPTY, FORMAT, INDEX, digest

if TYPE_CHECKING:
    from warpwatt.lab.measure.corpus import Corpus

EMPTY_SOURCE = f'extern "C" __global__ void {EMPTY}() {{}}\n'


@dataclass(slots=True)
class _Folder:
    """A prepared folder in the making."""

    path: Path
    target: str
    toolkit: str = ""
    programs: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, name: str, source: Source) -> None:
        """Compile a source and write its cubin."""
        options = CompileOptions(levels=frozenset({Level.PTX}))
        compiled = compile_cuda(source, for_target(self.target, options.toolkit), options)
        kernels = {k.name: k.ptx.parameters for k in load(source, self.target, options) if k.ptx is not None}
        file = f"{name}.cubin"
        (self.path / file).write_bytes(compiled.cubin)
        self.toolkit = compiled.toolkit
        self.programs[name] = {
            "cubin": file,
            "digest": digest(compiled.cubin),
            "source": digest(source.data),
            "kernels": {kernel: [asdict(p) for p in listed] for kernel, listed in kernels.items()},
        }

    def skip(self, name: str, source: Source) -> None:
        """Note a program that the target cannot run."""
        self.programs[name] = {"cubin": "", "digest": "", "source": digest(source.data), "kernels": {}}

    def write_index(self) -> None:
        """Write the index, last: a folder without one is not prepared."""
        index = {
            "format": FORMAT,
            "target": self.target,
            "toolkit": self.toolkit,
            "programs": dict(sorted(self.programs.items())),
        }
        text = json.dumps(index, indent=1) + "\n"
        (self.path / INDEX).write_text(text, encoding="utf-8")


def prepare(
    corpus: Corpus,
    folder: Path,
    target: str,
    report: Callable[[str], object] | None = None,
    choice: PointChoice | None = None,
) -> int:
    """Compile every program that the target can run, and the microbenchmarks; return how many programs.

    Parameters
    ----------
    folder
        Is made; files in it are replaced.
    target
        Such as ``sm_90``.
    report
        Called with each program's name before it is compiled.
    choice
        Which points the folder is for; None: all. What none of them needs is left out.

    Raises
    ------
    InputError
        If the folder cannot be written or holds something else.
    CompileError, ToolchainError
        As :func:`~warpwatt.frontend.load.load`.
    """
    number = target_number(target)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / INDEX).is_file():
        raise InputError("the folder holds something else", file=folder, hint="name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / INDEX).unlink(missing_ok=True)
    result = _Folder(folder, target)
    result.add(EMPTY, Source("<empty>", EMPTY_SOURCE.encode()))
    choice = choice or PointChoice()
    for program in needed_programs(corpus, choice):
        if report is not None:
            report(program.name)
        source = read_source(program.source)
        if target_number(program.least_target) <= number:
            result.add(program.name, source)
        else:
            result.skip(program.name, source)
    machine_code.write_prepared(folder, target, needed_probes(target, choice))
    result.write_index()
    return sum(bool(entry["cubin"]) for entry in result.programs.values()) - 1
