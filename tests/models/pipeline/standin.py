"""Streams of warps without an emulator: straight code with counted loops, every warp alike.

Backward branches are taken as often as a test says, forward ones never; all lanes are on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.program import Flow, Immediate, Space
from warpwatt.core.streams import WarpStreams

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from warpwatt.core.program import Instruction, Program


def walk(program: Program, trips: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield (first, behind the last) of the basic blocks a warp executes.

    ``trips``: index of a backward branch to executions of its loop's body.
    """
    left = dict(trips)
    at = start = 0
    while at < len(program.instructions):
        instruction = program.instructions[at]
        at += 1
        if instruction.flow is Flow.EXIT and instruction.guard is None:
            yield start, at
            return
        if instruction.flow is Flow.JUMP:
            yield start, at
            target = _target(program, instruction)
            if target < at:
                left[instruction.index] -= 1
                if left[instruction.index]:
                    at = target
                else:
                    left[instruction.index] = trips[instruction.index]
            start = at
        elif instruction.flow is Flow.BARRIER:
            yield start, at
            start = at
    yield start, at


def _target(program: Program, instruction: Instruction) -> int:
    if instruction.targets:
        return program.labels[instruction.targets[0]]
    operand = instruction.operands[-1]
    assert isinstance(operand, Immediate)
    return int(operand.value) // 16


def streams(
    program: Program,
    warps: int,
    trips: Mapping[int, int] | None = None,
    wavefronts: Mapping[int, float] | None = None,
    lines: Mapping[int, float] | None = None,
) -> WarpStreams:
    """Return the streams of one block of ``warps`` warps.

    ``wavefronts`` and ``lines`` by instruction; without, accesses are coalesced and free of conflicts.
    """
    memory = {
        i.index: i for i in program.instructions if i.memory is not None and i.memory.space is not Space.CONST
    }
    steps, accesses = [], []
    for first, stop in walk(program, trips or {}):
        steps.append((first, stop, len(accesses)))
        accesses += [i for i in range(first, stop) if i in memory]
    count = len(accesses)
    one = np.array(steps, np.int64).reshape(-1, 3)
    every = np.concatenate([one + np.array((0, 0, w * count)) for w in range(warps)])
    rows = [_access(memory[i], wavefronts or {}, lines or {}) for i in accesses]
    table = np.tile(np.array(rows, float).reshape(-1, 3), (warps, 1))
    return WarpStreams(
        warps, (0,), np.arange(warps + 1) * len(one), every, np.tile(np.array(accesses, np.int64), warps),
        np.full(count * warps, 32.0), table[:, 0], table[:, 1], table[:, 2],
    )  # fmt: skip


def _access(
    instruction: Instruction, wavefronts: Mapping[int, float], lines: Mapping[int, float]
) -> tuple[float, float, float]:
    """Return (wavefronts, sectors, lines)."""
    assert instruction.memory is not None
    size = instruction.memory.bytes
    if instruction.memory.space is Space.SHARED:
        return wavefronts.get(instruction.index, max(1.0, size / 4)), 0.0, 0.0
    touched = lines.get(instruction.index, max(1.0, size / 4))
    return 0.0, 4 * touched if touched <= size / 4 else touched, touched
