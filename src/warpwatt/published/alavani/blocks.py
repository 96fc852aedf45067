"""From a case to the graphs the thesis' algorithms run on: blocks, data dependences, executions per warp."""

from __future__ import annotations

from dataclasses import dataclass

from warpwatt.core.case import Case
from warpwatt.program.cfg import control_flow
from warpwatt.program.dataflow import block_graph
from warpwatt.published.alavani.opclass import InstructionType, OpClass, classify


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A basic block: indices of its instructions, their classes and dependences, and where control goes.

    ``predecessors[i]`` are positions in ``instructions``. ``executions`` is how often a warp runs the block.
    """

    instructions: tuple[int, ...]
    classes: tuple[OpClass, ...]
    predecessors: tuple[tuple[int, ...], ...]
    successors: tuple[int, ...]
    executions: float


@dataclass(frozen=True, slots=True)
class Code:
    """The program of a case as blocks, entry first, and its executions per warp.

    ``per_warp`` holds one number per instruction of the program.
    """

    blocks: tuple[CodeBlock, ...]
    classes: tuple[OpClass, ...]
    per_warp: tuple[float, ...]

    def count(self, type_: InstructionType) -> float:
        """Return nGM (``GLOBAL``) or nShM (``SHARED``): instructions of a type a thread executes."""
        pairs = zip(self.classes, self.per_warp, strict=True)
        return sum(n for c, n in pairs if c.type is type_)


def code(case: Case) -> Code:
    """Return the blocks of the program that was executed; counts are averages over the launch's warps.

    The thesis asks its user for loop counts; here they come from the execution, for nested loops and
    branches that only some warps take too.
    """
    execution = case.workload.execution
    flow = control_flow(execution.program)
    classes = tuple(classify(i) for i in execution.program.instructions)
    per_warp = tuple(n / execution.launch.warps for n in execution.counts)
    blocks = []
    for number, block in enumerate(flow.blocks):
        members = tuple(range(block.start, block.stop))
        predecessors = block_graph(execution.program, number, memory=False).predecessors
        executions = per_warp[block.start] if members else 0.0
        own = classes[block.start : block.stop]
        blocks.append(CodeBlock(members, own, predecessors, tuple(block.successors), executions))
    return Code(tuple(blocks), classes, per_warp)
