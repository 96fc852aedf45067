"""The roofline: never below any roof, right on kernels whose limit is plain, monotone in what binds."""

import math

import pytest

from warpwatt.core.gpu import Clocks
from warpwatt.models.dispatch import dispatch_rate
from warpwatt.models.roofline import STARTUP_SECONDS, Roofline
from warpwatt.models.roofs import imbalance, roofs


def test_streaming_runs_at_memory_bandwidth(toy):
    case = toy.case(toy.execution(sectors=16.0))
    timing = Roofline().predict(case)
    assert timing.bottleneck == "DRAM bandwidth"
    moved = 2 * 100_000 * 256 * 16
    measured = 3.165e12  # the packaged bandwidth of copies on this board
    assert timing.time.value - STARTUP_SECONDS == pytest.approx(moved / measured, rel=0.02)


def test_long_chains_of_arithmetic_run_at_the_pipe(toy):
    case = toy.case(toy.execution(fmas=400))
    timing = Roofline().predict(case)
    flops = 100_000 * 256 * 400 * 2
    peak = 132 * 128 * 2 * case.clocks.sm
    assert timing.bottleneck in ("FP32 pipe", "issue slots")
    assert timing.time.value == pytest.approx(flops / peak, rel=0.05)


def test_time_is_start_up_and_the_longest_roof_and_shares_sum_to_one(toy):
    case = toy.case(toy.execution(fmas=10))
    timing = Roofline().predict(case)
    assert timing.time.value == STARTUP_SECONDS + max(roof.seconds for roof in roofs(case))
    assert math.fsum(timing.shares) == pytest.approx(1.0)
    assert all(0 <= share <= 1 for share in timing.utilisation.values())


def test_one_block_waits_for_memory(toy):
    timing = Roofline().predict(toy.case(toy.execution(blocks=1)))
    assert timing.bottleneck in ("latency", "launch latency")
    assert timing.time.value < 5e-6


def test_a_slower_memory_clock_slows_streaming_in_proportion(toy):
    fast = toy.case(toy.execution(sectors=16.0))
    slow = toy.replace(fast, clocks=Clocks(fast.clocks.sm, fast.clocks.memory / 2))
    after, before = (Roofline().predict(case).time.value - STARTUP_SECONDS for case in (slow, fast))
    ratio = after / before
    assert ratio == pytest.approx(2.0, rel=1e-6)


def test_blocks_that_do_little_take_as_long_as_it_takes_to_start_them(toy):
    case = toy.case(toy.execution(blocks=1_000_000, sectors=0.5))
    timing = Roofline().predict(case)
    assert timing.bottleneck == "block dispatch"
    per_block = (timing.time.value - STARTUP_SECONDS) / 1_000_000 * case.clocks.sm
    assert per_block == pytest.approx(1 / dispatch_rate(case.gpu, case.clocks.sm)[0], rel=1e-5)


def test_the_tail_of_the_grid(toy):
    assert imbalance(toy.case(toy.execution(blocks=132))) == pytest.approx(1.0)
    assert imbalance(toy.case(toy.execution(blocks=133))) == pytest.approx(2 * 132 / 133)


def test_the_interval_holds_the_value_and_has_width(toy):
    time = Roofline().predict(toy.case()).time
    assert time.low < time.value < time.high
