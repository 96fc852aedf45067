"""Blocks whose streams are the same are simulated as the first of them, and cost as it does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.models.pipeline.tables import inputs, shared_load, table
from warpwatt.core.streams import WarpStreams
from warpwatt.models.pipeline.alike import access_spans, accesses_of_different, first_alike
from warpwatt.models.pipeline.simulator import simulate

WARPS, STEPS, BLOCKS = 2, 3, 4
COUNT = WARPS * STEPS * BLOCKS
FIELDS = ("lanes", "wavefronts", "sectors", "lines", "objects", "changes")


def streams_of() -> WarpStreams:
    """Return four blocks of two warps of three steps, an access in each; all blocks do the same."""
    each = np.tile(np.arange(WARPS * STEPS, dtype=np.float64), BLOCKS)
    steps = np.array([[0, 2, access] for access in range(COUNT)])
    starts = np.arange(0, COUNT + 1, STEPS)
    at = np.zeros(COUNT, np.int64)
    objects = each.astype(np.int64)
    return WarpStreams(
        WARPS, tuple(range(BLOCKS)), starts, steps, at, each, each, each, each, objects=objects, changes=each
    )


def test_blocks_that_do_the_same_are_known_by_the_first() -> None:
    """The last one's spans end with the trace: what follows a block may belong to its last step."""
    streams = streams_of()
    assert first_alike(streams).tolist() == [0, 0, 0, 3]
    assert access_spans(streams)[0] == (0, WARPS * STEPS + 1)
    assert accesses_of_different(streams).tolist() == [*range(7), *range(18, 24)]


@pytest.mark.parametrize("field", [*FIELDS, "access_instruction"])
def test_a_block_that_accesses_otherwise_is_its_own(field: str) -> None:
    streams = streams_of()
    changed = getattr(streams, field).copy()
    changed[2 * WARPS * STEPS - 1] += 1
    fields: dict[str, Any] = {field: changed}
    assert first_alike(replace(streams, **fields)).tolist() == [0, 1, 0, 3]


@pytest.mark.parametrize("column", [0, 1, 2])
def test_a_block_that_goes_another_way_is_its_own(column: int) -> None:
    """Other instructions first or last, or the accesses shared out otherwise among the same steps."""
    streams = streams_of()
    steps = streams.steps.copy()
    steps[WARPS * STEPS + 1, column] += 1
    assert first_alike(replace(streams, steps=steps))[:3].tolist() == [0, 1, 0]


def test_as_many_steps_in_other_warps_are_another_block() -> None:
    streams = streams_of()
    starts = streams.starts.copy()
    starts[3] -= 1
    assert first_alike(replace(streams, starts=starts))[:3].tolist() == [0, 1, 0]


def test_some_blocks_of_streams_have_their_own_accesses() -> None:
    """All accesses are kept where blocks are left out."""
    some = streams_of().only([1, 2])
    assert first_alike(some).tolist() == [0, 0]
    assert accesses_of_different(some).tolist() == list(range(6, 13))


def test_the_first_simulated_for_all_says_what_all_say() -> None:
    streams = replace(streams_of(), objects=None, changes=None)
    rows = table(2)
    shared_load(rows, 0, board=0, cycles=4.0)
    costs = np.stack([streams.lanes, streams.sectors, streams.lines], axis=1)
    given = inputs(rows)._replace(
        warp_starts=streams.starts, steps=streams.steps, access_instructions=streams.access_instruction,
        accesses=costs, blocks=np.arange(BLOCKS),
    )  # fmt: skip
    given.settings["warps_per_block"] = WARPS
    kept = np.zeros_like(costs)
    wanted = accesses_of_different(streams)
    kept[wanted] = costs[wanted]
    whole, first = simulate(given), simulate(given._replace(blocks=first_alike(streams), accesses=kept))
    assert whole.counters == first.counters
    assert whole.block_end.tolist() == first.block_end.tolist()
    assert first.counters.lsu_busy > 0
