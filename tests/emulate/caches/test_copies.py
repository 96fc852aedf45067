"""Copies of sampled blocks, where an SM holds more blocks than were sampled: they are as other blocks are."""

import numpy as np
import pytest

from warpwatt.core.reuse import READ, LineStream
from warpwatt.emulate.caches.l1 import l1_profile

RESIDENT, ROUNDS, READS = 16, 2, 300
"""Blocks of an SM, as many behind them, and lines that each reads."""


def stream_of(touched: list[np.ndarray]) -> LineStream:
    """Return what blocks of one warp read, a line after the other."""
    block = np.repeat(np.arange(len(touched), dtype=np.int32), [len(own) for own in touched])
    time = np.concatenate([np.arange(len(own)) for own in touched])
    rows = len(block)
    return LineStream(
        instruction=np.zeros(rows, np.int32),
        block=block,
        warp=block.copy(),
        time=time,
        line=np.concatenate(touched).astype(np.int64),
        sectors=np.full(rows, 1, np.uint8),
        kind=np.full(rows, READ, np.uint8),
    )


def hits(touched: list[np.ndarray], lines: float) -> float:
    """Return the share of reads that an L1 of so many lines serves, the second round of blocks counted."""
    return l1_profile(stream_of(touched), RESIDENT, ROUNDS).read_shares(lines, 1.0)[0].hit


def gathers(blocks: int, table: int) -> list[np.ndarray]:
    draw = np.random.default_rng(blocks)
    return [draw.integers(0, table, READS) for _ in range(blocks)]


@pytest.mark.parametrize("table", [1_000, 4_000, 16_000])
@pytest.mark.parametrize("lines", [500, 2_000])
@pytest.mark.parametrize("sampled", [12, 18, 24])
def test_few_blocks_that_gather_say_what_many_find_in_l1(sampled, lines, table):
    wanted = hits(gathers(RESIDENT * ROUNDS, table), lines)
    assert hits(gathers(sampled, table), lines) == pytest.approx(wanted, abs=0.06)


def test_what_all_blocks_read_all_copies_read():
    one = np.arange(READS)
    profile = l1_profile(stream_of([one] * 3), RESIDENT, 1)
    assert np.isinf(profile.distance).sum() == READS


def test_what_one_block_reads_no_copy_reads():
    apart = [READS * number + np.arange(READS) for number in range(3)]
    assert np.isinf(l1_profile(stream_of(apart), RESIDENT, 1).distance).all()


@pytest.mark.parametrize("blocks", [1, 2])
def test_copies_are_as_other_blocks_are_however_far_apart_an_sm_takes_them(blocks):
    """Of a grid whose trace ends early, an SM takes every 68th block, of the few that are there."""
    stream = stream_of(gathers(blocks, 1_000))
    near, far = (l1_profile(stream, RESIDENT, ROUNDS, step) for step in (1, 68 * 1000 + 1))
    assert far.read_shares(500, 1.0) == near.read_shares(500, 1.0)
