"""A power model corrected by measured launches: conditional means of a model with few parameters."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from warpwatt.core.case import Power
from warpwatt.core.estimate import Estimate, Source, factor_draws
from warpwatt.core.gpu import Clocks
from warpwatt.gpus import find
from warpwatt.models.component.activity import Activity
from warpwatt.models.component.model import drawn_watts, voltage_draws
from warpwatt.models.component.parameters import loads, specification
from warpwatt.models.component.voltage import VoltageCurve
from warpwatt.models.measured_power import ELSEWHERE_SPREAD, MeasuredPower, PoweredLaunch

if TYPE_CHECKING:
    from collections.abc import Mapping


def said(floor: float, dynamic: float, spreads: Mapping[str, float]) -> Estimate:
    """Return floor and dynamic watts, each known but for a factor with a spread of its own."""
    floors, dynamics = (factor_draws({name: spreads[name]}) for name in ("floor", "dynamic"))
    draws = [floor * a + dynamic * b for a, b in zip(floors, dynamics, strict=True)]
    return Estimate.from_draws(floor + dynamic, draws, "W")


class Base:
    """A power model that says what it is given."""

    name, summary = "base", "a base"

    def __init__(self, power: Estimate) -> None:
        self.power = power

    def predict(self, case: Any, timing: Any) -> Power:
        return Power("base", self.power, {"floor": 40.0, "dynamic": self.power.value - 40.0})


def corrected(asked: Estimate, seen: list[tuple[Estimate, float]], toy: Any) -> Power:
    case = toy.case()
    other = replace(case.clocks, sm=case.clocks.sm / 2)
    launches = [
        PoweredLaunch(one, watts, f"row {i}", case.gpu.name, case.launch, other)
        for i, (one, watts) in enumerate(seen)
    ]
    return MeasuredPower(Base(asked), launches).predict(case, None)


def test_at_the_measured_launch_it_is_the_measurement(toy):
    case = toy.case()
    launch = PoweredLaunch(said(40, 60, SURE), 130.0, "row", case.gpu.name, case.launch, case.clocks)
    power = MeasuredPower(Base(said(40, 60, SURE)), [launch]).predict(case, None)
    assert power.power.value == 130.0
    assert power.power.source is Source.MEASURED
    assert math.fsum(power.components.values()) == pytest.approx(130.0)


SURE = {"floor": 0.001, "dynamic": 0.2}
DOUBTFUL_FLOOR = {"floor": 0.2, "dynamic": 0.001}


@pytest.mark.parametrize(
    ("spreads", "watts"),
    [(SURE, 40 + 30 * 1.2), (DOUBTFUL_FLOOR, 40 * 1.3 + 30)],
    ids=["the floor is known", "what switches is known"],
)
def test_what_was_not_known_takes_the_difference(toy, spreads, watts):
    """100 W said, 112 W measured: half the switching then draws what is left of it."""
    power = corrected(said(40, 30, spreads), [(said(40, 60, spreads), 112.0)], toy)
    assert power.power.value == pytest.approx(watts, rel=0.02)
    assert math.fsum(power.components.values()) == pytest.approx(power.power.value)


def test_two_launches_tell_floor_from_switching(toy):
    """Truth: floor 40 × 1.25 = 50 W, switching × 0.8. Neither launch alone tells."""
    spreads = {"floor": 0.25, "dynamic": 0.25}
    seen = [(said(40, 10, spreads), 58.0), (said(40, 160, spreads), 178.0)]
    both = corrected(said(40, 60, spreads), seen, toy)
    assert both.power.value == pytest.approx(98.0, rel=0.03)
    assert abs(both.power.value - 98) < abs(corrected(said(40, 60, spreads), seen[1:], toy).power.value - 98)


def test_the_interval_narrows_and_does_not_vanish(toy):
    spreads = {"floor": 0.2, "dynamic": 0.2}
    plain = said(40, 30, spreads)
    power = corrected(plain, [(said(40, 60, spreads), 112.0)], toy).power
    assert 1.03 < power.high / power.low < (plain.high / plain.low) ** 0.7


def test_two_launches_leave_open_what_lies_between_them(toy):
    spreads = {"floor": 0.25, "dynamic": 0.25}
    seen = [(said(40, 59, spreads), 99.0), (said(40, 61, spreads), 101.0)]
    power = corrected(said(40, 60, spreads), seen, toy).power
    assert math.log(power.high / power.low) > 2 * ELSEWHERE_SPREAD


def test_a_model_without_draws_takes_the_whole_ratio(toy):
    power = corrected(Estimate.exact(50.0, "W"), [(Estimate.exact(100.0, "W"), 120.0)], toy)
    assert power.power.value == pytest.approx(60.0)
    assert "a factor of 1.2" in power.warnings[0]


def test_three_clocks_fit_voltage_and_floor(toy):
    """A board with a flatter voltage and a higher floor than its chip's: rms error at clocks in between."""
    gpu, work = find("a100"), Activity(108.0, {"fp32": 6e12, "dram": 4e11}, {})
    known = specification(gpu)
    true = replace(known, voltage=VoltageCurve(floor=0.85, knee=0.6, exponent=1.0))

    def watts(share, parameters):
        seconds = 1.0 / share
        found = loads(gpu, Clocks(share * gpu.boost_clock, gpu.memory_clock), work, seconds, parameters)
        return {name: parameters.coefficients[name].value * load for name, load in found.items()}

    def said_at(share):
        parts = watts(share, known)
        draws = drawn_watts(parts, known, voltage_draws(known, share))
        return Estimate.from_draws(math.fsum(parts.values()), draws.tolist(), "W")

    def drawn(share):
        return math.fsum(watts(share, true).values()) + 15.0

    def error(seen):
        launches = [(said_at(share), drawn(share)) for share in seen]
        asked = (0.55, 0.65, 0.75, 0.9)
        found = [corrected(said_at(s), launches, toy).power.value for s in asked]
        return math.dist(found, map(drawn, asked)) / math.hypot(*map(drawn, asked))

    one, three = error([1.0]), error([0.45, 0.7, 1.0])
    assert three < 0.02 < one
