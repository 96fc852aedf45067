"""The simulator against cases computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.pipeline.tables import inputs, shared_load, table
from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.models.pipeline.codes import IssueOrder, Operation, Pipe, Reason, SmPipe, Traffic
from warpwatt.models.pipeline.simulator import simulate


def test_dependent_chain_takes_its_stall_counts() -> None:
    """Sixty-four dependent FFMAs: one every four cycles."""
    rows = table(64, stall_count=4, pipe=Pipe.FMA, pipe_cycles=2)
    assert simulate(inputs(rows)).counters.cycles == 63 * 4


@pytest.mark.parametrize(("warps", "cycles"), [(4, 64), (8, 128), (16, 256)])
def test_independent_instructions_are_bound_by_issue(warps: int, cycles: int) -> None:
    """With a pipe pair of two cycles each, every sub-core issues one instruction per cycle."""
    rows = table(64, pipe=Pipe.FMA, alternative_pipe=Pipe.FMA_LITE, pipe_cycles=2)
    assert simulate(inputs(rows, warps=warps)).counters.cycles == cycles - 1


def test_one_half_rate_pipe_halves_the_rate() -> None:
    """One pipe of two cycles: an instruction every other cycle; the wait is the pipe's."""
    rows = table(64, pipe=Pipe.ALU, pipe_cycles=2)
    state = simulate(inputs(rows, warps=8))
    assert state.counters.cycles == 2 * 127
    assert state.pipe_busy[Pipe.ALU] == 2 * 64 * 8
    assert state.stalls[:, Reason.MATH_PIPE_THROTTLE].sum() > state.stalls[:, Reason.WAIT].sum()


def test_shared_loads_are_bound_by_the_load_store_unit() -> None:
    """On sm_86 the SM takes one shared load per two cycles, whatever the sub-cores offer."""
    rows = table(32)
    for at in range(32):
        shared_load(rows, at)
    state = simulate(inputs(rows, warps=16))
    assert state.counters.lsu_busy == 2 * 32 * 16
    assert state.counters.cycles == pytest.approx(2 * 32 * 16 + 24, abs=8)
    assert state.stalls[:, Reason.MIO_THROTTLE].sum() / state.stalls.sum() > 0.8


def test_one_sub_core_offers_a_memory_instruction_every_four_cycles() -> None:
    """A single warp: five go into the queue at once, then one per four cycles (MICRO 2025, table 1)."""
    rows = table(10)
    for at in range(10):
        shared_load(rows, at)
    state = simulate(inputs(rows))
    assert state.counters.last_issue == 4 * (10 - 1 - 5)
    assert state.counters.cycles == 4 * 9 + 24


def test_a_scoreboard_holds_the_consumer() -> None:
    """A load, then its consumer: 24 cycles later, for want of the short scoreboard."""
    rows = table(2)
    shared_load(rows, 0, board=3)
    rows[1]["wait_mask"] = 1 << 3
    state = simulate(inputs(rows))
    assert state.counters.last_issue == 24
    assert state.stalls[1, Reason.SHORT_SCOREBOARD] == 23


def test_depbar_leaves_the_last_ones_in_flight() -> None:
    """DEPBAR.LE SB0, 1 waits for the first of two loads only."""
    for remaining, waited in ((1, 24), (0, 28), (2, 2)):
        rows = table(3)
        shared_load(rows, 0)
        shared_load(rows, 1)
        rows[2]["operation"], rows[2]["scoreboard"], rows[2]["outstanding"] = Operation.DEPBAR, 0, remaining
        assert simulate(inputs(rows)).counters.last_issue == waited


def test_a_barrier_waits_for_the_slowest_warp() -> None:
    """Eight warps on two turns per sub-core meet after the last has issued its barrier."""
    rows = table(3)
    rows[1]["operation"] = Operation.BARRIER_SYNC
    rows[0]["stall_count"] = 10
    state = simulate(inputs(rows, warps=8, barrier_cycles=22))
    assert state.counters.last_issue == 11 + 22 + 1
    assert state.stalls[1, Reason.BARRIER] > 0
    assert state.stalls[2, Reason.BARRIER] == 0


