"""The time model: clocks, counters, one profile."""

from dataclasses import replace

import pytest

from warpwatt.core.case import Profile
from warpwatt.core.gpu import Clocks
from warpwatt.gpus import find
from warpwatt.models.registry import time_model
from warpwatt.published.wang_chu import WangChu
from warpwatt.published.wang_chu.baseline import fit_counts
from warpwatt.published.wang_chu.breakdown import KINDS, breakdown
from warpwatt.published.wang_chu.counts import Counts, from_counters, from_workload
from warpwatt.published.wang_chu.parameters import parameters
from warpwatt.published.wang_chu.rounds import answer

MHZ = 1e6
GTX980 = find("GeForce GTX 980")
STREAMING = Counts(
    warps=32768, warps_per_block=8, active_warps=64, sm_share=1.0, iterations=1.0, sectors=12.0,
    l2_hit_rate=0.0, compute=10.0,
)  # fmt: skip


def seconds(counts: Counts, core: float, memory: float) -> float:
    return answer(counts, parameters(GTX980), Clocks(core * MHZ, memory * MHZ)).seconds


def test_registered():
    assert isinstance(time_model("wang-chu"), WangChu)


def test_streaming_follows_the_memory_clock_and_computing_the_core_clock():
    assert seconds(STREAMING, 1000, 1000) / seconds(STREAMING, 1000, 500) == pytest.approx(0.46, abs=0.02)
    assert seconds(STREAMING, 500, 500) == pytest.approx(seconds(STREAMING, 1000, 500), rel=0.02)
    busy = replace(STREAMING, compute=2000.0)
    assert seconds(busy, 500, 1000) == pytest.approx(2 * seconds(busy, 1000, 1000), rel=0.01)
    assert seconds(busy, 1000, 500) == pytest.approx(seconds(busy, 1000, 1000), rel=0.01)


def test_streaming_runs_at_the_bandwidth_of_table_3():
    moved = 16 * STREAMING.warps * STREAMING.sectors * 32
    share = moved / seconds(STREAMING, 700, 700) / (2 * 700 * MHZ * 32)
    assert share == pytest.approx(8 / 9.31, rel=0.02)


def test_one_profile_gives_its_own_time_back_and_finds_hidden_computation():
    memory, base = parameters(GTX980), Clocks(700 * MHZ, 700 * MHZ)
    true = replace(STREAMING, compute=180.0)
    measured = answer(true, memory, base).seconds
    found = fit_counts(replace(true, compute=130.0), memory, base, measured)
    assert found.seconds(memory, base) == pytest.approx(measured, rel=1e-6)
    for core, other in ((400, 1000), (1000, 400), (1000, 1000)):
        at = Clocks(core * MHZ, other * MHZ)
        assert found.seconds(memory, at) == pytest.approx(answer(true, memory, at).seconds, rel=0.03)


def test_a_time_that_nothing_explains_is_taken_as_a_factor():
    memory, base = parameters(GTX980), Clocks(700 * MHZ, 700 * MHZ)
    impossible = answer(STREAMING, memory, base).seconds / 50
    assert fit_counts(STREAMING, memory, base, impossible).seconds(memory, base) == pytest.approx(impossible)


def test_counters_replace_what_was_modelled_and_missing_ones_are_named(toy):
    case = toy.case(gpu="GeForce GTX 980")
    counts = from_workload(case)
    launch = case.launch
    counters = {
        "l2_read_transactions": 8.0 * launch.warps,
        "l2_write_transactions": 0.0,
        "dram_read_transactions": 2.0 * launch.warps,
        "dram_write_transactions": 0.0,
        "inst_executed": 40.0 * launch.warps,
    }
    found = from_counters(counters, case.gpu, counts)
    assert found.l2_hit_rate == 0.75
    assert found.sectors * found.iterations == pytest.approx(8.0 * launch.warps / (found.warps * 16))
    assert found.compute == pytest.approx(10.0 * launch.warps / (found.warps * 16))
    assert found.missing == ("achieved_occupancy",)


def test_model_with_a_profile_says_the_measured_time_at_its_clocks(toy):
    case = toy.case(gpu="GeForce GTX 980", clocks=Clocks(700 * MHZ, 700 * MHZ))
    alone = WangChu().predict(case)
    profile = Profile("GeForce GTX 980", case.clocks, time=alone.time.value * 1.2, launch=case.launch)
    taught_case = replace(case, profile=profile)
    assert WangChu().predict(taught_case).time.value == pytest.approx(profile.time, rel=1e-6)
    faster = replace(taught_case, clocks=Clocks(700 * MHZ, 1000 * MHZ))
    assert WangChu().predict(faster).time.value < profile.time
    other = replace(taught_case, launch=replace(case.launch, repeats=2), profile=replace(profile, gpu="x"))
    assert WangChu().predict(other).time.value == pytest.approx(alone.time.value)


def test_timing_is_whole(toy):
    timing = WangChu().predict(toy.case(gpu="h200"))
    assert sum(timing.shares) == pytest.approx(1.0)
    assert timing.bottleneck == "memory queue"
    assert set(timing.instructions_per_cycle) <= set(KINDS)
    assert sum(breakdown(toy.case().workload).values()) == pytest.approx(1.0)
