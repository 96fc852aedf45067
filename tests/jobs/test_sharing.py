"""Streams share the SMs by blocks: small cases by hand, bounds for all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.jobs.sharing import Grid, share

grids = st.lists(
    st.builds(Grid, st.integers(1, 60), st.integers(1, 4), st.integers(1, 5).map(float)),
    min_size=1,
    max_size=4,
)


def alone(grid, sms):
    return -(-grid.blocks // (sms * grid.resident)) * grid.block_seconds


@given(grids, st.integers(1, 8))
def test_one_grid_takes_its_rounds_and_several_no_longer_than_in_a_row(found, sms):
    assert share(found[:1], sms)[1] == (alone(found[0], sms),)
    starts, ends = share(found, sms)
    assert max(ends) <= sum(alone(grid, sms) for grid in found) * (1 + 1e-12)
    room = sum(grid.blocks * grid.block_seconds / grid.resident for grid in found)
    assert max(ends) >= room / sms * (1 - 1e-12)
    assert all(
        end >= start + grid.block_seconds for start, end, grid in zip(starts, ends, found, strict=True)
    )


@given(grids, st.integers(1, 8))
def test_a_chain_runs_in_a_row(found, sms):
    chained = [
        Grid(grid.blocks, grid.resident, grid.block_seconds, (i - 1,) if i else ())
        for i, grid in enumerate(found)
    ]
    starts, ends = share(chained, sms)
    assert max(ends) == pytest.approx(sum(alone(grid, sms) for grid in found))
    assert list(starts[1:]) == pytest.approx(list(ends[:-1]))


def test_the_first_that_does_not_fit_holds_back_the_rest():
    """Blocks are dispatched in the order of submission: the third grid would fit, and waits."""
    starts, _ = share([Grid(5, 2, 2.0), Grid(1, 1, 1.0), Grid(1, 2, 1.0)], sm_count=3)
    assert starts == (0.0, 2.0, 2.0)


def test_small_blocks_fill_what_is_left_of_an_sm():
    starts, ends = share([Grid(2, 2, 4.0), Grid(2, 4, 1.0)], sm_count=2)
    assert starts == (0.0, 0.0)
    assert ends == (4.0, 1.0)


def test_copies_run_beside_kernels():
    starts, ends = share([Grid(1, 1, 5.0, (), "h2d"), Grid(4, 1, 1.0), Grid(1, 1, 1.0, (0, 1))], sm_count=2)
    assert starts == (0.0, 0.0, 5.0)
    assert ends == (5.0, 2.0, 6.0)


def test_very_many_rounds_stay_exact_for_one_grid():
    assert share([Grid(1_000_003, 4, 1e-6)], 10)[1][0] == pytest.approx(-(-1_000_003 // 40) * 1e-6, rel=5e-3)
