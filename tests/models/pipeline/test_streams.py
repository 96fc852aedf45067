"""Streams as the simulator wants them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.models.pipeline.tables import inputs, shared_load, table
from warpwatt.core.streams import WarpStreams
from warpwatt.models.pipeline.simulator import simulate
from warpwatt.models.pipeline.streams import memory_pipe_accesses


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
