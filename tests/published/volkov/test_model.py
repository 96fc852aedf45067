"""Volkov's model: Little's law at both ends, monotone between, and the rows of Table 4.10 it gave."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.launch import Dim3
from warpwatt.published.volkov.model import Throughputs, Volkov, bounds, latency_seconds, warp_cycles

numbers = st.floats(0.01, 1000)


@pytest.mark.parametrize(
    ("alpha", "warps", "k20", "m60"),
    [(4.3, 16, 6.481, 5.5907), (7.56, 8, 5.2443, 4.682), (22 / 7, 4, 1.2217, 1.0399)],
)
def test_rows_of_table_4_10_bound_by_latency(alpha, warps, k20, m60):
    """Vector addition, Hotspot and Fan1 of Alavani (2023), page 105: 32 threads times Little's law."""
    kepler = Throughputs(alpha, warps, 301, 1.0, 9, 6.0)
    maxwell = Throughputs(alpha, warps, 368, 1.0, 6, 4.0)
    assert 32 * kepler.arithmetic == pytest.approx(k20, rel=2e-4)
    assert 32 * maxwell.arithmetic == pytest.approx(m60, rel=2e-4)


@given(numbers, numbers, numbers, numbers, numbers, numbers)
def test_no_bound_is_passed_and_one_binds(alpha, warps, memory_latency, memory, alu_latency, alu):
    model = Throughputs(alpha, warps, memory_latency, memory, alu_latency, alu)
    tolerance = 1 + 1e-9
    assert model.memory <= memory * tolerance
    assert model.arithmetic <= alu * tolerance
    assert model.memory * (memory_latency + alpha * alu_latency) <= warps * tolerance
    assert any(math.isclose(model.memory, bound) for bound in (memory, alu / alpha, model.latency_bound))


@given(numbers, numbers, numbers, numbers, numbers, st.floats(0.05, 20))
def test_warps_needed_are_where_more_do_not_help(alpha, memory_latency, memory, alu_latency, alu, share):
    needed = Throughputs(alpha, 1.0, memory_latency, memory, alu_latency, alu).warps_needed
    full = Throughputs(alpha, needed, memory_latency, memory, alu_latency, alu).memory
    some = Throughputs(alpha, needed * share, memory_latency, memory, alu_latency, alu).memory
    assert some == pytest.approx(full * min(1.0, share), rel=1e-6)


def test_pure_arithmetic_and_pure_memory():
    assert Throughputs(0.0, 64, 400, 0.1, 6, 4).memory == 0.1
    assert Throughputs(1e9, 12, 400, 0.1, 6, 4).arithmetic == pytest.approx(2.0, rel=1e-3)


def test_streaming_runs_at_memory_bandwidth_and_one_block_at_its_latency(toy):
    many = Volkov().predict(toy.case())
    assert many.bottleneck == "DRAM bandwidth"
    assert many.time.value == max(many.breakdown.values())
    one = toy.case(toy.execution(blocks=1))
    timing = Volkov().predict(one)
    assert timing.bottleneck == "latency"
    assert timing.time.value == pytest.approx(sum(warp_cycles(one)) / one.clocks.sm)
    assert math.fsum(timing.shares) == pytest.approx(1.0)


def test_latency_falls_in_proportion_to_resident_warps(toy):
    case = toy.case(toy.execution(blocks=100_000, fmas=50))
    seats = case.workload.occupancy
    half = toy.replace(seats, blocks_per_sm=seats.blocks_per_sm // 2)
    fewer = toy.replace(case, workload=toy.replace(case.workload, occupancy=half))
    assert latency_seconds(fewer) == pytest.approx(2 * latency_seconds(case))


def test_long_chains_run_at_the_pipe(toy):
    found = bounds(toy.case(toy.execution(fmas=400)))
    assert max(found, key=found.__getitem__) in ("FP32 pipe", "issue slots")


def test_instructions_per_cycle_are_counts_over_cycles(toy):
    case = toy.case(toy.execution(fmas=10))
    timing = Volkov().predict(case)
    cycles = timing.time.value * case.clocks.sm * case.gpu.sm_count
    assert timing.instructions_per_cycle["arithmetic"] * cycles == pytest.approx(10 * case.launch.warps)
    assert timing.instructions_per_cycle["global memory"] * cycles == pytest.approx(2 * case.launch.warps)
    assert case.launch.grid == Dim3(100_000)
