"""Streams as the simulator wants them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.models.pipeline.tables import inputs, shared_load, table
from warpwatt.core.execution import AccessPattern
from warpwatt.core.program import Access, Flow, Instruction, Level, MemoryAccess, Program, Space
from warpwatt.core.streams import WarpStreams
from warpwatt.models.pipeline.simulator import simulate
from warpwatt.models.pipeline.streams import (
    access_costs,
    equally_far,
    memory_pipe_accesses,
    merging_stores,
)
from warpwatt.models.roofs import LINE_CYCLES


def _ones(count: int) -> tuple[Any, ...]:
    return (np.ones(count),) * 4


def test_accesses_beside_the_memory_pipe_do_not_hide_those_behind_them() -> None:
    """A uniform constant load (1) between shared loads (0, 2): the second one costs what it says."""
    rows = table(3)
    for access in (0, 2):
        shared_load(rows, access, board=access, cycles=8.0)
    at, steps = np.array([0, 1, 2]), np.array([[0, 3, 0], [2, 3, 2]])
    streams = WarpStreams(1, (0,), np.array([0, 2]), steps, at, *_ones(3))
    kept = memory_pipe_accesses(streams, rows)
    assert kept.access_instruction.tolist() == [0, 2]
    assert kept.steps.tolist() == [[0, 3, 0], [2, 3, 1]]
    for of, busy in ((kept, 3 * 8), (streams, 2 * 8)):
        given = inputs(rows)._replace(
            warp_starts=of.starts, steps=of.steps, access_instructions=of.access_instruction,
            accesses=np.array([[8.0, 0, 0]] * len(of.access_instruction)),
        )  # fmt: skip
        assert simulate(given).counters.lsu_busy == busy


def test_nothing_to_leave_out_changes_nothing() -> None:
    rows = table(1)
    shared_load(rows, 0)
    streams = WarpStreams(1, (0,), np.array([0, 1]), np.array([[0, 1, 0]]), np.zeros(1, int), *_ones(1))
    assert memory_pipe_accesses(streams, rows) is streams


def test_parts_of_sectors_are_merged_in_l2() -> None:
    """Stores of 10 lanes to 10 sectors of 5 lines: bytes everywhere, words where a slot is two sectors."""
    kinds = ((Space.GLOBAL, 1, 10), (Space.GLOBAL, 4, 10), (Space.GLOBAL, 1, 1), (Space.SHARED, 1, 10))
    code = Program("k", Level.SASS, "sm_86", tuple(
        Instruction(n, "STG.E", memory=MemoryAccess(space, Access.STORE, size))
        for n, (space, size, _) in enumerate(kinds)
    ))  # fmt: skip
    at, sectors = np.arange(len(kinds)), np.array([float(asked) for *_, asked in kinds])
    lanes = np.array([10.0, 10.0, 32.0, 10.0])
    steps = np.array([[0, len(kinds), 0]])
    streams = WarpStreams(1, (0,), np.array([0, 1]), steps, at, lanes, sectors, sectors, sectors / 2)
    assert merging_stores(streams, code, 32.0) == {0: 1.0}
    assert merging_stores(streams, code, 64.0) == {0: 1.0, 1: 0.5}


def test_a_request_to_l1_takes_its_tags_its_banks_or_its_bytes_whichever_is_longest() -> None:
    """32 lanes of 4, 4 and 16 bytes: 32 lines in two passes, one bank 32 times, 512 bytes at 128 a cycle."""
    loads = [MemoryAccess(Space.GLOBAL, Access.LOAD, size) for size in (4, 4, 16)]
    code = Program(
        "k", Level.SASS, "sm_80", tuple(Instruction(n, "LDG", memory=m) for n, m in enumerate(loads))
    )
    lines, full, none = np.array([32.0, 32.0, 4.0]), np.full(3, 32.0), np.zeros(3)
    at, steps = np.arange(3), np.array([[0, 3, 0]])
    streams = WarpStreams(1, (0,), np.array([0, 1]), steps, at, full, none, 4 * lines, lines)
    machine: Any = SimpleNamespace(l1_bytes=128.0, bank_cycles=1.0, lsu_cycles=1.0)
    known = {n: AccessPattern(4 * own, own, 0.0, 4.0, None, l1_passes=passes) for n, own, passes in (
        (0, 32.0, 2.0), (1, 32.0, 32.0), (2, 4.0, 4.0)
    )}  # fmt: skip
    base, per_line = LINE_CYCLES
    costs = access_costs(streams, table(3), code, machine, known)[:, 0]
    assert costs.tolist() == [base + per_line * 32, 32.0, 4.0]
    wanted = access_costs(streams, table(3), code, machine, known, np.array([0, 2]))[:, 0]
    assert wanted.tolist() == [base + per_line * 32, 0.0, 4.0]


def test_warps_that_barriers_keep_together_keep_their_own_work() -> None:
    """Both load (0) and wait (1), only the first adds up (2); the trace ends where it is one barrier ahead.

    What the first does alone must not count for the second: scalarProd's bytes were 13 % too few, because a
    block has so many instructions, and more of them added up than there are.
    """
    code = Program("k", Level.SASS, "sm_75", (
        Instruction(0, "LDG.E"), Instruction(1, "BAR.SYNC", flow=Flow.BARRIER), Instruction(2, "FADD"),
    ))  # fmt: skip
    load, wait, add = (0, 1, 0), (1, 2, 1), (2, 3, 1)
    longer, shorter = [load, wait, add] * 9, [load, wait] * 8
    starts = np.array([0, len(longer), len(longer) + len(shorter)])
    streams = WarpStreams(2, (0,), starts, np.array(longer + shorter), np.zeros(0, int), *_ones(0))
    far = equally_far(streams, code)
    assert far.starts.tolist() == [0, 3 * 8 - 1, 3 * 8 - 1 + 2 * 8]
    assert [int((far.steps[:, 0] == i).sum()) for i in range(3)] == [16, 16, 7]
    alone = replace(streams, starts=np.array([0, len(longer) + len(shorter) - 1, len(longer) + len(shorter)]))
    assert len(equally_far(alone, code).steps) == 2 * (len(longer) + len(shorter) - 1)


def test_warps_that_wait_for_one_or_have_ended_keep_what_they_did() -> None:
    """Behind a barrier the first adds up in a loop; the second waits at the next, the third has ended."""
    code = Program("k", Level.SASS, "sm_75", (
        Instruction(0, "BAR.SYNC", flow=Flow.BARRIER), Instruction(1, "FADD"),
        Instruction(2, "BAR.SYNC", flow=Flow.BARRIER), Instruction(3, "EXIT", flow=Flow.EXIT),
    ))  # fmt: skip
    wait, add, again, leave = ((n, n + 1, 0) for n in range(4))
    warps = [[wait, *[add] * 50], [wait, again], [leave]]
    starts = np.cumsum([0, *map(len, warps)])
    streams = WarpStreams(
        3, (0,), starts, np.array([step for warp in warps for step in warp]), np.zeros(0, int), *_ones(0)
    )
    assert equally_far(streams, code).work_of_warps.tolist() == [51, 2, 1]


def test_a_block_that_has_ended_does_not_stand_for_those_that_run() -> None:
    """The last row of blocks is traced to its end, with more work traced than those inside."""
    code = Program("k", Level.SASS, "sm_75", (
        Instruction(0, "FADD"), Instruction(1, "EXIT", flow=Flow.EXIT),
    ))  # fmt: skip
    add, leave = (0, 1, 0), (1, 2, 0)
    warps = [[add] * 9, [add] * 5, [*[add] * 50, leave], [leave]]
    steps = np.array([step for warp in warps for step in warp])
    starts = np.cumsum([0, *map(len, warps)])
    streams = WarpStreams(2, (0, 1), starts, steps, np.zeros(0, int), *_ones(0))
    assert equally_far(replace(streams, weights=(3.0, 3.0)), code).work_of_warps.tolist() == [9, 9]
