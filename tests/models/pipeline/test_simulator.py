"""The simulator against cases computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.pipeline.tables import inputs, run, shared_load, table
from warpwatt.models.pipeline import layout as c
from warpwatt.models.pipeline.state import W_BOARDS


def test_dependent_chain_takes_its_stall_counts() -> None:
    """Sixty-four dependent FFMAs: one every four cycles."""
    ints, floats = table(64, stall=4, pipe=c.FMA, interval=2)
    assert run(inputs(ints, floats)).results[c.END] == 63 * 4


@pytest.mark.parametrize(("warps", "cycles"), [(4, 64), (8, 128), (16, 256)])
def test_independent_instructions_are_bound_by_issue(warps: int, cycles: int) -> None:
    """With a pipe pair of two cycles each, every sub-core issues one instruction per cycle."""
    ints, floats = table(64, pipe=c.FMA, other_pipe=c.FMA_LITE, interval=2)
    assert run(inputs(ints, floats, warps=warps)).results[c.END] == cycles - 1


def test_one_half_rate_pipe_halves_the_rate() -> None:
    """One pipe of two cycles: an instruction every other cycle; the wait is the pipe's."""
    ints, floats = table(64, pipe=c.ALU, interval=2)
    state = run(inputs(ints, floats, warps=8))
    assert state.results[c.END] == 2 * 127
    assert state.pipe_busy[c.ALU] == 2 * 64 * 8
    assert state.stalls[:, c.R_MATH].sum() > state.stalls[:, c.R_WAIT].sum()


def test_shared_loads_are_bound_by_the_load_store_unit() -> None:
    """On sm_86 the SM takes one shared load per two cycles, whatever the sub-cores offer."""
    ints, floats = table(32)
    for at in range(32):
        shared_load(ints, floats, at)
    state = run(inputs(ints, floats, warps=16))
    assert state.results[c.LSU_BUSY] == 2 * 32 * 16
    assert state.results[c.END] == pytest.approx(2 * 32 * 16 + 24, abs=8)
    assert state.stalls[:, c.R_MIO].sum() / state.stalls.sum() > 0.8


def test_one_sub_core_offers_a_memory_instruction_every_four_cycles() -> None:
    """A single warp: five go into the queue at once, then one per four cycles (MICRO 2025, table 1)."""
    ints, floats = table(10)
    for at in range(10):
        shared_load(ints, floats, at)
    state = run(inputs(ints, floats))
    assert state.results[c.LAST_ISSUE] == 4 * (10 - 1 - 5)
    assert state.results[c.END] == 4 * 9 + 24


def test_a_scoreboard_holds_the_consumer() -> None:
    """A load, then its consumer: 24 cycles later, for want of the short scoreboard."""
    ints, floats = table(2)
    shared_load(ints, floats, 0, board=3)
    ints[1, c.WAIT_MASK] = 1 << 3
    state = run(inputs(ints, floats))
    assert state.results[c.LAST_ISSUE] == 24
    assert state.stalls[1, c.R_SHORT] == 23


def test_depbar_leaves_the_last_ones_in_flight() -> None:
    """DEPBAR.LE SB0, 1 waits for the first of two loads only."""
    for remaining, waited in ((1, 24), (0, 28), (2, 2)):
        ints, floats = table(3)
        shared_load(ints, floats, 0)
        shared_load(ints, floats, 1)
        ints[2, [c.KIND, c.SCOREBOARD, c.REMAINING]] = c.DEPBAR, 0, remaining
        assert run(inputs(ints, floats)).results[c.LAST_ISSUE] == waited


def test_a_barrier_waits_for_the_slowest_warp() -> None:
    """Eight warps on two turns per sub-core meet after the last has issued its barrier."""
    ints, floats = table(3)
    ints[1, c.KIND] = c.BARRIER
    ints[0, c.STALL] = 10
    state = run(inputs(ints, floats, warps=8, barrier_cycles=22))
    assert state.results[c.LAST_ISSUE] == 11 + 22 + 1
    assert state.stalls[1, c.R_BARRIER] > 0
    assert state.stalls[2, c.R_BARRIER] == 0


def test_warps_that_have_left_are_not_waited_for() -> None:
    """One warp has no barrier at all."""
    ints, floats = table(2)
    ints[1, c.KIND] = c.BARRIER
    given = inputs(ints, floats, warps=2, barrier_cycles=5)
    given.steps[1, 1] = 1  # the second warp ends before the barrier
    assert run(given).results[c.ISSUED] == 3


