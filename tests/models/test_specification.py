"""The specification power model: between idle and sense, energy attributed without loss."""

import math

import pytest

from warpwatt.core.estimate import Source
from warpwatt.core.gpu import Clocks
from warpwatt.gpus import find_many, missing
from warpwatt.models.roofline import Roofline
from warpwatt.models.specification import Specification, idle_watts, relative_voltage


def predicted(case):
    timing = Roofline().predict(case)
    return Specification().predict(case, timing)


def test_it_says_that_it_assumes(toy):
    power = predicted(toy.case()).power
    assert power.source is Source.ASSUMED
    assert power.high / power.low > 1.2


def test_components_sum_to_the_power_and_shares_to_one(toy):
    power = predicted(toy.case(toy.execution(fmas=20)))
    assert math.fsum(power.components.values()) == pytest.approx(power.power.value)
    assert math.fsum(power.shares) == pytest.approx(1.0)


def test_work_costs_more_than_idling(toy):
    case = toy.case()
    assert predicted(case).power.value > idle_watts(case.gpu)


def test_a_lower_clock_draws_less_on_arithmetic(toy):
    case = toy.case(toy.execution(fmas=400))
    slow = toy.replace(case, clocks=Clocks(case.clocks.sm * 0.7, case.clocks.memory))
    assert predicted(slow).power.value < predicted(case).power.value
    assert relative_voltage(slow) < relative_voltage(case) == pytest.approx(1.0)


@pytest.mark.parametrize("fmas", [1, 400])
def test_every_complete_gpu_gets_a_plausible_power(toy, fmas):
    for gpu in find_many("all"):
        if not missing(gpu):
            watts = predicted(toy.case(toy.execution(fmas=fmas), gpu.name)).power.value
            assert 0.1 * gpu.power_limit < watts < 2.5 * gpu.power_limit, gpu.name
