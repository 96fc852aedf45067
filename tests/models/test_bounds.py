"""No time below bytes, operations or instructions over their peaks, whatever a model says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from warpwatt.core.blocks import BlockClasses
from warpwatt.core.case import Case, FittedModel, Profile, PublishedModel, Timing
from warpwatt.core.estimate import Estimate, factor_draws
from warpwatt.core.execution import Assumption, Execution
from warpwatt.core.gpu import Clocks
from warpwatt.core.program import Level
from warpwatt.core.streams import WarpStreams
from warpwatt.models.bounds import bounded, bounds, within_bounds
from warpwatt.models.registry import _TIME, time_model

BYTES = 2 * 100_000 * 256 * 16
FLOPS = 100_000 * 256 * 400 * 2


@dataclass
class Says:
    """A model that says always the same."""

    seconds: float
    spread: float = 0.5
    name: str = "oracle"
    summary: str = ""
    levels: tuple[Level, ...] = (Level.PTX,)

    def predict(self, case: Case) -> Timing:
        draws = [self.seconds * factor for factor in factor_draws({"model": self.spread})]
        return Timing("oracle", Estimate.from_draws(self.seconds, draws, "s"), "magic", {}, {"dram": 0.5})


def test_bounds_are_amounts_over_peaks(toy: Any) -> None:
    streaming, computing = (toy.case(toy.execution(**k)) for k in ({"sectors": 16.0}, {"fmas": 400}))
    assert bounds(streaming)["DRAM bandwidth"] == pytest.approx(
        BYTES / streaming.gpu.memory_bandwidth, rel=0.01
    )
    assert bounds(computing)["FP32 pipe"] == pytest.approx(FLOPS / (132 * 128 * 2 * computing.clocks.sm))
    slower = replace(streaming, clocks=Clocks(streaming.clocks.sm, streaming.clocks.memory / 2))
    assert bounds(slower)["DRAM bandwidth"] == pytest.approx(2 * bounds(streaming)["DRAM bandwidth"])


def test_a_time_below_a_bound_is_raised_and_said(toy: Any) -> None:
    case = toy.case(toy.execution(sectors=16.0))
    least = max(bounds(case).values())
    timing = bounded(Says(least / 4)).predict(case)
    assert timing.time.value == timing.time.low == pytest.approx(least)
    assert min(timing.time.draws) >= least * (1 - 1e-12)
    assert timing.bottleneck == "DRAM bandwidth"
    assert timing.utilisation == {"dram": pytest.approx(0.125)}
    assert "less than DRAM bandwidth needs" in timing.warnings[0]


def test_only_the_low_end_is_raised_where_the_time_is_above(toy: Any) -> None:
    case = toy.case(toy.execution(sectors=16.0))
    least = max(bounds(case).values())
    timing = bounded(Says(1.2 * least)).predict(case)
    assert timing.time.value == pytest.approx(1.2 * least)
    assert timing.time.low == pytest.approx(least)
    assert (timing.bottleneck, timing.warnings) == ("magic", ())
    above = Says(3 * least, spread=0.1).predict(case)
    assert within_bounds(above, case) is above


def test_a_raised_time_keeps_its_relative_width(toy: Any) -> None:
    """No interval of zero width where something was modelled."""
    case = toy.case(toy.execution(sectors=16.0))
    least = max(bounds(case).values())
    said = Says(least / 4, spread=0.1)
    raised, own = bounded(said).predict(case).time, said.predict(case).time
    assert raised.value == pytest.approx(least)
    assert raised.low == pytest.approx(least)
    assert raised.high / raised.value == pytest.approx(own.high / own.value)


def test_what_is_assumed_may_be_less(toy: Any) -> None:
    case = toy.case(toy.execution(sectors=16.0))
    least = max(bounds(case).values())
    guess = (Assumption("trips", "trips", 1.0),)
    guessed = replace(case, workload=replace(case.workload, assumptions=guess))
    assert bounded(Says(least)).predict(guessed).time.low < 0.8 * least


@dataclass
class Prints(Says):
    """A published model."""

    document: str = "Author 2026, section 1"


def test_a_published_model_says_its_own_time(toy: Any) -> None:
    case = toy.case(toy.execution(sectors=16.0))
    least = max(bounds(case).values())
    timing = bounded(Prints(least / 4)).predict(case)
    assert timing.time.draws == Says(least / 4).predict(case).time.draws
    assert (timing.bound, timing.bottleneck) == (("DRAM bandwidth", least), "magic")
    assert "DRAM bandwidth at its peak needs" in timing.warnings[0]
    assert bounded(Prints(2 * least)).predict(case).warnings == ()


@pytest.mark.parametrize("name", [n for n, path in _TIME.items() if path.startswith("warpwatt.published.")])
def test_every_published_model_is_marked(name: str) -> None:
    """Except those that are fitted to the user's launches, and Resios', which reads no kernel."""
    model = time_model(name)
    assert isinstance(model, PublishedModel | FittedModel) or not model.levels


def test_measurements_are_right(toy: Any) -> None:
    case = toy.case(toy.execution(sectors=16.0))
    seen = Profile("h200", case.clocks, 1e-6, None)
    assert bounded(Says(1e-9)).predict(replace(case, profile=seen)).time.value == 1e-9


def test_no_launch_ends_before_its_longest_block_can_issue(toy: Any) -> None:
    """A warp issues one instruction per cycle, an SM with four schedulers four."""
    case = toy.case(toy.execution())
    program = replace(case.workload.execution.program, level=Level.SASS)
    steps = np.array([[0, 1000, 0], [0, 3000, 0], [0, 900, 0]] + [[0, 3000, 0]] * 3)
    none, nothing = np.zeros(0, np.int64), np.zeros(0)
    streams = WarpStreams(1, (0, 1, 2), np.arange(4), steps[:3], none, nothing, nothing, nothing, nothing)
    one_warp = replace(case.workload.execution, program=program, streams=streams)
    four = replace(streams, warps_per_block=3, blocks=(0, 1), starts=np.arange(7), steps=steps)

    def least(execution: Execution) -> float:
        told = replace(case, workload=replace(case.workload, execution=execution))
        return bounds(told)["longest block"] * case.clocks.sm

    assert least(one_warp) == 3000.0
    assert least(replace(one_warp, streams=four)) == max(3000.0, 9000.0 / 4)
    classes = BlockClasses((1.0,), (50_000.0,), np.zeros(1, np.int64), np.ones(1), {})
    assert least(replace(one_warp, classes=classes)) == 50_000.0 / 4
