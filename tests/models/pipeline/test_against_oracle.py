"""Random programs: the simulator skips cycles, the oracle does not, both agree; so does the compiled one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.pipeline.oracle import Oracle
from tests.models.pipeline.tables import inputs, run, shared_load, table
from warpwatt.models.pipeline import layout as c
from warpwatt.models.pipeline import native
from warpwatt.models.pipeline.state import new_state

if TYPE_CHECKING:
    from warpwatt.models.pipeline.state import Inputs


def random_inputs(seed: int) -> Inputs:
    """Return a program with everything that the oracle knows."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 24))
    ints, floats = table(size)
    ints[:, c.STALL] = rng.integers(0, 8, size)
    ints[:, c.YIELD] = rng.integers(0, 2, size)
    ints[:, c.AFTER] = rng.choice((c.R_WAIT, c.R_BRANCH), size)
    ints[:, c.REASON] = rng.choice((c.R_SHORT, c.R_LONG), size)
    ints[:, c.WAIT_MASK] = rng.integers(0, 64, size) * rng.integers(0, 2, size)
    for at in range(size):
        kind = rng.integers(0, 9)
        if kind < 3:
            ints[at, c.PIPE], ints[at, c.INTERVAL] = c.FMA, 2
            ints[at, c.OTHER_PIPE] = rng.choice((-1, c.FMA_LITE))
            ints[at, c.BANK0], ints[at, c.BANK1] = rng.integers(0, 4, 2)
        elif kind < 5:
            shared_load(ints, floats, at, int(rng.integers(-1, 6)), float(rng.choice((1.0, 2.0, 4.5))))
            ints[at, c.READ_BARRIER] = rng.integers(-1, 6)
        elif kind == 7:
            ints[at, [c.KIND, c.PIPE, c.INTERVAL]] = c.QUEUED, c.XU, rng.integers(1, 9)
            ints[at, c.WRITE_BARRIER], floats[at, c.LATENCY] = rng.integers(-1, 6), 15.0
            ints[at, c.READ_BARRIER], floats[at, c.READ_LATENCY] = rng.integers(-1, 6), 4.0
        elif kind == 5:
            ints[at, c.KIND] = c.BARRIER
        elif kind == 6:
            ints[at, [c.KIND, c.SCOREBOARD, c.REMAINING]] = c.DEPBAR, rng.integers(0, 6), rng.integers(0, 3)
    found = inputs(
        ints, floats, warps=int(rng.integers(1, 9)), repeats=int(rng.integers(1, 4)),
        blocks=int(rng.integers(1, 5)), resident=int(rng.integers(1, 4)),
        block_cycles=int(rng.integers(1, 50)), barrier_cycles=int(rng.integers(1, 30)),
        sub_cores=int(rng.choice((1, 2, 4))), turn=int(rng.choice((0, 0, 7, 40))),
        issue_order=int(rng.choice((c.OLDEST, c.YOUNGEST, c.LONGEST_WAITING, c.OLDEST_BLOCK))),
    )  # fmt: skip
    found.rates[c.DISPATCH] = rng.choice((0.0, 20.5, 300.0))
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_the_oracle_agrees(seed: int) -> None:
    """End, instructions issued, and the end of every block."""
    given_ = random_inputs(seed)
    slow, fast = Oracle(given_).run(), run(given_)
    assert fast.results[c.ISSUED] == slow.issued
    assert list(fast.block_end) == slow.block_end
    assert fast.results[c.END] == slow.end


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_every_cycle_has_the_reason_that_held_the_warp_in_it(seed: int) -> None:
    """Warp cycles by instruction and reason, and for whose results they were spent."""
    given_ = random_inputs(seed)
    slow, fast = Oracle(given_).run(), run(given_)
    assert np.array_equal(fast.stalls, slow.stalls)
    assert fast.stalls.sum() == fast.results[c.WARP_CYCLES_SUM]
    named = {
        (int(i), int(fast.producers[i, k]) - 1): int(fast.awaited[i, k]) for i, k in np.argwhere(fast.awaited)
    }
    assert all(slow.awaited[pair] == cycles for pair, cycles in named.items())
    assert len(named) == len(slow.awaited) or (fast.producers > 0).all(axis=1).any()


def test_the_compiled_simulator_agrees() -> None:
    """Every number that is counted, on forty programs."""
    for seed in range(40):
        given_ = random_inputs(seed)
        loads = given_.ints[:, c.KIND] == c.MEMORY
        given_.ints[loads, c.TRAFFIC] = c.READ
        given_.floats[np.ix_(loads, (c.L1_MISS, c.L2_MISS, c.IN_FLIGHT))] = 0.6, 0.3, 0.5
        given_.floats[np.ix_(loads, (c.L2_LATENCY, c.DRAM_LATENCY))] = 90.0, 200.0
        python, compiled = run(given_), new_state(given_)
        native.simulate(given_, compiled)
        for name in ("debts", "results", "stalls", "producers", "awaited", "block_end", "pipe_busy"):
            assert np.array_equal(getattr(python, name), getattr(compiled, name)), (seed, name)
