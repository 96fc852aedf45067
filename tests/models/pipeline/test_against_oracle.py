"""Random programs: the simulator skips cycles, the oracle does not, both agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.pipeline.oracle import Oracle
from tests.models.pipeline.tables import inputs, shared_load, table
from warpwatt.models.pipeline.codes import IssueOrder, Operation, Pipe, Reason, Traffic
from warpwatt.models.pipeline.simulator import simulate, simulate_with_beginning

if TYPE_CHECKING:
    from warpwatt.models.pipeline.simulator import Inputs, Records


def random_inputs(seed: int) -> Inputs:
    """Return a program with everything that the oracle knows."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 24))
    rows = table(size)
    rows["stall_count"] = rng.integers(0, 8, size)
    rows["yields"] = rng.integers(0, 2, size)
    rows["issue_stall"] = rng.choice((Reason.WAIT, Reason.BRANCH_RESOLVING), size)
    rows["result_stall"] = rng.choice((Reason.SHORT_SCOREBOARD, Reason.LONG_SCOREBOARD), size)
    rows["wait_mask"] = rng.integers(0, 64, size) * rng.integers(0, 2, size)
    for at in range(size):
        random_instruction(rng, rows, at)
    return inputs(
        rows, warps=int(rng.integers(1, 9)), repeats=int(rng.integers(1, 4)),
        blocks=int(rng.integers(1, 5)), resident=int(rng.integers(1, 4)),
        block_cycles=int(rng.integers(1, 50)), barrier_cycles=int(rng.integers(1, 30)),
        sub_cores=int(rng.choice((1, 2, 4))), rotation_instructions=int(rng.choice((0, 0, 7, 40))),
        issue_order=int(rng.choice(list(IssueOrder))), dispatch_cycles=float(rng.choice((0.0, 20.5, 300.0))),
    )  # fmt: skip


def random_instruction(rng: np.random.Generator, rows: Records, at: int) -> None:
    """Make an instruction one of all kinds."""
    row, kind = rows[at], rng.integers(0, 9)
    if kind < 3:
        row["pipe"], row["pipe_cycles"] = Pipe.FMA, 2
        row["alternative_pipe"] = rng.choice((Pipe.NONE, Pipe.FMA_LITE))
        row["even_bank_reads"], row["odd_bank_reads"] = rng.integers(0, 4, 2)
    elif kind < 5:
        shared_load(rows, at, int(rng.integers(-1, 6)), float(rng.choice((1.0, 2.0, 4.5))))
        row["read_barrier"], row["issue_cycles"] = rng.integers(-1, 6), rng.integers(1, 4)
    elif kind == 5:
        row["operation"] = Operation.BARRIER_SYNC
    elif kind == 6:
        row["operation"], row["scoreboard"] = Operation.DEPBAR, rng.integers(0, 6)
        row["outstanding"] = rng.integers(0, 3)
    elif kind == 7:
        row["operation"], row["pipe"], row["pipe_cycles"] = Operation.MIO_PIPE, Pipe.XU, rng.integers(1, 9)
        row["write_barrier"], row["latency"] = rng.integers(-1, 6), 15.0
        row["read_barrier"], row["operand_read_latency"] = rng.integers(-1, 6), 4.0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_the_oracle_agrees(seed: int) -> None:
    """End, instructions issued, and the end of every block."""
    given_ = random_inputs(seed)
    slow, fast = Oracle(given_).run(), simulate(given_)
    assert fast.counters.issued_instructions == slow.issued
    assert list(fast.block_end) == slow.block_end
    assert fast.counters.cycles == slow.end


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_every_cycle_has_the_reason_that_held_the_warp_in_it(seed: int) -> None:
    """Warp cycles by instruction and reason, and for whose results they were spent."""
    given_ = random_inputs(seed)
    slow, fast = Oracle(given_).run(), simulate(given_)
    assert np.array_equal(fast.stalls, slow.stalls)
    assert fast.stalls.sum() == fast.counters.warp_cycles
    named = {
        (int(i), int(fast.producers[i, k])): int(fast.awaited[i, k]) for i, k in np.argwhere(fast.awaited)
    }
    assert all(slow.awaited[pair] == cycles for pair, cycles in named.items())
    assert len(named) == len(slow.awaited) or (fast.producers >= 0).all(axis=1).any()


def random_misses(seed: int) -> Inputs:
    """Return a random program whose loads go through L1, over slow ports, L2 and DRAM."""
    rng = np.random.default_rng(seed)
    given_ = random_inputs(seed)
    rows, settings_ = given_.instructions, given_.settings
    for pc in np.flatnonzero(rows["operation"] == Operation.MEMORY):
        rows["shared_memory"][pc] = False
        rows["traffic"][pc] = rng.choice((Traffic.READ, Traffic.WRITE))
        rows["l1_miss_rate"][pc], rows["l2_miss_rate"][pc] = rng.choice((0.0, 0.25, 0.5, 1.0), 2)
        rows["l2_latency"][pc], rows["dram_latency"][pc] = 90.0, 200.0
        rows["dram_slowdown"][pc] = rng.choice((1.0, 2.5))
        rows["l2_run_bytes"][pc] = rng.choice((0.0, 32.0, 128.0, 200.0, np.inf))
        sectors, lines = ((4.0, 1.0), (16.0, 4.0), (32.0, 32.0))[rng.integers(0, 3)]
        given_.accesses[given_.access_instructions == pc, 1:] = sectors, lines
    for name, values in _OFF_CHIP.items():
        settings_[name] = rng.choice(values)
    return given_


_OFF_CHIP = {
    "port_bytes": (32.0, 128.0), "write_port_bytes": (32.0, 64.0), "l2_bytes": (50.0, 100.0),
    "dram_bytes": (20.0, 60.0), "backlog_cycles": (50.0, 2000.0), "load_linear_cycles": (0.0, 50.0),
    "load_queue_cycles": (0.0, 7.0), "load_window_cycles": (60.0, 500.0), "burst_cycles": (0.0, 40.0),
    "burst_after_cycles": (1.0, 400.0),
}  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_the_oracle_agrees_on_what_lies_behind_l1(seed: int) -> None:
    """End of every block, stall cycles, and bytes of L2 and DRAM."""
    given_ = random_misses(seed)
    slow, fast = Oracle(given_).run(), simulate(given_)
    assert list(fast.block_end) == slow.block_end
    assert fast.counters.cycles == slow.end
    assert np.array_equal(fast.stalls, slow.stalls)
    assert fast.counters.l2_bytes == pytest.approx(slow.off_chip.bytes["l2"], rel=1e-12)
    assert fast.counters.dram_bytes == pytest.approx(slow.off_chip.bytes["dram"], rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_the_beginning_of_a_line_is_simulated_as_if_alone(seed: int) -> None:
    """All that a line of blocks and its first blocks count, both in one simulation or each in its own."""
    rng, given_ = np.random.default_rng(seed), random_misses(seed)
    first = int(given_.settings["resident_blocks"]) + int(rng.integers(0, 4))
    line = np.zeros(first + int(rng.integers(1, 4)), np.int64)
    together = simulate_with_beginning(given_._replace(blocks=line), first)
    for found, blocks in zip(together, (line, line[:first]), strict=True):
        alone = simulate(given_._replace(blocks=blocks))
        assert found.counters == alone.counters
        for name in found._fields[1:]:
            assert np.array_equal(getattr(found, name), getattr(alone, name)), name
