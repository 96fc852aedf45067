"""The component power model: adds up, reacts to work, clock, data and counters as physics says."""

import math

import numpy as np
import pytest

from warpwatt.core.arguments import Fill, parse_arguments
from warpwatt.core.case import Profile
from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.core.estimate import Source
from warpwatt.core.execution import Footprint
from warpwatt.core.gpu import Calibration, Clocks
from warpwatt.gpus import find, find_many, missing
from warpwatt.models.component import Component
from warpwatt.models.component.activity import Activity, active_sms, activity, reads_by_buffer
from warpwatt.models.component.features import physical_features
from warpwatt.models.component.model import voltage_draws
from warpwatt.models.component.no_work import all_readings
from warpwatt.models.component.parameters import (
    COMPONENTS,
    loads,
    memory_load,
    parameters,
    specification,
    static_loads,
    with_own_factor,
    with_readings,
)
from warpwatt.models.component.table import component_table, number
from warpwatt.models.component.voltage import VoltageCurve, chip_voltage
from warpwatt.models.registry import power_model, power_models
from warpwatt.models.roofline import Roofline

USABLE = [gpu for gpu in find_many("all") if not missing(gpu)]


def predicted(case):
    return Component().predict(case, Roofline().predict(case))


def with_argument(toy, text):
    case = toy.case()
    return toy.replace(case, launch=toy.replace(case.launch, arguments=parse_arguments([text])))


def test_it_is_registered():
    assert "component" in power_models()
    assert isinstance(power_model("component"), Component)


def test_components_sum_to_the_power_and_shares_to_one(toy):
    power = predicted(toy.case(toy.execution(fmas=20)))
    assert math.fsum(power.components.values()) == pytest.approx(power.power.value)
    assert math.fsum(power.shares) == pytest.approx(1.0)
    assert set(power.components) <= set(COMPONENTS)


def test_the_instruction_that_moves_bytes_costs_more_than_one_that_adds(toy):
    shares = predicted(toy.case(toy.execution(fmas=3))).shares
    assert min(shares[0], shares[4]) > 3 * max(shares[1:4])


def test_amounts_are_those_of_the_toy(toy):
    case = toy.case(toy.execution(blocks=1000, fmas=7))
    amounts = activity(case).amounts
    threads = case.launch.threads
    assert amounts["fp32"] == pytest.approx(7 * threads)
    exits = number("model", "scalar_issue") * threads  # which read no registers
    assert amounts["issue"] * 32 == pytest.approx(amounts["registers"] + exits)
    assert amounts["dram"] == pytest.approx(case.workload.dram.total)


@pytest.mark.parametrize(("blocks", "share"), [(1, 1), (132, 132), (133, 66.5), (264, 132)])
def test_active_sms_of_a_grid_on_132_sms(toy, blocks, share):
    assert active_sms(toy.case(toy.execution(blocks=blocks))) == pytest.approx(share)


@pytest.mark.parametrize("fmas", [1, 400])
def test_every_complete_gpu_gets_a_plausible_power(toy, fmas):
    for gpu in USABLE:
        watts = predicted(toy.case(toy.execution(fmas=fmas), gpu.name)).power.value
        assert 0.1 * gpu.power_limit < watts < 3.5 * gpu.power_limit, gpu.name


def test_it_says_how_sure_it_is(toy):
    power = predicted(toy.case()).power
    assert power.source is Source.ASSUMED
    assert power.low < power.value < power.high


def test_constant_data_draw_less_and_assumed_data_are_less_sure(toy):
    watts = {fill: predicted(with_argument(toy, f"x=f32[8]:{fill}")).power for fill in ("random", "zeros")}
    assert watts["zeros"].value < watts["random"].value
    assumed = predicted(with_argument(toy, "x=f32[8]")).power
    assert assumed.value == pytest.approx(watts["random"].value)
    assert assumed.high - assumed.low > watts["random"].high - watts["random"].low


def test_an_asynchronous_copy_reads_the_buffer_of_its_footprint(toy):
    execution = toy.execution()
    accesses = {0: toy.replace(execution.accesses[0], buffer=""), 2: execution.accesses[2]}
    nameless = toy.replace(execution, accesses=accesses)
    known = toy.replace(nameless, footprints=(Footprint("x", (0,), 1e6, 1e3, None),))
    reads = [reads_by_buffer(toy.case(one)) for one in (execution, nameless, known)]
    assert reads[0] == reads[2] != {}
    assert reads[1] == {}


