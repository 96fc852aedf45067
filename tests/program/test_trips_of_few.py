"""Loops that are followed step by step: one block in many is followed first, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

from warpwatt.core.launch import Dim3, Launch
from warpwatt.isa.ptx import lower, parse
from warpwatt.program import trips
from warpwatt.program.binding import bind
from warpwatt.program.block_work import block_work

TEXT = """
.target sm_90
.entry k() {{
  .reg .u32 %r<4>; .reg .pred %p;
  mov.u32 %r0, %ctaid.x;
LOOP:
  mad.lo.u32 %r0, %r0, 1664525, 1013904223;
  shr.u32 %r1, %r0, {shift};
  setp.ne.u32 %p, %r1, 0;
  @%p bra LOOP;
  ret;
}}
"""


def steps(blocks: int, shift: int) -> np.ndarray:
    """Return how often each block runs the loop."""
    numbers, value = np.zeros(blocks, int), np.arange(blocks, dtype=np.uint32)
    running = np.ones(blocks, bool)
    while running.any():
        value = value * np.uint32(1664525) + np.uint32(1013904223)
        numbers += running
        running &= value >> np.uint32(shift) != 0
    return numbers


@pytest.mark.parametrize(("blocks", "shift", "followed"), [(5000, 29, True), (5000, 20, False)])
def test_few_blocks_decide_only_whether_all_are_followed(monkeypatch, blocks, shift, followed):
    monkeypatch.setattr(trips, "_SCAN_ELEMENTS", 150 * 5000 * 2)
    bound = bind(lower(parse(TEXT.format(shift=shift)), "k"), Launch(Dim3(blocks), Dim3(32)))
    found = block_work(bound)
    monkeypatch.setattr(trips, "_FEW", 1 << 30)
    without = block_work(bound)
    assert found is not None
    assert without is not None
    assert found.instructions.tolist() == without.instructions.tolist()
    expected = 2 + 4 * steps(blocks, shift)
    assert (found.instructions.tolist() == expected.tolist()) == followed


def test_all_are_not_followed_where_few_take_too_long(monkeypatch):
    sizes = []
    scan = trips.TripCounts._scan

    def counted(self, *asked):
        sizes.append(len(self.evaluator.sample.block_weights))
        return scan(self, *asked)

    monkeypatch.setattr(trips.TripCounts, "_scan", counted)
    bound = bind(lower(parse(TEXT.format(shift=4)), "k"), Launch(Dim3(5000), Dim3(32)))
    block_work(bound)
    assert sizes == [5000, 40]  # the call for all asks few first, and ends there
    sizes.clear()
    block_work(bind(lower(parse(TEXT.format(shift=30)), "k"), Launch(Dim3(5000), Dim3(32))))
    assert sizes == [5000, 40]
