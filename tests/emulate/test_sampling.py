"""Samples of blocks: every place of a grid, at any size, weighted to the whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.launch import Dim3
from warpwatt.emulate.sampling import WHOLE_GRID, sample

EXTENTS = st.integers(1, 40)


@given(EXTENTS, EXTENTS, EXTENTS)
def test_weights_add_up_to_the_grid_and_boundaries_are_exact(x, y, z):
    grid = Dim3(x, y, z)
    taken = sample(grid)
    everyone = range(len(taken.units))
    assert sum(taken.weights(everyone)) == pytest.approx(grid.count)
    blocks = [b for unit in taken.units for b in unit]
    assert len(set(blocks)) == len(blocks)
    assert {0, grid.count - 1} <= set(blocks)
    assert max(blocks) < grid.count
    last_row = sum(w for w, u in zip(taken.weights(everyone), taken.units, strict=True) if u[0] % x == x - 1)
    assert last_row == pytest.approx(y * z)


@given(EXTENTS, EXTENTS, EXTENTS)
def test_part_of_a_sample_stands_for_everything_too(x, y, z):
    taken = sample(Dim3(x, y, z))
    assert sum(taken.weights([0])) == pytest.approx(x * y * z)


@pytest.mark.parametrize("grid", [Dim3(2**31 - 1), Dim3(60_000, 60_000), Dim3(2000, 2000, 500)])
def test_large_grids_need_no_more_blocks(grid):
    assert len(sample(grid).units) < 64


def test_small_grids_are_taken_whole():
    assert sample(Dim3(WHOLE_GRID)).whole
    assert not sample(Dim3(WHOLE_GRID + 1)).whole


def test_clusters_run_together():
    taken = sample(Dim3(1000, 2), Dim3(2, 2))
    assert all(len(unit) == 4 for unit in taken.units)
    assert (0, 1, 1000, 1001) in taken.units
    assert sum(taken.weights(range(len(taken.units)))) * 4 == pytest.approx(2000)


def test_large_places_come_before_corners_so_that_a_small_budget_weighs_them_right():
    taken = sample(Dim3(12500, 2))
    assert {u[0] // 12500 for u in taken.units[:2]} == {0, 1}
    assert taken.weights([0, 1]) == pytest.approx([12500, 12500])


def test_blocks_next_to_one_another_come_before_corners():
    places = [(u[0] % 32, u[0] // 32) for u in sample(Dim3(32, 128)).units[:3]]
    (x, y), *beside = places
    assert {(abs(a - x), abs(b - y)) for a, b in beside} == {(1, 0), (0, 1)}
