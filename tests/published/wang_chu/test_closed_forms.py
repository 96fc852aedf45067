"""Closed forms: the paper's tables, the exact simulation, and what must hold of any round."""

import heapq
import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.gpus import find
from warpwatt.published.wang_chu.memory import infrequent_requests, intensive_requests
from warpwatt.published.wang_chu.parameters import parameters, published_rows
from warpwatt.published.wang_chu.regimes import (
    Regime,
    Round,
    SharedUse,
    active_cycles,
    hidden_cycles,
    infrequent,
    phased_cycles,
    printed_cycles,
    regime,
    simulated_cycles,
    waiting_warps,
)

GTX980 = find("GeForce GTX 980")
MHZ = 1e6

rounds = st.builds(
    Round,
    compute=st.floats(1, 1000),
    delay=st.floats(1, 100),
    latency=st.floats(200, 800),
    warps=st.integers(1, 64),
    iterations=st.integers(1, 12),
)


def drawn(count: int) -> list[Round]:
    """Return seeded random rounds, as validation/wang_chu/clock_scaling.py draws 3,000 of them."""
    source = random.Random(1)
    return [
        Round(
            compute=math.exp(source.uniform(0.0, math.log(1000.0))),
            delay=math.exp(source.uniform(0.0, math.log(100.0))),
            latency=source.uniform(200.0, 800.0),
            warps=source.randint(1, 64),
            iterations=source.randint(1, 20),
        )
        for _ in range(count)
    ]


def test_equation_4_gives_table_2_with_the_core_at_400_mhz():
    memory = parameters(GTX980)
    for row in published_rows(GTX980)["minimum_dram_latency"]:
        assert memory.dram_latency(400 * MHZ, row["memory_mhz"] * MHZ) == pytest.approx(
            row["cycles"], abs=0.11
        )
        assert memory.dram_latency(row["core_mhz"] * MHZ, row["memory_mhz"] * MHZ) == pytest.approx(500.1)


def test_table_3_is_the_delay_and_agrees_with_eight_cycles_per_sector():
    memory = parameters(GTX980)
    for row in published_rows(GTX980)["dram_delay"]:
        both = row["memory_mhz"] * MHZ
        assert memory.dram_delay(both, both) == row["cycles"]
        assert row["cycles"] * row["efficiency_percent"] / 100 == pytest.approx(7.65, abs=0.05)


def test_closed_forms_err_by_less_than_one_percent_and_the_printed_ones_do_not():
    corrected, printed = [], []
    for r in drawn(300):
        exact = simulated_cycles(r)
        corrected.append(abs(active_cycles(r) / exact - 1))
        printed.append(abs(printed_cycles(r, r.warps) / exact - 1))
    assert statistics.fmean(corrected) < 0.005
    assert statistics.fmean(printed) > 0.09


@given(rounds)
def test_computation_and_long_computation_are_exact(r):
    if regime(r) in (Regime.COMPUTE, Regime.FEW_LONG):
        assert active_cycles(r) == pytest.approx(simulated_cycles(r), rel=1e-9)


@given(rounds)
def test_no_server_does_its_work_in_less_time(r):
    assert simulated_cycles(r) >= max(r.computing, r.queueing - r.delay) * (1 - 1e-12)
    assert active_cycles(r) >= max(r.computing, r.queueing) * (1 - 1e-12)


def test_equations_2_and_3_are_the_ends_of_the_queue():
    """One warp after another far apart, and all at once: the simulation with nothing to compute but gaps."""
    apart = Round(compute=700.0, delay=9.0, latency=500.0, warps=4, iterations=1)
    assert infrequent_requests(700.0, 4, 500.0, 1) == pytest.approx(simulated_cycles(apart))
    together = Round(compute=0.0, delay=9.0, latency=500.0, warps=64, iterations=2)
    assert intensive_requests(9.0, 64, 500.0, 2) == pytest.approx(simulated_cycles(together), rel=0.01)


def test_rare_shared_memory_is_hidden_and_much_of_it_is_not():
    r = Round(compute=4.0, delay=9.0, latency=500.0, warps=64, iterations=2)
    rare, much = SharedUse(28.0, 1.0, 8.0), SharedUse(28.0, 40.0, 8.0)
    assert infrequent(r, rare)
    assert not infrequent(r, much)
    assert hidden_cycles(r) == 4.0 + 500.0 + 9.0 * 64 * 2
    first, second, third = 8 + 576 + 528, 28 + 32 * 40, 8 + 72 + 528
    assert phased_cycles(r, much) == first + (second + third) * 2


@pytest.mark.parametrize("name", ["Tesla P100 PCIe 16GB", "Tesla V100 PCIe 16GB", "Quadro RTX 8000", "H200"])
def test_other_gpus_reach_their_measured_bandwidth_and_latency(name):
    gpu = find(name)
    memory = parameters(gpu)
    core = gpu.boost_clock
    delay = memory.dram_delay(core, gpu.memory_clock)
    assert 32 * gpu.sm_count * core / delay == pytest.approx(gpu.memory.dram_bandwidth)
    measured_at = gpu.memory.dram_latency_clock
    assert memory.dram_latency(measured_at, gpu.memory_clock) == pytest.approx(gpu.memory.dram_latency)
    assert memory.dram_latency(core, gpu.memory_clock / 2) > memory.dram_latency(core, gpu.memory_clock)


def simulated_waits(r: Round) -> tuple[float, float]:
    """Return how many warps wait on average for either server, from every wait of the exact simulation."""
    ready = [(0.0, warp, int(r.iterations)) for warp in range(int(r.warps))]
    heapq.heapify(ready)
    computed = served = waited_sm = waited_memory = 0.0
    while ready:
        now, warp, left = heapq.heappop(ready)
        waited_sm += max(0.0, computed - now)
        computed = max(now, computed) + r.compute
        waited_memory += max(0.0, served - computed)
        taken = max(computed, served)
        served = taken + r.delay
        if left > 1:
            heapq.heappush(ready, (taken + r.latency, warp, left - 1))
    return waited_sm / served, waited_memory / served


@pytest.mark.parametrize(
    ("compute", "delay", "warps"),
    [(2.0, 9.0, 64), (20.0, 9.0, 64), (5.0, 100.0, 32), (2.0, 9.0, 8), (30.0, 9.0, 4), (12.0, 13.0, 64)],
)
def test_queues_are_those_of_the_exact_simulation(compute, delay, warps):
    r = Round(compute, delay, latency=450.0, warps=warps, iterations=2000)
    assert waiting_warps(r) == pytest.approx(simulated_waits(r), rel=0.02, abs=0.1)
