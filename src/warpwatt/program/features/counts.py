"""Instruction counts by the types of the thesis: what Algorithm 9 collects, loops expanded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.program import Access, Flow, Space
from warpwatt.program.opclass import InstructionType, classify

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warpwatt.core.execution import Execution
    from warpwatt.core.program import Instruction, Program


@dataclass(frozen=True, slots=True)
class Counts:
    """Instructions of one warp in one wave.

    ``static`` counts the program text by type, ``executed`` what runs, ``latency`` its cycles (global
    memory excepted, whose latency depends on the launch). ``branches``, ``loads`` and ``stores`` (global
    memory) are executed; ``static_branches`` and ``static_params`` (``ld.param``) are in the text.
    """

    static: Mapping[InstructionType, int]
    executed: Mapping[InstructionType, float]
    latency: Mapping[InstructionType, float]
    branches: float
    loads: float
    stores: float
    static_branches: int
    static_params: int


def count(program: Program, execution: Execution, latency: Callable[[str], float]) -> Counts:
    """Count a program's instructions; ``latency`` gives the cycles of an operation of ``opclass``."""
    repeats = repetitions(execution)
    static = dict.fromkeys(InstructionType, 0)
    executed = dict.fromkeys(InstructionType, 0.0)
    cycles = dict.fromkeys(InstructionType, 0.0)
    for instruction, times in zip(program.instructions, repeats, strict=True):
        kind = classify(instruction)
        static[kind.type] += 1
        executed[kind.type] += 0.0 if is_param(instruction) else times
        if kind.type is not InstructionType.GLOBAL and not is_param(instruction):
            cycles[kind.type] += times * latency(kind.operation)
    pairs = tuple(zip(program.instructions, repeats, strict=True))
    return Counts(
        static,
        executed,
        cycles,
        branches=sum(times for i, times in pairs if is_branch(i)),
        loads=sum(times for i, times in pairs if is_global(i) and not is_store(i)),
        stores=sum(times for i, times in pairs if is_global(i) and is_store(i)),
        static_branches=sum(is_branch(i) for i in program.instructions),
        static_params=sum(is_param(i) for i in program.instructions),
    )


def repetitions(execution: Execution) -> tuple[float, ...]:
    """Return how often a warp executes each instruction, at least once.

    The thesis counts a block once, however few threads reach it, and times its trip count in a loop.
    """
    warps = execution.launch.warps
    return tuple(max(1.0, times / warps) for times in execution.counts)


def is_branch(instruction: Instruction) -> bool:
    """Whether it jumps; returns and barriers do not count (one branch in the thesis' nn kernel)."""
    return instruction.flow is Flow.JUMP


def is_param(instruction: Instruction) -> bool:
    """Whether it loads a kernel parameter."""
    return instruction.memory is not None and instruction.memory.space is Space.PARAM


def is_global(instruction: Instruction) -> bool:
    """Whether it is a global memory instruction of the thesis."""
    return classify(instruction).type is InstructionType.GLOBAL


def is_store(instruction: Instruction) -> bool:
    """Whether it writes memory without reading it back."""
    return instruction.memory is not None and instruction.memory.access in (Access.STORE, Access.REDUCTION)
