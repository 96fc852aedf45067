"""The thesis' roofline: two roofs, and where the fitted bandwidth comes from."""

import pytest

from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.core.gpu import Calibration, Clocks
from warpwatt.published.alavani.parameters import parameters
from warpwatt.published.alavani.rooflines import (
    RooflineFitted,
    RooflineVendor,
    fitted_bandwidth,
    operations_and_bytes,
)


def test_streaming_takes_its_bytes_over_the_vendors_bandwidth(toy):
    case = toy.case()
    timing = RooflineVendor().predict(case)
    asked = 2 * 4 * case.launch.threads
    assert operations_and_bytes(case) == (case.launch.threads, asked)
    assert timing.time.value == pytest.approx(asked / case.gpu.memory_bandwidth)
    assert timing.bottleneck == "DRAM bandwidth"


def test_long_chains_take_one_cycle_per_lane_and_instruction(toy):
    case = toy.case(toy.execution(fmas=500))
    timing = RooflineVendor().predict(case)
    lanes = case.gpu.capability.fp32_lanes * case.gpu.sm_count
    assert timing.time.value == pytest.approx(500 * case.launch.threads / lanes / case.clocks.sm)
    assert timing.bottleneck == "FP32 pipe"


def test_the_memory_clock_scales_both(toy):
    case = toy.case()
    slow = toy.replace(case, clocks=Clocks(case.clocks.sm, case.clocks.memory / 2))
    for model in (RooflineVendor(), RooflineFitted()):
        assert model.predict(slow).time.value == pytest.approx(2 * model.predict(case).time.value)


def test_a_published_stream_figure_is_named(toy):
    case = toy.case(gpu="h200")
    timing = RooflineFitted().predict(case)
    assert fitted_bandwidth(case)[0] == case.gpu.memory.dram_bandwidth
    assert case.gpu.memory.sources["dram_bandwidth"] in timing.warnings[0]


def test_the_thesis_fit_grows_with_requests(toy):
    fit = parameters(toy.case(gpu="k20").gpu).global_throughput
    for blocks in (1, 10_000):
        case = toy.case(toy.execution(blocks=blocks), gpu="k20")
        assert fitted_bandwidth(case) == (fit.at(2 * 8 * blocks), "Alavani 2023, Table 4.5")


def test_a_calibration_goes_first(toy):
    case = toy.case(gpu="k20")
    own = Calibration("Tesla K20", "2026-01-01", "test", {"bandwidth.dram_read": (1.5e11, 1e9)})
    calibrated = toy.replace(case, gpu=toy.replace(case.gpu, calibration=own))
    assert fitted_bandwidth(calibrated) == (1.5e11, "calibration of Tesla K20")


def test_figures_of_relatives_do_not_count(toy):
    case = toy.case(gpu="rtx2080ti")
    assert case.gpu.memory.borrowed("dram_bandwidth") or case.gpu.memory.dram_bandwidth is None
    with pytest.raises(UnsupportedGpuError) as caught:
        RooflineFitted().predict(case)
    assert "calibrate" in caught.value.hint