def test_warps_that_have_left_are_not_waited_for() -> None:
    """One warp has no barrier at all."""
    rows = table(2)
    rows[1]["operation"] = Operation.BARRIER_SYNC
    given = inputs(rows, warps=2, barrier_cycles=5)
    given.steps[1, 1] = 1  # the second warp ends before the barrier
    assert simulate(given).counters.issued_instructions == 3


def test_a_warp_without_instructions_has_left_as_it_begins() -> None:
    """Of two warps the second takes nothing but its empty way into the program: nobody waits for it."""
    rows = table(2)
    rows[1]["operation"] = Operation.BARRIER_SYNC
    given = inputs(rows, warps=2, barrier_cycles=5)
    given.steps[1] = -1, -1, 0
    assert simulate(given).counters.issued_instructions == 2


def test_blocks_without_instructions_make_room_for_the_next() -> None:
    """Of four blocks in one place the first and the third have nothing to do."""
    rows = table(10, stall_count=4)
    given = inputs(rows, warps=2, blocks=4)
    given.settings["warps_per_block"] = 1  # two sampled blocks of a warp each
    given.steps[0] = -1, -1, 0
    given.blocks[:] = 0, 1, 0, 1
    state = simulate(given)
    assert list(state.block_end) == [0, 36, 36, 72]
    assert state.counters.issued_instructions == 20


def test_three_sources_in_one_bank_cost_cycles() -> None:
    """Three reads of a bank with one port: an instruction every three cycles in the long run."""
    for bank, cycles in (("even_bank_reads", 3), ("odd_bank_reads", 3), (None, 1)):
        rows = table(60, pipe=Pipe.FMA, alternative_pipe=Pipe.FMA_LITE, pipe_cycles=2)
        if bank is not None:
            rows[bank] = 3
        assert simulate(inputs(rows)).counters.cycles == pytest.approx(60 * cycles, abs=3)


def test_nothing_issues_beside_what_takes_its_sub_core_for_several_cycles() -> None:
    """What takes two cycles to issue holds up the other warp of its sub-core, too, as dispatch."""
    rows = table(60)
    rows["issue_cycles"][::3] = 2
    state = simulate(inputs(rows, warps=2, sub_cores=1))
    assert state.counters.cycles == pytest.approx(2 * 80, abs=2)
    assert state.stalls[:, Reason.DISPATCH].sum() > 0


def test_blocks_follow_one_another_with_their_dispatch() -> None:
    """Four blocks, two at a time, each 100 cycles of dispatch and 40 of work."""
    rows = table(10, stall_count=4)
    state = simulate(inputs(rows, warps=4, blocks=4, resident=2, block_cycles=100))
    assert list(state.block_end) == [136, 137, 272, 273]


def test_blocks_wait_for_their_turn_on_the_chip() -> None:
    """Four blocks of 40 cycles of work, one every 150 cycles though there is room for all."""
    rows = table(10, stall_count=4)
    state = simulate(inputs(rows, blocks=4, resident=4, dispatch_cycles=150.0))
    assert list(state.block_end) == [36, 186, 336, 486]
    assert state.counters.dispatch_busy == 600.0


@pytest.mark.parametrize(("rate", "missing"), [(0.0, 0), (0.25, 25), (0.5, 50), (1.0, 100)])
def test_misses_come_in_the_right_share(rate: float, missing: int) -> None:
    """A hundred loads of four sectors: the share that misses moves its bytes and takes L2's latency."""
    rows = table(1)
    shared_load(rows, 0)
    rows[0]["traffic"] = Traffic.READ
    rows[0]["l1_miss_rate"], rows[0]["l2_latency"] = rate, 200.0
    state = simulate(inputs(rows, repeats=100))
    assert state.counters.l2_bytes == pytest.approx(128 * missing, abs=128)


