"""Both models of Alavani's thesis on whole cases."""

import math
from dataclasses import replace

import pytest

from tests.published.alavani.cases import COALESCED, SCATTERED, TILE_SUM, VECTOR_ADD, case
from warpwatt import gpus
from warpwatt.core.case import TimeModel
from warpwatt.core.errors import LaunchError, WarpWattError
from warpwatt.core.program import Instruction, Level, Program, Unit
from warpwatt.published.alavani.blocks import code
from warpwatt.published.alavani.ilp_tlp_model import AlavaniIlpTlp, warps_per_sm
from warpwatt.published.alavani.machine import abstract_gpu
from warpwatt.published.alavani.outcome import LAUNCH_OVERHEAD
from warpwatt.published.alavani.reservation_model import AlavaniReservation, Reading, schedule_of, waves_of

MODELS: list[TimeModel] = [AlavaniIlpTlp(), AlavaniReservation(), AlavaniReservation(Reading.CONVERTED)]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("gpu", ["Tesla K20", "GTX 1050", "Tesla M60", "V100", "NVIDIA H200"])
def test_a_timing_is_whole(model, gpu):
    timing = model.predict(case(VECTOR_ADD, gpu=gpu, grid=4096))
    assert isinstance(model, TimeModel)
    assert 1e-7 < timing.time.value < 1e-1
    assert timing.time.low < timing.time.value < timing.time.high
    parts = sum(v for k, v in timing.breakdown.items() if k != LAUNCH_OVERHEAD)
    assert parts == pytest.approx(timing.time.value)
    assert sum(timing.shares) == pytest.approx(1)
    assert len(timing.shares) == 22
    assert all(0 <= u <= 1 for u in timing.utilisation.values())


def test_every_gpu_of_the_catalogue_is_predicted_or_refused():
    refused = []
    for name in gpus.names():
        try:
            for model in MODELS:
                model.predict(case(VECTOR_ADD, gpu=name))
        except WarpWattError as error:
            assert name in str(error)  # noqa: PT017
            refused.append(name)
    assert "Tesla K20" not in refused
    assert len(refused) < len(gpus.names()) / 4, refused


def test_schedule_of_vector_add_by_hand():
    """13 x 256 threads on a K20: SP serves 192, LSU 32, WS 128 threads a cycle, so 2, 8 and 2 batches."""
    c = case(VECTOR_ADD)
    machine = abstract_gpu(c.gpu, c.clocks)
    wave = waves_of(c, machine)
    assert (wave.threads, wave.count) == (256, 1)
    schedule = schedule_of(code(c), machine, wave.threads, c.launch.threads)
    first, second, third = schedule.blocks
    # LSU: four parameter loads of 2+7. SP: moves of 2+1, mad 20+1, setp 22+1 once n is there. WS: bra 10+1.
    assert first.start == (0, 9, 18, 27, 0, 3, 6, 9, 36, 59)
    assert first.delay == 59 + 11
    # cvta 34, mul.wide 10, add 10, cvta 34, add 10: SP is one queue; loads 315 + 7 behind it.
    loads = second.start[5], second.start[6]
    assert loads == (54, 376)
    assert second.start[7] == 376 + 322
    assert second.delay == 376 + 322 + 10 + 322
    assert third.delay == 11
    assert schedule.delay == first.delay + second.delay + third.delay


def test_loops_multiply():
    delays = []
    for trips in (1, 11, 21):
        c = case(TILE_SUM, trips=trips)
        machine = abstract_gpu(c.gpu, c.clocks)
        delays.append(schedule_of(code(c), machine, 256, c.launch.threads).delay)
    body = delays[1] - delays[0]
    assert body == delays[2] - delays[1]
    assert body % 10 == 0
    assert body / 10 >= 47 + 7 + 10


@pytest.mark.parametrize("model", MODELS)
def test_more_work_takes_longer(model):
    times = [
        model.predict(case(TILE_SUM, trips=t, grid=g)).time.value for t, g in ((1, 26), (50, 26), (50, 2600))
    ]
    assert times[0] < times[1] < times[2]