def test_data_do_not_change_what_a_buffer_that_is_only_written_costs(toy):
    written = predicted(with_argument(toy, "y=f32[8]:zeros")).power.value
    assert written == pytest.approx(predicted(toy.case()).power.value)


def test_a_lower_clock_saves_more_above_the_knee_than_below(toy):
    case = toy.case(toy.execution(fmas=400))

    def watts(share):
        clocks = Clocks(case.gpu.boost_clock * share, case.clocks.memory)
        return predicted(toy.replace(case, clocks=clocks)).power.value

    assert watts(1.0) - watts(0.9) > 1.5 * (watts(0.5) - watts(0.4)) > 0


def test_voltage_has_a_floor_and_is_one_at_the_boost_clock():
    curve = VoltageCurve(0.7, 0.6, 1.5)
    assert curve.at(0.1) == curve.at(0.6) == 0.7
    assert curve.at(1.0) == pytest.approx(1.0)
    assert curve.at(1.1) > 1.0


def test_beyond_its_end_a_board_holds_its_voltage():
    curve = VoltageCurve(0.8, 0.6, 1.5, end=1.1)
    assert curve.at(1.05) > 1.0
    assert curve.at(1.3) == curve.at(1.1)


def test_the_voltage_is_least_sure_far_below_the_boost_clock(toy):
    known = toy.replace(parameters(toy.case().gpu), floor_spread=0.05)
    spreads = [np.log(voltage_draws(known, share)).std() for share in (0.5, 0.8, 1.0)]
    assert spreads[0] > spreads[1] > spreads[2] == pytest.approx(0.0, abs=1e-12)
    floor, slope = 2 * known.floor_spread / known.voltage.floor, number("voltage", "slope") * math.log(2)
    assert spreads[0] == pytest.approx(math.hypot(floor, slope), rel=0.05)


def test_terminated_lines_of_memory_draw_whatever_its_clock():
    board = find("gtx 980")
    loads = [memory_load(board, Clocks(7e8, mhz * 1e6)) for mhz in (500, 1000, 2100, 3506)]
    slope = (loads[1] - loads[0]) / 500
    assert slope * 3506 < 0.6  # the rest is the lines'
    assert loads[2] - loads[1] == pytest.approx(slope * 1100 + 1 - slope * 3506)
    assert loads[3] == 1.0
    hbm = find("v100 pcie 16gb")
    assert memory_load(hbm, Clocks(7e8, hbm.memory_clock / 2)) == 0.5


def test_a_calibration_replaces_what_it_measured_and_nothing_else(toy):
    case = toy.case()
    constants = {
        "component.board": (500.0, 5.0),
        "component.residual": (0.01, 0.0),
        "latency.l2": (200.0, 1.0),
    }
    gpu = toy.replace(case.gpu, calibration=Calibration(case.gpu.name, "2026-01-01", "test", constants))
    power = predicted(toy.replace(case, gpu=gpu))
    assert power.components["board"] == 500.0
    assert power.components["dram"] == predicted(case).components["dram"]
    assert power.power.source is Source.MODELLED


def test_a_calibration_without_power_leaves_the_specification(toy):
    case = toy.case()
    other = Calibration(case.gpu.name, "2026-01-01", "test", {"latency.l2": (200.0, 1.0)})
    gpu = toy.replace(case.gpu, calibration=other)
    assert not parameters(gpu).calibrated
    assert predicted(toy.replace(case, gpu=gpu)).power == predicted(case).power


def test_what_a_launch_does_in_four_times_the_time_draws_a_quarter(toy):
    case = toy.case()
    timing = Roofline().predict(case)
    slow = toy.replace(timing, time=timing.time.scaled(4.0))
    assert Component().predict(case, slow).components["dram"] == pytest.approx(
        Component().predict(case, timing).components["dram"] / 4
    )


def test_the_time_of_a_profile_is_not_that_of_other_clocks(toy):
    case = toy.case()
    timing = Roofline().predict(case)
    profile = Profile(case.gpu.name, toy.replace(case.clocks, sm=case.clocks.sm / 2), time=1.0)
    assert Component().predict(toy.replace(case, profile=profile), timing).power == predicted(case).power


