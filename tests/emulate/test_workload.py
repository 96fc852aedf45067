"""Traffic: what enters a level is never less than what leaves it for good."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import toy_execution
from warpwatt.core.execution import AccessPattern
from warpwatt.core.launch import L2State
from warpwatt.core.program import Resources
from warpwatt.emulate.caches.curves import l1_miss, l2_miss, l2_store_miss
from warpwatt.emulate.workload import workload
from warpwatt.gpus import find

RESOURCES = Resources(registers=16)


def test_streaming_moves_every_byte_once(toy):
    work = workload(toy.execution(), find("h200"), RESOURCES)
    touched = 100_000 * 256 * 4
    assert work.dram.read == pytest.approx(touched)
    assert 0.9 * touched < work.dram.written < touched  # L2 keeps the last of it
    assert work.l2.read == pytest.approx(touched)


def test_uncoalesced_access_multiplies_traffic(toy):
    coalesced = workload(toy.execution(), find("h200"), RESOURCES)
    scattered = workload(toy.execution(sectors=32.0), find("h200"), RESOURCES)
    assert scattered.l2.read == pytest.approx(8 * coalesced.l2.read)


@given(
    st.floats(1, 32),
    st.floats(0.001, 1),
    st.floats(0.001, 1),
    st.sampled_from(["h200", "v100", "rtx4090", "k20", "gtx460"]),
)
def test_each_level_filters_reads(sectors, whole, share, gpu):
    execution = toy_execution(blocks=5000)
    requested = sectors * 32 * execution.launch.warps
    pattern = AccessPattern(
        sectors, sectors, 1.0, 4.0, None, "x", requested * whole, requested * whole * share / 5000
    )
    accesses = {**execution.accesses, 0: pattern}
    execution = type(execution)(
        execution.program, execution.launch, execution.counts, execution.lanes, accesses=accesses
    )
    work = workload(execution, find(gpu), RESOURCES)
    slack = 1 + 1e-9
    assert work.dram.read <= work.l2.read * slack
    assert work.l2.read <= work.l1.read * slack
    assert work.dram.written <= work.l2.written * slack


def test_a_warm_cache_saves_dram_reads_of_what_fits(toy):
    execution = toy.execution(blocks=1000)
    warm = type(execution)(
        execution.program,
        toy.replace(execution.launch, l2=L2State.WARM),
        execution.counts,
        execution.lanes,
        accesses=execution.accesses,
    )
    assert workload(execution, find("h200"), RESOURCES).dram.read > 0
    assert workload(warm, find("h200"), RESOURCES).dram.read == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("curve", [l1_miss, l2_miss, l2_store_miss])
def test_miss_curves_rise_between_zero_and_one(curve):
    values = [curve(x / 10) for x in range(200)]
    assert values == sorted(values)
    assert 0 <= values[0] <= values[-1] <= 1


def test_waves_and_occupancy(toy):
    work = workload(toy.execution(blocks=132 * 8), find("h200"), RESOURCES)
    assert work.occupancy.blocks_per_sm == 8
    assert work.waves == pytest.approx(1.0)