def test_scattered_access_costs_in_the_first_model():
    good, bad = (
        AlavaniIlpTlp().predict(case(VECTOR_ADD, grid=4096, pattern=p)) for p in (COALESCED, SCATTERED)
    )
    assert bad.time.value > 2 * good.time.value
    assert bad.bottleneck == "DRAM bandwidth"


@pytest.mark.parametrize("reading", list(Reading))
def test_penalties_by_hand(reading):
    """VectorAdd, 13 x 256 threads on a K20, three global accesses per thread, one wave, L(gm) = 314.1."""
    breakdown = AlavaniReservation(reading).predict(case(VECTOR_ADD)).breakdown
    converted = reading is Reading.CONVERTED
    count = 3 * 13 * 256 if converted else 3
    rate = 76363.8 * (1.04 - math.exp(-0.00021342 * count))  # MB/s
    penalty = 13 * 256 / 32 * 128 / rate * 3  # microseconds, or cycles as printed
    clock = 706e6
    expected = penalty * 1e-6 if converted else penalty / clock
    assert breakdown["global penalty"] == pytest.approx(expected)
    access = 4 if converted else 128
    misses = 13 * 256 * 3 / (1310720 / access)
    assert breakdown["cache penalty"] == pytest.approx(misses * (0.02828 * 3328 + 220) / clock)
    assert breakdown["shared penalty"] == 0


def test_no_memory_means_no_penalty():
    add = Instruction(0, "add.f32", writes=("%f1",), unit=Unit.FP32)
    c = case("", program=Program("k", Level.PTX, "sm_35", (add,)))
    breakdown = AlavaniReservation().predict(c).breakdown
    assert breakdown["global penalty"] == breakdown["shared penalty"] == breakdown["cache penalty"] == 0


def test_empty_program():
    c = case("", program=Program("k", Level.PTX, "sm_35", ()))
    for model in MODELS:
        assert model.predict(c).time.value == 0


def test_sass_is_classified():
    program = Program("k", Level.SASS, "sm_90", (Instruction(0, "IMAD.WIDE", unit=Unit.INT),))
    timing = AlavaniReservation().predict(case("", program=program, gpu="NVIDIA H200"))
    assert timing.time.value > 0
    assert not any("no class" in w for w in timing.warnings)


def test_launch_overhead_stands_beside_the_time():
    timing = AlavaniReservation().predict(case(VECTOR_ADD))
    assert timing.breakdown[LAUNCH_OVERHEAD] == pytest.approx(1e-6 * (0.00002 * 3328 + 1.4489))


def test_interval_is_wider_where_nobody_tested():
    def width(gpu):
        time = AlavaniReservation().predict(case(VECTOR_ADD, gpu=gpu)).time
        return math.log(time.high / time.low)

    assert width("Tesla K20") < width("Tesla M60") < width("NVIDIA H200")
    published = 0.2835 * math.sqrt(math.pi / 2)
    assert width("Tesla K20") == pytest.approx(2 * 1.2816 * math.hypot(published, 0.65), rel=0.1)


def test_warnings_name_what_is_borrowed():
    warnings = AlavaniReservation().predict(case(VECTOR_ADD, gpu="NVIDIA H200")).warnings
    assert any("Table 3.3" in w for w in warnings)
    assert any("cvta" in w for w in warnings)


def test_waves_respect_registers():
    c = case(VECTOR_ADD, grid=10_000, registers=64)
    assert waves_of(c, abstract_gpu(c.gpu, c.clocks)).threads == 1024


def test_a_block_too_large_is_refused():
    c = case(VECTOR_ADD)
    big = replace(c, launch=replace(c.launch, dynamic_shared=10**6))
    with pytest.raises(LaunchError, match="shared"):
        AlavaniReservation().predict(big)


def test_tlp_is_what_the_grid_fills():
    assert warps_per_sm(case(VECTOR_ADD, grid=13)) == 8
    assert warps_per_sm(case(VECTOR_ADD, grid=13_000)) == 64
