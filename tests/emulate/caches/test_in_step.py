"""Whether blocks come to shared lines together: products that look their rows up, and walks that do not."""

from __future__ import annotations

import numpy as np
import pytest

from warpwatt.core.reuse import READ, LineStream
from warpwatt.emulate.caches.in_step import apart_in_time

BLOCKS, STEPS = 8, 200


def stream(lines: np.ndarray) -> LineStream:
    """Return the stream of blocks of one warp each, that read ``lines[block]`` one after the other."""
    block, time = np.indices(lines.shape).reshape(2, -1)
    return LineStream(
        instruction=np.zeros(lines.size, np.int32),
        block=block.astype(np.int32),
        warp=block.astype(np.int32),
        time=time,
        line=lines.reshape(-1),
        sectors=np.full(lines.size, 15, np.uint8),
        kind=np.full(lines.size, READ, np.uint8),
    )


def test_rows_looked_up_in_a_table_are_read_in_step():
    """Four rows, each by two blocks, from left to right."""
    rows = np.array([70, 3, 41, 9, 3, 70, 9, 41])
    assert apart_in_time(stream(rows[:, None] * 1000 + np.arange(STEPS)), [0]) == 0.0


def test_blocks_that_share_nothing_but_go_the_same_way_are_in_step():
    rows = np.random.default_rng(1).permutation(BLOCKS)
    assert apart_in_time(stream(rows[:, None] * 1000 + np.arange(STEPS)), [0]) == 0.0


def test_walks_come_to_a_line_at_any_time():
    lines = np.random.default_rng(2).permuted(np.tile(np.arange(STEPS), (BLOCKS, 1)), axis=1)
    assert apart_in_time(stream(lines), [0]) == pytest.approx(1.0, abs=0.05)
    own = lines + 1000 * np.arange(BLOCKS)[:, None]
    assert apart_in_time(stream(own), [0]) > 0.95


@pytest.mark.parametrize("behind", [STEPS // 2, STEPS // 10])
def test_every_other_block_is_behind_by_a_part_of_its_life(behind):
    """Of the lines that both kinds read, all pairs are apart; of others three are in step."""
    lines = np.arange(STEPS) + behind * (np.arange(BLOCKS) % 2)[:, None]
    both = 7 * (STEPS - behind)
    mean = both * behind / (STEPS - 1) / (both + 2 * 3 * behind)
    assert apart_in_time(stream(lines), [0]) == pytest.approx(3 * mean)


def test_other_instructions_and_nothing_at_all():
    assert apart_in_time(stream(np.arange(BLOCKS * STEPS).reshape(BLOCKS, STEPS)), [1]) == 1.0