def test_a_warp_that_finds_its_line_in_flight_waits_for_it() -> None:
    """Two warps follow one chain of 20 loads: a line takes its latency from L2, for whoever asks for it."""
    rows = table(1)
    shared_load(rows, 0)
    rows[0]["traffic"], rows[0]["wait_mask"] = Traffic.READ, 1
    rows[0]["l1_miss_rate"], rows[0]["l2_latency"], rows[0]["in_flight_rate"] = 0.5, 200.0, 1.0
    state = simulate(inputs(rows, warps=2, repeats=20))
    assert state.counters.cycles == pytest.approx(20 * 200, rel=0.1)
    assert state.counters.l2_bytes == 20 * 128
    rows[0]["in_flight_rate"] = 0.0
    assert simulate(inputs(rows, warps=2, repeats=20)).counters.cycles < 0.7 * 20 * 200


@pytest.mark.parametrize("times", [1.0, 3.0])
def test_dram_gives_no_more_than_its_rate(times: float) -> None:
    """Loads that all miss take the time of their bytes, longer where each opens a page for them."""
    rows = table(1)
    shared_load(rows, 0)
    rows[0]["traffic"], rows[0]["l1_miss_rate"], rows[0]["l2_miss_rate"] = Traffic.READ, 1.0, 1.0
    rows[0]["dram_latency"], rows[0]["dram_slowdown"] = 500.0, times
    state = simulate(inputs(rows, warps=32, repeats=50, dram_bytes=8.0, burst_cycles=0.0))
    assert state.counters.cycles == pytest.approx(times * 128 * 50 * 32 / 8.0 + 500, rel=0.01)


@pytest.mark.parametrize(("run", "waiting"), [(0.0, 15 / 16), (256.0, 3 / 4), (np.inf, 1 / 2)])
def test_lines_side_by_side_miss_l2_together(run: float, waiting: float) -> None:
    """The longer the runs, the fewer of the accesses wait for DRAM, and the more each brings."""
    rows = table(1)
    shared_load(rows, 0)
    rows[0]["traffic"], rows[0]["l1_miss_rate"], rows[0]["l2_miss_rate"] = Traffic.READ, 1.0, 0.5
    rows[0]["wait_mask"], rows[0]["dram_latency"], rows[0]["l2_run_bytes"] = 1, 1000.0, run
    given = inputs(rows, repeats=1600)
    given.accesses[:, 1:] = 16.0, 4.0
    state = simulate(given)
    assert state.counters.cycles == pytest.approx(1600 * (24 * (1 - waiting) + 1000 * waiting), rel=0.001)
    assert state.counters.dram_bytes == pytest.approx(1600 * 16 * 32 / 2, rel=0.001)


def test_every_cycle_of_every_warp_is_attributed() -> None:
    """Stall cycles sum to the time warps were resident."""
    rng = np.random.default_rng(0)
    rows = table(30, pipe=Pipe.ALU, pipe_cycles=2)
    rows["stall_count"] = rng.integers(1, 12, 30)
    for at in rng.choice(30, 8, replace=False):
        shared_load(rows, int(at), board=int(at) % 6)
    rows["wait_mask"] = rng.integers(0, 64, 30)
    rows[29]["operation"] = Operation.BARRIER_SYNC
    state = simulate(inputs(rows, warps=8, repeats=5, barrier_cycles=20))
    assert state.stalls.sum() == state.counters.warp_cycles
    assert state.stalls[:, Reason.SELECTED].sum() == state.counters.issued_instructions == 30 * 5 * 8


def test_jumps_out_of_the_cache_wait_for_instructions() -> None:
    """A loop larger than L0 pays at its back edge, a small one does not."""
    for lines, waits in ((100, 0), (2, 3 * 39)):
        rows = table(64)
        rows["cache_line"] = np.arange(64) // 8
        state = simulate(inputs(rows, repeats=4, l0_lines=lines, l0_miss_cycles=39))
        assert state.stalls[:, Reason.NO_INSTRUCTION].sum() == pytest.approx(waits, abs=0)


def test_a_jump_waits_for_what_it_jumps_to() -> None:
    """A loop of one warp that fits into L0 pays at its back edge, a straight line nothing."""
    rows = table(64)
    alone = simulate(inputs(rows, repeats=4)).counters.cycles
    assert simulate(inputs(rows, repeats=4, jump_cycles=13)).counters.cycles == alone + 3 * 13
    assert simulate(inputs(rows, jump_cycles=13)).counters.cycles == 63