def test_counters_replace_predicted_work(toy):
    case = toy.case()
    timing = Roofline().predict(case)
    counters = {"dram_read_transactions": 1000.0, "dram_write_transactions": 500.0, "SMACT": 0.25}
    counted = toy.replace(case, profile=Profile(case.gpu.name, case.clocks, counters=counters))
    power = Component().predict(counted, timing)
    coefficient = parameters(case.gpu).coefficients["dram"].value
    assert power.components["dram"] == pytest.approx(coefficient * 1500 * 32 / timing.time.value)
    whole = (
        Component().predict(case, timing).components.get("active SMs", 0.0)
    )  # 0 where the fit gives it none
    assert power.components.get("active SMs", 0.0) == pytest.approx(
        whole * 0.25 * case.gpu.sm_count / active_sms(case)
    )


def test_a_busy_share_of_dram_is_that_share_of_the_bandwidth(toy):
    case = toy.case()
    busy = toy.replace(case, profile=Profile(case.gpu.name, case.clocks, counters={"DRAMA": 0.5}))
    coefficient = parameters(case.gpu).coefficients["dram"].value
    watts = predicted(busy).components["dram"]
    assert watts == pytest.approx(0.5 * coefficient * case.gpu.memory_bandwidth)


def test_a_warmer_chip_leaks_more(toy):
    case = toy.case()

    def watts(celsius):
        counters = {"temperature_c": celsius}
        return predicted(
            toy.replace(case, profile=Profile(case.gpu.name, case.clocks, counters=counters))
        ).components["leakage"]

    assert watts(80.0) > watts(40.0)


def test_without_board_power_it_refuses(toy):
    case = toy.case()
    with pytest.raises(UnsupportedGpuError, match="board power"):
        predicted(toy.replace(case, gpu=toy.replace(case.gpu, power_limit=None)))


def test_features_have_the_same_names_for_every_case_and_hold_the_prior(toy):
    cases = [toy.case(), toy.case(toy.execution(fmas=50), "gtx 980")]
    found = [physical_features(case, Roofline().predict(case)) for case in cases]
    assert list(found[0]) == list(found[1])
    assert all(math.isfinite(value) for features in found for value in features.values())
    assert found[0]["component.total"] == pytest.approx(predicted(cases[0]).power.value)


def test_boards_without_work_draw_what_was_read():
    errors = []
    for board, found in all_readings().items():
        gpu = find(board)
        known = parameters(gpu)
        for reading in found:
            clocks = Clocks(reading.clock, gpu.compute_memory_clock or gpu.memory_clock)
            static = static_loads(gpu, clocks, known, active_sms=0.0, temperature_c=reading.temperature_c)
            said = math.fsum(known.coefficients[name].value * load for name, load in static.items())
            errors.append(abs(said / reading.watts - 1.0))
    assert max(errors) < 0.3
    assert math.fsum(errors) / len(errors) < 0.08


@pytest.mark.parametrize(("board", "read"), [("rtx 4090", 68.3), ("l4", 32.0), ("h200", 121.0)])
def test_one_block_draws_little_more_than_none(toy, board, read):
    """SMs without a block are clock-gated."""
    assert predicted(toy.case(toy.execution(blocks=1, fmas=400), board)).power.value < 1.35 * read


def test_zeros_reach_tensor_instructions_more_than_others(toy):
    gpu = toy.case().gpu
    known = parameters(gpu)
    work = Activity(1.0, {"tensor": 1e12, "fp32": 1e9}, {})
    factors = known.toggles[Fill.ZEROS], known.tensor_toggles[Fill.ZEROS]
    clocks = Clocks(gpu.boost_clock, gpu.memory_clock)
    some = loads(gpu, clocks, work, 1.0, known, toggle=factors[0], tensor_toggle=factors[1])
    full = loads(gpu, clocks, work, 1.0, known)
    assert some["tensor"] / full["tensor"] == pytest.approx(0.3)
    assert some["fp32"] / full["fp32"] == pytest.approx(0.6)


def test_a_board_with_measured_kernels_has_a_factor_of_its_own():
    ada, l4 = find("rtx 4000 ada"), find("l4")
    assert with_own_factor(specification(l4), l4).coefficients == specification(l4).coefficients
    before, after = specification(ada), with_own_factor(specification(ada), ada)
    ratios = {
        name: after.coefficients[name].value / own.value
        for name, own in before.coefficients.items()
        if own.value
    }
    assert max(ratios.values()) == pytest.approx(min(ratios.values()))
    assert 1.05 < min(ratios.values()) < 1.3