def test_three_sources_in_one_bank_cost_cycles() -> None:
    """Three reads of a bank with one port: an instruction every three cycles in the long run."""
    for bank, cycles in ((c.BANK0, 3), (c.BANK1, 3), (None, 1)):
        ints, floats = table(60, pipe=c.FMA, other_pipe=c.FMA_LITE, interval=2)
        if bank is not None:
            ints[:, bank] = 3
        assert run(inputs(ints, floats)).results[c.END] == pytest.approx(60 * cycles, abs=3)


def test_blocks_follow_one_another_with_their_dispatch() -> None:
    """Four blocks, two at a time, each 100 cycles of dispatch and 40 of work."""
    ints, floats = table(10, stall=4)
    state = run(inputs(ints, floats, warps=4, blocks=4, resident=2, block_cycles=100))
    assert list(state.block_end) == [136, 137, 272, 273]


def test_blocks_wait_for_their_turn_on_the_chip() -> None:
    """Four blocks of 40 cycles of work, one every 150 cycles though there is room for all."""
    ints, floats = table(10, stall=4)
    given = inputs(ints, floats, blocks=4, resident=4)
    given.rates[c.DISPATCH] = 150.0
    state = run(given)
    assert list(state.block_end) == [36, 186, 336, 486]
    assert state.results[c.DISPATCH_BUSY] == 600.0


@pytest.mark.parametrize(("rate", "missing"), [(0.0, 0), (0.25, 25), (0.5, 50), (1.0, 100)])
def test_misses_come_in_the_right_share(rate: float, missing: int) -> None:
    """A hundred loads of four sectors: the share that misses moves its bytes and takes L2's latency."""
    ints, floats = table(1)
    shared_load(ints, floats, 0)
    ints[0, c.TRAFFIC] = c.READ
    floats[0, c.L1_MISS], floats[0, c.L2_LATENCY] = rate, 200.0
    state = run(inputs(ints, floats, repeats=100))
    assert state.results[c.L2_BYTES_MOVED] == pytest.approx(128 * missing, abs=128)


def test_a_warp_that_finds_its_line_in_flight_waits_for_it() -> None:
    """Two warps follow one chain of 20 loads: a line takes its latency from L2, for whoever asks for it."""
    ints, floats = table(1)
    shared_load(ints, floats, 0)
    ints[0, c.TRAFFIC], ints[0, c.WAIT_MASK] = c.READ, 1
    floats[0, [c.L1_MISS, c.L2_LATENCY, c.IN_FLIGHT]] = 0.5, 200.0, 1.0
    state = run(inputs(ints, floats, warps=2, repeats=20))
    assert state.results[c.END] == pytest.approx(20 * 200, rel=0.1)
    assert state.results[c.L2_BYTES_MOVED] == 20 * 128
    floats[0, c.IN_FLIGHT] = 0.0
    assert run(inputs(ints, floats, warps=2, repeats=20)).results[c.END] < 0.7 * 20 * 200


@pytest.mark.parametrize("times", [1.0, 3.0])
def test_dram_gives_no_more_than_its_rate(times: float) -> None:
    """Loads that all miss take the time of their bytes, longer where each opens a page for them."""
    ints, floats = table(1)
    shared_load(ints, floats, 0)
    ints[0, c.TRAFFIC] = c.READ
    floats[0, [c.L1_MISS, c.L2_MISS, c.DRAM_LATENCY, c.DRAM_TIMES]] = 1.0, 1.0, 500.0, times
    given = inputs(ints, floats, warps=32, repeats=50)
    given.rates[[c.DRAM_BYTES, c.LOAD_LINEAR, c.LOAD_QUEUE, c.BURST]] = 8.0, 0.0, 0.0, 0.0
    state = run(given)
    assert state.results[c.END] == pytest.approx(times * 128 * 50 * 32 / 8.0 + 500, rel=0.01)