def test_who_issues_next_can_be_chosen() -> None:
    """Three warps of one sub-core, of which two keep its pipe busy; the order decides who waits."""
    rows = table(8, stall_count=5, pipe=Pipe.ALU, pipe_cycles=4)
    ends = {}
    for order in (IssueOrder.OLDEST, IssueOrder.YOUNGEST, IssueOrder.LONGEST_WAITING):
        given = inputs(rows, warps=1, blocks=3, resident=3, sub_cores=1, issue_order=order)
        ends[order] = list(simulate(given).block_end)
    assert ends[IssueOrder.OLDEST][0] < ends[IssueOrder.OLDEST][2] - 8
    assert ends[IssueOrder.YOUNGEST][0] > ends[IssueOrder.YOUNGEST][2] + 8
    assert (
        max(ends[IssueOrder.LONGEST_WAITING]) - min(ends[IssueOrder.LONGEST_WAITING]) == 8
    )  # they take turns


def test_warps_of_the_oldest_block_take_turns_before_those_of_the_next() -> None:
    """Two blocks of two warps on one sub-core: the first block ends first, both its warps together."""
    rows = table(8, stall_count=5, pipe=Pipe.ALU, pipe_cycles=4)
    given = inputs(
        rows, warps=2, blocks=2, resident=2, sub_cores=1, block_cycles=1, issue_order=IssueOrder.OLDEST_BLOCK
    )
    first, second = simulate(given).block_end
    assert first < second - 16


def test_special_functions_hold_back_the_load_behind_them() -> None:
    """Four conversions and a load: it leaves the queue when the third goes into the unit, 16 cycles on."""
    ends = {}
    for interval in (1, 8):
        rows = table(5)
        rows["operation"][:4], rows["pipe"][:4], rows["pipe_cycles"][:4] = (
            Operation.MIO_PIPE,
            Pipe.XU,
            interval,
        )
        shared_load(rows, 4)
        ends[interval] = simulate(inputs(rows, sub_cores=1)).counters.cycles
    assert ends[8] - ends[1] == 16 + 1 - 4  # else the load issues in the fifth cycle


def test_a_pipe_of_the_whole_sm_takes_what_queues_for_it_as_it_comes() -> None:
    """Four blocks of one warp, each on its own sub-core: none is served before another that came first."""
    rows = table(10, operation=Operation.MIO_PIPE, sm_pipe=SmPipe.FP64, sm_pipe_cycles=16)
    state = simulate(inputs(rows, blocks=4, resident=4))
    assert state.counters.cycles == 16 * 39
    assert state.sm_pipe_busy[SmPipe.FP64] == 16 * 40
    assert max(state.block_end) - min(state.block_end) <= 3 * 16  # else 10 * 16 and more


def test_constants_do_not_wait_for_the_load_store_unit() -> None:
    """Loads of constants beside shared loads: the load-store unit has the shared ones only.

    Who waits for the constants' scoreboard waits for the address unit alone.
    """
    for board, released in ((0, 4 * 6 + 24), (1, 4 + 3 * 8 + 24)):
        rows = table(9)
        for at in range(8):
            shared_load(rows, at, board=at % 2, cycles=8.0 if at % 2 else 0.0)
        rows[8]["wait_mask"] = 1 << board
        state = simulate(inputs(rows))
        assert state.counters.lsu_busy == 4 * 8
        assert state.counters.last_issue == released


@pytest.mark.parametrize(
    "settings",
    [
        {"sub_cores": 5}, {"queue_depth": 17}, {"sub_cores": 1, "resident": 65}, {"sub_cores": 0},
        {"queue_depth": 0},
    ],
)  # fmt: skip
def test_an_sm_larger_than_any_or_without_a_unit_is_refused(settings: dict[str, int]) -> None:
    with pytest.raises(UnsupportedGpuError):
        simulate(inputs(table(1), **settings))  # type: ignore[arg-type]
