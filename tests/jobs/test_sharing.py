"""Streams share the SMs by blocks: small cases by hand, bounds for all."""

from __future__ import annotations

from operator import add
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.application import Application, KernelNode
from warpwatt.core.estimate import Estimate, Source
from warpwatt.core.gpu import Gpu
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.prediction import ApplicationPrediction, Step
from warpwatt.gpus import find
from warpwatt.jobs.sharing import Grid, share, share_application
from warpwatt.models.component.waiting import waiting_watts

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


def _application(
    gpu: Gpu, *times: Estimate, streams: bool = True
) -> tuple[Application, ApplicationPrediction]:
    """Return kernels of half the SMs each with these times, and them one at a time at 100 W above idle."""
    nodes, steps = [], []
    for i, time in enumerate(times):
        launch = Launch(Dim3(gpu.sm_count // 2), Dim3(256))
        stream = f"s{i}" if streams else "s"
        nodes.append(KernelNode(f"k{i}", Path("k.cu"), None, launch, stream=stream))
        workload = SimpleNamespace(occupancy=SimpleNamespace(blocks_per_sm=1))
        prediction: Any = SimpleNamespace(case=SimpleNamespace(workload=workload))
        energy = time.scaled(100.0 + waiting_watts(gpu), "J")
        steps.append(Step(f"k{i}", "kernel", stream, 1, 0.0, time, energy, prediction))
    nothing, whole = Estimate.exact(0.0, "J"), Estimate.exact(0.0, "s")
    energy = nothing
    for step in steps:
        assert step.energy is not None
        whole, energy = whole.combine(step.time, add, "s"), energy.combine(step.energy, add, "J")
    found = ApplicationPrediction("a", gpu.name, tuple(steps), whole, energy, whole.scaled(0.0), nothing)
    return Application("a", tuple(nodes)), found


def test_makespan_and_energy_have_the_interval_of_the_steps():
    """Two kernels beside each other end with the later one, under every draw; the work is the same."""
    gpu = find("a100-pcie-40gb")
    one, two = Estimate.spread(10.0, {"p": 0.2}, "s"), Estimate.spread(9.0, {"q": 0.3}, "s")
    application, predicted = _application(gpu, one, two)
    shared = share_application(application, predicted, gpu)
    later = one.combine(two, max, "s")
    assert shared.time.value == pytest.approx(10.0)
    assert (shared.time.low, shared.time.high) == pytest.approx((later.low, later.high), rel=1e-9)
    joules = one.combine(two, lambda a, b: 100.0 * (a + b) + waiting_watts(gpu) * max(a, b), "J")
    assert (shared.energy.low, shared.energy.value, shared.energy.high) == pytest.approx(
        (joules.low, joules.value, joules.high), rel=1e-9
    )
    assert shared.energy.source is Source.MODELLED


def test_kernels_of_one_stream_take_the_sum_and_its_interval():
    gpu = find("a100-pcie-40gb")
    one, two = Estimate.spread(10.0, {"p": 0.2}, "s"), Estimate.spread(9.0, {"q": 0.3}, "s")
    application, predicted = _application(gpu, one, two, streams=False)
    shared = share_application(application, predicted, gpu)
    both = one.combine(two, add, "s")
    assert (shared.time.low, shared.time.value, shared.time.high) == pytest.approx(
        (both.low, both.value, both.high), rel=1e-9
    )