def test_every_cycle_of_every_warp_is_attributed() -> None:
    """Stall cycles sum to the time warps were resident."""
    rng = np.random.default_rng(0)
    ints, floats = table(30, pipe=c.ALU, interval=2)
    ints[:, c.STALL] = rng.integers(1, 12, 30)
    for at in rng.choice(30, 8, replace=False):
        shared_load(ints, floats, int(at), board=int(at) % 6)
    ints[:, c.WAIT_MASK] = rng.integers(0, 64, 30)
    ints[29, c.KIND] = c.BARRIER
    state = run(inputs(ints, floats, warps=8, repeats=5, barrier_cycles=20))
    assert state.stalls.sum() == state.results[c.WARP_CYCLES_SUM]
    assert state.stalls[:, c.R_SELECTED].sum() == state.results[c.ISSUED] == 30 * 5 * 8


def test_jumps_out_of_the_cache_wait_for_instructions() -> None:
    """A loop larger than L0 pays at its back edge, a small one does not."""
    for lines, waits in ((100, 0), (2, 3 * 39)):
        ints, floats = table(64)
        ints[:, c.FETCH_LINE] = np.arange(64) // 8
        state = run(inputs(ints, floats, repeats=4, l0_lines=lines, l0_miss_cycles=39))
        assert state.stalls[:, c.R_NO_INSTRUCTION].sum() == pytest.approx(waits, abs=0)


def test_who_issues_next_can_be_chosen() -> None:
    """Three warps of one sub-core, of which two keep its pipe busy; the order decides who waits."""
    ints, floats = table(8, stall=5, pipe=c.ALU, interval=4)
    ends = {}
    for order in (c.OLDEST, c.YOUNGEST, c.LONGEST_WAITING):
        given = inputs(ints, floats, warps=1, blocks=3, resident=3, sub_cores=1, issue_order=order)
        ends[order] = list(run(given).block_end)
    assert ends[c.OLDEST][0] < ends[c.OLDEST][2] - 8
    assert ends[c.YOUNGEST][0] > ends[c.YOUNGEST][2] + 8
    assert max(ends[c.LONGEST_WAITING]) - min(ends[c.LONGEST_WAITING]) == 8  # they take turns


def test_warps_of_the_oldest_block_take_turns_before_those_of_the_next() -> None:
    """Two blocks of two warps on one sub-core: the first block ends first, both its warps together."""
    ints, floats = table(8, stall=5, pipe=c.ALU, interval=4)
    given = inputs(
        ints, floats, warps=2, blocks=2, resident=2, sub_cores=1, block_cycles=1, issue_order=c.OLDEST_BLOCK
    )
    first, second = run(given).block_end
    assert first < second - 16


def test_special_functions_hold_back_the_load_behind_them() -> None:
    """Four conversions and a load: it leaves the queue when the third goes into the unit, 16 cycles on."""
    ends = {}
    for interval in (1, 8):
        ints, floats = table(5)
        ints[:4, [c.KIND, c.PIPE, c.INTERVAL]] = c.QUEUED, c.XU, interval
        shared_load(ints, floats, 4)
        ends[interval] = run(inputs(ints, floats, sub_cores=1)).results[c.END]
    assert ends[8] - ends[1] == 16 + 1 - 4  # else the load issues in the fifth cycle


def test_a_pipe_of_the_whole_sm_takes_what_queues_for_it_as_it_comes() -> None:
    """Four blocks of one warp, each on its own sub-core: none is served before another that came first."""
    ints, floats = table(10, kind=c.QUEUED, shared_pipe=c.SHARED_FP64, shared_interval=16)
    state = run(inputs(ints, floats, blocks=4, resident=4))
    assert state.results[c.END] == 16 * 39
    assert state.pipe_busy[c.PIPES + c.SHARED_FP64] == 16 * 40
    assert max(state.block_end) - min(state.block_end) <= 3 * 16  # else 10 * 16 and more


def test_constants_do_not_wait_for_the_load_store_unit() -> None:
    """Loads of constants beside shared loads: the load-store unit has the shared ones only."""
    ints, floats = table(8)
    for at in range(8):
        shared_load(ints, floats, at, cycles=8.0 if at % 2 else 0.0)
    state = run(inputs(ints, floats))
    assert state.results[c.LSU_BUSY] == 4 * 8
    ints[:, c.WRITE_BARRIER] = np.arange(8) % 2  # the constants' scoreboard, then the shared loads'
    last = run(inputs(ints, floats)).warps[0]
    assert last[W_BOARDS] == 4 * 6 + 24  # behind the address unit alone
    assert last[W_BOARDS + 1] == 4 + 3 * 8 + 24
