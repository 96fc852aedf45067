"""Instruction counts by the types of the thesis: what Algorithm 9 collects, loops expanded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.program import Access, Flow, Space
from warpwatt.published.alavani.opclass import InstructionType, classify

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warpwatt.core.execution import Execution
    from warpwatt.core.program import Instruction


@dataclass(frozen=True, slots=True)
class Counts:
    """Instructions of one warp in one wave.

    ``static`` counts the program text by type without parameter loads, ``executed`` what runs, ``latency``
    its cycles (global memory excepted, whose latency depends on the launch). ``branches``, ``loads`` and
    ``stores`` (global memory) are executed; ``static_branches`` and ``static_params`` (``ld.param``) are in
    the text.
    """

    static: Mapping[InstructionType, int]
    executed: Mapping[InstructionType, float]
    latency: Mapping[InstructionType, float]
    branches: float
    loads: float
    stores: float
    static_branches: int
    static_params: int


def count(execution: Execution, latency: Callable[[str], float]) -> Counts:
    """Count the instructions of an execution's program; ``latency`` gives the cycles of an operation.

    Parameter loads run from constant memory: they are counted apart, in the text only.
    """
    instructions = execution.program.instructions
    static = dict.fromkeys(InstructionType, 0)
    executed = dict.fromkeys(InstructionType, 0.0)
    cycles = dict.fromkeys(InstructionType, 0.0)
    branches = loads = stores = 0.0
    for instruction, times in zip(instructions, repetitions(execution), strict=True):
        kind = classify(instruction)
        if is_param(instruction):
            continue
        static[kind.type] += 1
        executed[kind.type] += times
        if kind.type is InstructionType.GLOBAL:
            loads += 0.0 if is_store(instruction) else times
            stores += times if is_store(instruction) else 0.0
        else:
            cycles[kind.type] += times * latency(kind.operation)
        branches += times if is_branch(instruction) else 0.0
    return Counts(
        static,
        executed,
        cycles,
        branches=branches,
        loads=loads,
        stores=stores,
        static_branches=sum(map(is_branch, instructions)),
        static_params=sum(map(is_param, instructions)),
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
    """Whether it loads a parameter (``ld.param``)."""
    memory = instruction.memory
    return memory is not None and memory.space is Space.PARAM and memory.access is Access.LOAD


def is_store(instruction: Instruction) -> bool:
    """Whether it writes memory without reading it back."""
    return instruction.memory is not None and instruction.memory.access in (Access.STORE, Access.REDUCTION)
