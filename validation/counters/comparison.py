"""Our counters beside the measured ones, case by case."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from validation.counters import quads as counters_quads
from validation.counters.ours import COUNTERS, GLOBAL, READ
from warpwatt.core.arguments import Buffer
from warpwatt.core.errors import InputError, MemoryFaultError, WarpWattError
from warpwatt.core.program import Level
from warpwatt.emulate.first_execution import execute
from warpwatt.emulate.run import Limits
from warpwatt.emulate.workload import workload
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import find
from warpwatt.program.counting import static_execution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from validation.counters.cases import Case, Code
    from validation.counters.ours import Counter
    from warpwatt.core.execution import Execution
    from warpwatt.core.gpu import Gpu
    from warpwatt.core.launch import Launch
    from warpwatt.core.program import Kernel, Program

LIMITS = Limits(warp_instructions=60_000_000)
"""More than the default: one block of a histogram over 256 MB takes 20 million."""
NOISE = 0.05
STAND_IN = "sm_75"
"""Older GPUs run the machine code of this target: the oldest one that the disassembler still reads."""

_executions: dict[tuple[Kernel, Level, Launch], Execution] = {}
_passes: dict[tuple[Kernel, Level, Launch], float] = {}


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
    """Return what running sampled blocks says; analysis alone where the kernel reads out of bounds."""
    key = (kernel, level, launch)
    if key not in _executions:
        try:
            _executions[key] = execute(_with_names(kernel, level), launch, limits=LIMITS)
        except MemoryFaultError:
            if level is not Level.PTX:
                raise
            _executions[key] = statically(kernel, level, launch)
    return _executions[key]


@lru_cache(maxsize=32)
def _with_names(kernel: Kernel, level: Level) -> Program:
    """Return the program of a level with the parameter names of PTX, which machine code lacks."""
    program = program_of(kernel, level)
    names = kernel.ptx.parameters if kernel.ptx is not None else ()
    if level is Level.PTX or len(names) != len(program.parameters):
        return program
    pairs = zip(program.parameters, names, strict=True)
    return replace(program, parameters=tuple(replace(n, name=p.name, offset=p.offset) for p, n in pairs))


def forget() -> None:
    """Drop the executions that are kept because GPUs share them."""
    _executions.clear()
    _passes.clear()


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
    works = [workload(e, gpu, kernel.resources) for e in executions]
    for counter in COUNTERS:
        measured = next((case.measured[c] for c in counter.columns if c in case.measured), 0.0)
        if not measured or not _meaningful(counter, measured, case, gpu):
            continue
        values = [counter.value(e, w, gpu.capability.version) for e, w in zip(executions, works, strict=True)]
        known = [v * n for v, n in zip(values, times, strict=True) if v is not None]
        if len(known) == len(values):
            yield Ratio(case, counter.name, counter.kind, level, sum(known) / sum(times), measured)


def _meaningful(counter: Counter, measured: float, case: Case, gpu: Gpu) -> bool:
    """Return whether a measured value is more than noise.

    DRAM: the launch must reach more than twice what L2 holds, or what ran before decides. Off chip, the side
    (read or written) must be a twentieth of both.
    """
    if counter.kind == "DRAM" and _reached(case.launches[0][0]) < 2 * gpu.l2_size:
        return False
    if counter.kind not in ("DRAM", "L2"):
        return True
    sides = [c for c in COUNTERS if c.kind == counter.kind and c.name.startswith(f"{counter.kind} sectors ")]
    both = sum(next((case.measured[c] for c in s.columns if c in case.measured), 0.0) for s in sides)
    return measured >= NOISE * both


def _reached(launch: Launch) -> int:
    return sum(a.nbytes for a in launch.arguments.values() if isinstance(a, Buffer))


def quads(cases: Iterable[Case]) -> Iterator[Ratio]:
    """Yield the load transactions of Maxwell and Pascal, by the rule of :mod:`validation.counters.quads`."""
    for case in cases:
        measured = case.measured.get("gld_transactions", 0.0)
        if not measured or find(case.gpu).capability.version[0] not in "56":
            continue
        kernel = compiled(case.code, target_of(case))
        try:
            found = [(counted(kernel, launch), count) for launch, count in case.launches]
        except WarpWattError:
            continue
        predicted = sum(v * n for v, n in found) / sum(n for _, n in found)
        yield Ratio(case, "global load transactions", "transactions", Level.PTX, predicted, measured)


def counted(kernel: Kernel, launch: Launch) -> float:
    """Return the passes of groups of eight lanes over all global loads of a launch."""
    key = (kernel, Level.PTX, launch)
    if key not in _passes:
        execution = execute(program_of(kernel, Level.PTX), launch, engine=counters_quads.run)
        _passes[key] = sum(
            execution.counts[i] * pattern.l1_passes
            for i, pattern in execution.accesses.items()
            if (memory := execution.program.instructions[i].memory) is not None
            and memory.space in GLOBAL
            and memory.access in READ
        )
    return _passes[key]


@lru_cache(maxsize=32)
def compiled(code: Code, target: str) -> Kernel:
    """Return a kernel with both levels."""
    options = CompileOptions(defines=code.defines, include=code.include, flags=code.flags)
    return load_kernel(code.source, target, options, code.kernel)
