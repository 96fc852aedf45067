"""What DRAM moves besides the sectors that miss L2."""

from __future__ import annotations

import pytest

from warpwatt.core.execution import LevelHits, Traffic
from warpwatt.models.pipeline.model import moved_over_missed

MB = 1e6


@pytest.mark.parametrize(
    ("l2", "dram", "times"),
    [
        (Traffic(32 * MB, 0.0), Traffic(16 * MB, 0.0), 1.0),  # loads
        (Traffic(32 * MB, 0.0), Traffic(16 * MB, 4 * MB), 1.25),  # that drive out what is dirty
        (Traffic(0.0, 32 * MB), Traffic(0.0, 16 * MB), 1.0),  # stores
        (Traffic(0.0, 32 * MB), Traffic(8 * MB, 16 * MB), 1.5),  # of parts of sectors
        (Traffic(32 * MB, 32 * MB), Traffic(16 * MB, 16 * MB), 2.0),  # atomics read and write back
        (Traffic(32 * MB, 0.0), Traffic(0.0, 0.0), 1.0),  # everything hits
        (
            Traffic(32 * MB, 0.0),
            Traffic(64 * MB, 0.0),
            2.0,
        ),  # loads of single sectors from pieces of 64 bytes
    ],
)
def test_dram_moves_more_than_what_misses(l2: Traffic, dram: Traffic, times: float) -> None:
    hit = max(0.0, 1.0 - (dram.read if l2.read else dram.written) / (l2.read or l2.written))
    hits = LevelHits("x", 1.0, 1.0, 0.0, hit, l2, l2, dram)
    assert moved_over_missed(hits) == times