def test_bytes_inside_a_chip_cost_alike_in_every_process_and_operations_do_not():
    def joules(board, name):
        gpu = find(board)
        return specification(gpu).coefficients[name].value / chip_voltage(gpu).at_boost ** 2

    boards = ("gtx 980", "v100 pcie", "a40", "h200")
    for name in ("shared", "l1", "l2"):
        assert [joules(board, name) for board in boards] == pytest.approx(
            [joules("a100 sxm4 40gb", name)] * 4
        )
    assert (
        joules("gtx 980", "fp32")
        > joules("v100 pcie", "fp32")
        > joules("a40", "fp32")
        > joules("h200", "fp32")
    )


@pytest.mark.parametrize(
    ("board", "mhz", "terabytes", "watts", "celsius"),
    [
        ("a100 sxm4 40gb", 1410, 1.372, 220, 47),
        ("a40", 1740, 0.679, 200, 52),
        ("l40", 2490, 0.68, 193, 42),
        ("h200", 1980, 3.759, 555, 57),
    ],
)
def test_streaming_draws_what_was_read_without_a_factor_of_the_board(board, mhz, terabytes, watts, celsius):
    """te42kyfo/gpu-benches' roofline kernel at its least arithmetic: six instructions per pair of floats."""
    gpu = find(board)
    known = with_readings(specification(gpu), gpu)
    traffic = 1e12 * terabytes
    elements = traffic / 8
    work = Activity(
        float(gpu.sm_count),
        {
            "issue": 6 / 32 * elements, "registers": 6 * elements, "int": 2 * elements,
            "l1": traffic, "l2": traffic, "dram": traffic,
        },
        {},
    )  # fmt: skip
    found = loads(gpu, Clocks(mhz * 1e6, gpu.memory_clock), work, 1.0, known, temperature_c=celsius)
    said = math.fsum(known.coefficients[name].value * load for name, load in found.items())
    assert said == pytest.approx(watts, rel=0.13)


def tensor_watts(board, mhz, amounts, fill, celsius):
    gpu = find(board)
    known, clocks = parameters(gpu), Clocks(mhz * 1e6, gpu.memory_clock)
    factors = {"toggle": known.toggles[fill], "tensor_toggle": known.tensor_toggles[fill]}
    work = Activity(float(gpu.sm_count), amounts, {})
    found = loads(gpu, clocks, work, 1.0, known, temperature_c=celsius, **factors)
    return math.fsum(known.coefficients[name].value * load for name, load in found.items())


@pytest.mark.parametrize(
    ("kind", "mhz", "petaflops", "fill", "watts"),
    [
        ("fp16", 1500, 1.823, Fill.RANDOM, 935),
        ("bf16", 1500, 1.823, Fill.RANDOM, 876),
        ("fp8", 1500, 3.64, Fill.RANDOM, 1073),
        ("bf16", 1005, 1.22, Fill.RANDOM, 609),
        ("bf16", 1005, 1.22, Fill.ZEROS, 287),
    ],
)
def test_tensor_cores_of_blackwell_draw_what_was_read(kind, mhz, petaflops, fill, watts):
    """B300, tensor instructions back to back: ademeure/QuickRunCUDA @80555c4, corrected files."""
    operations = petaflops * 1e15 * component_table()["tensor_type"][f"tensor_{kind}_fma"]["value"]
    assert tensor_watts("b300", mhz, {"tensor": operations}, fill, 45.0) == pytest.approx(watts, rel=0.13)


def test_a_matrix_product_of_zeros_on_ada_draws_what_was_read():
    """RTX 4000 Ada, 128 by 128 tiles at 1785 MHz (nlesc-recruit/powersensor3-results): 59 TFLOP/s at 73 W."""
    rates = {
        "issue": 5.7e10, "registers": 1.8e12, "imad": 3.7e11, "int": 5.3e11, "shared": 3.8e12,
        "tensor": 5.9e13, "l1": 4.8e11, "l2": 4.8e11, "dram": 1.4e11,
    }  # fmt: skip
    assert tensor_watts("rtx 4000 ada", 1785, rates, Fill.ZEROS, 64.0) == pytest.approx(73.0, rel=0.13)
