"""``boughzala`` as a model: which measured launches it takes, what it says of itself, what it refuses."""

from dataclasses import replace

import pytest

from warpwatt.core.case import FittedModel, Profile
from warpwatt.core.errors import InputError
from warpwatt.core.estimate import Source
from warpwatt.core.gpu import Clocks
from warpwatt.core.launch import Dim3, Launch
from warpwatt.models.registry import power_model, time_model
from warpwatt.published.boughzala.power_model import Boughzala as BoughzalaPower

NAMES = ("boughzala", "boughzala-rounds", "boughzala-resident")


@pytest.fixture
def measured(toy):
    """Return (case, profiles): the toy measured at 1 µs a block and 100 W more than 40 W."""
    case = toy.case(toy.execution(blocks=50_000))

    def profile(blocks, clock=case.clocks, gpu=case.gpu.name, block=256):
        return Profile(
            gpu,
            clock,
            time=blocks * 1e-6,
            power=140.0,
            counters={"idle_w": 40.0},
            launch=Launch(Dim3(blocks), Dim3(block)),
            origin="runs.csv",
        )

    return case, profile


@pytest.mark.parametrize("name", NAMES)
def test_every_form_predicts_time_and_power(measured, name):
    case, profile = measured
    case = replace(case, measured=tuple(profile(n) for n in (1056 * 5, 1056 * 40, 1056 * 100)))
    timing = time_model(name).predict(case)
    assert timing.time.value == pytest.approx(50_000e-6, rel=0.03)
    assert timing.time.source is Source.MODELLED
    assert timing.time.low < timing.time.value < timing.time.high
    assert sum(timing.breakdown.values()) == pytest.approx(timing.time.value)
    assert sum(timing.shares) == pytest.approx(1.0)
    assert "5280 to 105600 blocks" in timing.warnings[0]
    power = power_model(name).predict(case, timing)
    assert power.power.value == pytest.approx(140.0, rel=0.01)
    assert sum(power.components.values()) == pytest.approx(power.power.value)
    assert isinstance(time_model(name), FittedModel)


def test_other_models_are_not_fitted():
    assert not isinstance(time_model("roofline"), FittedModel)


def test_power_goes_with_any_time_model(measured):
    case, profile = measured
    case = replace(case, measured=tuple(profile(n) for n in (10_000, 20_000, 90_000)))
    timing = time_model("roofline").predict(case)
    watts = BoughzalaPower().predict(case, timing).power.value
    assert watts == pytest.approx(40.0 + 100.0 * 50_000e-6 / timing.time.value)


def test_without_three_grids_it_says_what_to_do(measured):
    case, profile = measured
    for profiles in ((), (profile(10), profile(20)), (profile(10),) * 3):
        with pytest.raises(InputError, match="three measured grids") as caught:
            time_model("boughzala").predict(replace(case, measured=profiles))
        assert "--profile" in caught.value.hint


def test_other_gpus_and_other_blocks_do_not_count(measured):
    case, profile = measured
    foreign = [profile(n, gpu="Tesla T4") for n in (10, 20, 30)]
    narrow = [profile(n, block=128) for n in (10, 20, 30)]
    with pytest.raises(InputError, match="not 0"):
        time_model("boughzala").predict(replace(case, measured=(*foreign, *narrow)))


def test_the_nearest_clock_counts_and_is_named(measured):
    case, profile = measured
    slow = Clocks(case.clocks.sm * 0.5, case.clocks.memory)
    near = Clocks(case.clocks.sm * 0.9, case.clocks.memory)
    far = [replace(profile(n, slow), time=n * 2e-6) for n in (1000, 2000, 90_000)]
    close = [profile(n, near) for n in (1000, 2000, 90_000)]
    timing = time_model("boughzala").predict(replace(case, measured=(*far, *close)))
    assert timing.time.value == pytest.approx(50_000e-6)
    assert any(f"{near.sm / 1e6:.0f} MHz" in warning for warning in timing.warnings)


def test_sizes_outside_are_named(measured):
    case, profile = measured
    timing = time_model("boughzala").predict(replace(case, measured=tuple(profile(n) for n in (1, 2, 3))))
    assert any("outside" in warning for warning in timing.warnings)


def test_predictions_are_no_measurements(measured):
    case, profile = measured
    own = tuple(replace(profile(n), source=Source.MODELLED) for n in (1000, 2000, 90_000))
    timing = time_model("boughzala").predict(replace(case, measured=own))
    assert "predicted, not measured" in timing.warnings[0]


def test_a_line_below_zero_is_refused(measured):
    case, profile = measured
    steep = [replace(profile(n), time=t) for n, t in ((60_000, 1e-3), (70_000, 0.1), (80_000, 0.2))]
    with pytest.raises(InputError, match="for 50000 blocks"):
        time_model("boughzala").predict(replace(case, measured=tuple(steep)))
