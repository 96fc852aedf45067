"""Our counters beside the measured ones, case by case."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from validation.counters_ours import COUNTERS
from warpwatt.core.errors import InputError, WarpWattError
from warpwatt.core.program import Level
from warpwatt.emulate.execution import execute
from warpwatt.emulate.workload import workload
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import find
from warpwatt.program.counting import static_execution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from validation.counters_cases import Case, Code
    from warpwatt.core.execution import Execution, Workload
    from warpwatt.core.launch import Launch
    from warpwatt.core.program import Kernel, Program

STAND_IN = "sm_75"
"""Older GPUs run the machine code of this target: the oldest one that the disassembler still reads."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """One counter of one case."""

    case: Case
    counter: str
    kind: str
    level: Level
    predicted: float
    measured: float

    @property
    def value(self) -> float:
        """Return predicted / measured."""
        return self.predicted / self.measured


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that we have no numbers for."""

    case: Case
    level: Level
    reason: str


def compare(
    cases: Iterable[Case], level: Level, executed: Callable[[Kernel, Level, Launch], Execution]
) -> Iterator[Ratio | Failure]:
    """Yield the ratios of every case at one level; ``executed`` says what a launch does."""
    for case in cases:
        try:
            yield from _ratios(case, level, executed)
        except WarpWattError as error:
            yield Failure(case, level, str(error))


def emulated(kernel: Kernel, level: Level, launch: Launch) -> Execution:
    """Return what running sampled blocks says."""
    return execute(_with_names(kernel, level), launch)


@lru_cache(maxsize=32)
def _with_names(kernel: Kernel, level: Level) -> Program:
    """Return the program of a level with the parameter names of PTX, which machine code lacks."""
    program = program_of(kernel, level)
    names = kernel.ptx.parameters if kernel.ptx is not None else ()
    if level is Level.PTX or len(names) != len(program.parameters):
        return program
    pairs = zip(program.parameters, names, strict=True)
    return replace(program, parameters=tuple(replace(n, name=p.name, offset=p.offset) for p, n in pairs))


def statically(kernel: Kernel, level: Level, launch: Launch) -> Execution:
    """Return what the analysis of the program says, without emulation."""
    return static_execution(program_of(kernel, level), launch)


def program_of(kernel: Kernel, level: Level) -> Program:
    """Return the kernel's program at a level.

    Raises
    ------
    InputError
        If it has none there.
    """
    program = kernel.ptx if level is Level.PTX else kernel.sass
    if program is None:
        raise InputError(f"{kernel.name} has no {level} for {kernel.target}")
    return program


def target_of(case: Case) -> str:
    """Return the target whose code stands for the GPU's."""
    target = find(case.gpu).target
    return target if int(target[3:]) >= int(STAND_IN[3:]) else STAND_IN


def _ratios(
    case: Case, level: Level, executed: Callable[[Kernel, Level, Launch], Execution]
) -> Iterator[Ratio]:
    gpu = find(case.gpu)
    kernel = compiled(case.code, target_of(case))
    executions = [executed(kernel, level, launch) for launch, _ in case.launches]
    times = [count for _, count in case.launches]
    works = [_workload(e, case, kernel) for e in executions]
    for counter in COUNTERS:
        measured = next((case.measured[c] for c in counter.columns if c in case.measured), 0.0)
        values = [
            counter.value(e, w, gpu.capability.version) for e, w in zip(executions, works, strict=True)
        ]
        known = [v * n for v, n in zip(values, times, strict=True) if v is not None]
        if len(known) == len(values) and measured:
            yield Ratio(case, counter.name, counter.kind, level, sum(known) / sum(times), measured)


def _workload(execution: Execution, case: Case, kernel: Kernel) -> Workload | None:
    return workload(execution, find(case.gpu), kernel.resources)


@lru_cache(maxsize=32)
def compiled(code: Code, target: str) -> Kernel:
    """Return a kernel with both levels."""
    options = CompileOptions(defines=code.defines, include=code.include)
    return load_kernel(code.source, target, options, code.kernel)
