"""The one-run hybrid: the launch itself is measured, likeness fades, intervals narrow and never vanish."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.arguments import parse_arguments
from warpwatt.core.case import Profile
from warpwatt.core.errors import ArgumentError, InputError
from warpwatt.core.estimate import Source
from warpwatt.core.gpu import Clocks
from warpwatt.core.launch import Dim3, Launch
from warpwatt.models.hybrid import (
    SAME_LAUNCH,
    SAME_RESOURCE,
    Run,
    binding,
    corrected,
    hybrid,
    likeness,
    overlap,
    profiled_launch,
)
from warpwatt.models.roofline import Roofline

if TYPE_CHECKING:
    from warpwatt.core.case import Timing


def run(toy, measured=None, **execution):
    case = toy.case(toy.execution(**execution))
    return Run(Roofline().predict(case), case.launch, case.clocks, case.gpu.name, measured)


def test_the_measured_launch_itself_takes_what_was_measured(toy):
    asked = run(toy)
    answer = corrected(asked, replace(asked, measured=3e-3, spread=0.01))
    assert answer.time.value == 3e-3
    assert answer.time.source is Source.MEASURED
    assert answer.time.high / answer.time.low < 1.04
    assert sum(answer.breakdown.values()) / sum(asked.timing.breakdown.values()) == pytest.approx(
        3e-3 / asked.timing.time.value
    )


def test_a_larger_launch_of_the_same_kind_takes_most_of_the_ratio(toy):
    small, large = run(toy, blocks=50_000), run(toy, blocks=100_000)
    taught = replace(small, measured=1.5 * small.timing.time.value)
    answer = corrected(large, taught)
    rho = likeness(large, taught)
    assert SAME_RESOURCE * 0.95 < rho <= SAME_RESOURCE
    assert answer.time.value == pytest.approx(large.timing.time.value * 1.5**rho)
    assert answer.time.source is Source.MODELLED
    before = math.log(large.timing.time.high / large.timing.time.low)
    after = math.log(answer.time.high / answer.time.low)
    assert after == pytest.approx(before * math.sqrt(1 - rho * rho), rel=0.1)


def test_a_model_that_starts_from_the_launch_keeps_its_own_interval_at_other_clocks(toy):
    """It was corrected once: what its validation says of other clocks holds, and no less."""
    measured = run(toy)
    measured = replace(measured, measured=measured.timing.time.value * (1 + 1e-8))
    slower = replace(measured, clocks=Clocks(measured.clocks.sm / 2, measured.clocks.memory), measured=None)
    assert corrected(slower, measured).time is slower.timing.time
    off = replace(measured, measured=measured.timing.time.value * 1.01)
    assert corrected(slower, off).time.high < slower.timing.time.high


def test_what_another_resource_binds_takes_less(toy):
    memory, arithmetic = run(toy, fmas=1), run(toy, fmas=2000)
    taught = replace(memory, measured=2 * memory.timing.time.value)
    assert likeness(arithmetic, taught) < 0.3
    assert likeness(arithmetic, taught) < likeness(run(toy, fmas=1, blocks=90_000), taught)


def test_other_clocks_of_one_launch_are_more_alike_than_other_launches(toy):
    asked = run(toy)
    slower = replace(asked, clocks=Clocks(asked.clocks.sm / 2, asked.clocks.memory))
    assert likeness(slower, asked) == pytest.approx(SAME_LAUNCH)
    assert likeness(replace(asked, gpu="another"), asked) < SAME_LAUNCH


def test_a_profile_that_agrees_moves_nothing(toy):
    small, large = run(toy, blocks=50_000), run(toy, blocks=100_000)
    answer = corrected(large, replace(small, measured=small.timing.time.value))
    assert answer.time.value == pytest.approx(large.timing.time.value)


@given(st.floats(0.01, 100), st.integers(1, 200_000), st.integers(1, 300))
def test_the_correction_lies_between_none_and_the_whole_ratio(toy_runs, ratio, blocks, fmas):
    asked, other = toy_runs(blocks, fmas), toy_runs(1000, 10)
    answer = corrected(asked, replace(other, measured=ratio * other.timing.time.value))
    factor = answer.time.value / asked.timing.time.value
    assert min(1.0, ratio) * (1 - 1e-9) <= factor <= max(1.0, ratio) * (1 + 1e-9)
    assert answer.time.low <= answer.time.value <= answer.time.high


@pytest.fixture(scope="module")
def toy_runs():
    from tests.conftest import toy_case, toy_execution  # a fixture cannot be used by hypothesis

    def make(blocks: int, fmas: int) -> Run:
        case = toy_case(toy_execution(blocks=blocks, fmas=fmas))
        return Run(Roofline().predict(case), case.launch, case.clocks, case.gpu.name)

    return make


shares = st.dictionaries(st.sampled_from("abcd"), st.floats(0, 1), max_size=4)


@given(shares, shares)
def test_overlap_is_a_symmetric_share_and_whole_with_itself(one, other):
    from types import SimpleNamespace as Fake

    a, b = (binding(cast("Timing", Fake(utilisation=busy))) for busy in (one, other))
    assert math.isclose(sum(a.values()), 1.0)
    assert math.isclose(overlap(a, a), 1.0)
    assert -1e-12 <= overlap(a, b) <= 1 + 1e-12
    assert math.isclose(overlap(a, b), overlap(b, a), abs_tol=1e-12)


def test_the_wrapped_model_is_a_time_model(toy):
    case = toy.case()
    profile = Profile(case.gpu.name, case.clocks, time=1e-3, launch=case.launch, origin="run.csv:2")
    model = hybrid(Roofline(), case, profile)
    timing = model.predict(case)
    assert timing.model == model.name == "roofline+profile"
    assert timing.time.value == 1e-3
    assert any("run.csv:2" in warning for warning in timing.warnings)
    with pytest.raises(InputError):
        hybrid(Roofline(), case, replace(profile, time=None))


def test_arguments_that_are_not_known_are_asked_for():
    asked = Launch(Dim3(64), Dim3(256), arguments=parse_arguments(["n=16384"]))
    near = Profile("x", Clocks(1e9, 1e9), launch=Launch(Dim3(128), Dim3(128)))
    assert profiled_launch(near, asked).arguments == asked.arguments
    far = replace(near, launch=Launch(Dim3(1280), Dim3(128)))
    with pytest.raises(ArgumentError) as caught:
        profiled_launch(far, asked)
    assert "--profile-arg" in caught.value.hint
    own = replace(far, launch=replace(far.launch, arguments=parse_arguments(["n=163840"])))
    assert profiled_launch(own, asked).arguments == parse_arguments(["n=163840"])
