"""Instructions taken out of what warps do, as if the compiler had not needed them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.case import Case
from warpwatt.core.execution import Traffic
from warpwatt.core.program import Program
from warpwatt.core.streams import WarpStreams
from warpwatt.what_if.edit import with_execution, with_hits

if TYPE_CHECKING:
    from numpy.typing import NDArray


def without_instructions(case: Case, indices: Collection[int], *, passing: bool = False) -> Case:
    """Return the case in which some instructions are not executed; nobody waits for their results.

    ``passing``: they only pass a value on, so that the instruction behind waits for what they waited for.
    """
    execution = case.workload.execution
    assert execution.streams is not None
    gone = np.zeros(len(execution.program.instructions), bool)
    gone[list(indices)] = True
    better = replace(
        execution,
        program=_waiting_behind(execution.program, gone) if passing else execution.program,
        counts=tuple(0.0 if out else n for n, out in zip(execution.counts, gone, strict=True)),
        accesses={i: pattern for i, pattern in execution.accesses.items() if not gone[i]},
        streams=without(execution.streams, gone),
    )
    nothing = Traffic()
    quiet = {
        i: replace(hits, requests=0.0, sectors=0.0, l1=nothing, l2=nothing, dram=nothing)
        for i, hits in case.workload.hits.items()
        if gone[i]
    }
    return with_hits(with_execution(case, better), quiet)


def _waiting_behind(program: Program, gone: NDArray[np.bool_]) -> Program:
    """Return the program in which what stays also waits for what those that are gone before it waited for."""
    instructions, inherited = [], 0
    for instruction, out in zip(program.instructions, gone, strict=True):
        code = instruction.control
        if out:
            inherited |= code.wait_mask if code is not None else 0
        elif inherited and code is not None:
            code = replace(code, wait_mask=code.wait_mask | inherited)
            inherited = 0
        instructions.append(replace(instruction, control=code))
    return replace(program, instructions=tuple(instructions))


def without(streams: WarpStreams, gone: NDArray[np.bool_]) -> WarpStreams:
    """Return the streams without some instructions: steps fall into the pieces between them."""
    ordinal, pieces = _pieces(streams.steps, gone)
    rows = np.column_stack((pieces, _first_accesses(streams, ordinal, pieces[:, 0])))
    before = np.concatenate(([0], np.cumsum(np.bincount(ordinal, minlength=len(streams.steps)))))
    stays = ~gone[streams.access_instruction]
    number = np.concatenate(([0], np.cumsum(stays)))
    rows[:, 2] = number[rows[:, 2]]
    return replace(
        streams,
        starts=before[streams.starts].astype(np.int64),
        steps=rows.astype(np.int64),
        access_instruction=streams.access_instruction[stays],
        lanes=streams.lanes[stays],
        wavefronts=streams.wavefronts[stays],
        sectors=streams.sectors[stays],
        lines=streams.lines[stays],
    )


def _pieces(steps: NDArray[np.int64], gone: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for all steps in order, which step a piece comes from, and rows (first, behind)."""
    wide = len(gone) + 2  # one number for both ends, -1 for none: rows would be sorted as records, slowly
    kinds, which = np.unique((steps[:, 0] + 1) * wide + steps[:, 1] + 1, return_inverse=True)
    cut = [_runs(kind // wide - 1, kind % wide - 1, gone) for kind in kinds.tolist()]
    lengths = np.array([len(runs) for runs in cut], np.int64)[which]
    ordinal = np.repeat(np.arange(len(steps)), lengths)
    place = np.arange(len(ordinal)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    longest = max(map(len, cut), default=0)
    table = np.zeros((len(cut), max(1, longest), 2), np.int64)
    for row, runs in zip(table, cut, strict=True):
        row[: len(runs)] = np.array(runs, np.int64).reshape(-1, 2)
    return ordinal, table[which[ordinal], place]


def _runs(first: int, behind: int, gone: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the stretches of instructions that stay.

    >>> _runs(3, 9, np.array([False] * 5 + [True, False, True, False]))
    [(3, 5), (6, 7), (8, 9)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([1], gone[first:behind], [1])))) + first
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _first_accesses(
    streams: WarpStreams, ordinal: NDArray[np.int64], first: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the first access of each piece: its step's, and those of instructions before the piece.

    Accesses of one step stand in the order of their instructions, so that (step, instruction) is sorted.
    """
    size = len(streams.access_instruction)
    step = np.repeat(np.arange(-1, len(streams.steps)), np.diff(streams.steps[:, 2], prepend=0, append=size))
    wide = int(max(streams.access_instruction.max(initial=0), first.max(initial=0))) + 1
    return np.searchsorted(step * wide + streams.access_instruction, ordinal * wide + first)
