"""The clock sweep of a prediction: through it, what predict says, honest about the power limit."""

from __future__ import annotations

import dataclasses
import itertools
import math
from pathlib import Path

import pytest

import warpwatt
from tests.render import samples
from warpwatt.compose import Choice, predict
from warpwatt.core.errors import InputError, UnsupportedGpuError
from warpwatt.core.gpu import Clocks
from warpwatt.gpus.occupancy_curves import occupancy_curves
from warpwatt.models.pipeline import model
from warpwatt.render.report import report as reporting
from warpwatt.render.report.report import reports
from warpwatt.sweep.clock_sweep import POINTS, clock_sweep

EXAMPLE = Path(warpwatt.__file__).parent / "examples" / "saxpy.cu"


@pytest.fixture(scope="module")
def prediction():
    return samples.matmul_pair()[0]


@pytest.fixture(scope="module")
def sweep(prediction):
    return clock_sweep(prediction)


def test_the_sweep_goes_through_the_prediction(sweep, prediction):
    here = sweep.predicted
    assert (here.clock, here.time, here.power, here.energy) == (
        prediction.case.clocks.sm, prediction.time, prediction.power, prediction.energy,
    )  # fmt: skip
    near = [p for p in sweep.points if not p.predicted and abs(p.clock / here.clock - 1) < 0.06]
    assert near
    for point in near:
        assert abs(point.time.value / here.time.value - 1) < 0.12


def test_points_are_what_predict_says():
    (found,) = warpwatt.predict_all(EXAMPLE, gpu="h200")
    case = found.case
    for point in clock_sweep(found).points[::8]:
        clocks = Clocks(point.clock, case.clocks.memory)
        own = predict(case.kernel, case.launch, case.gpu, clocks=clocks, execution=case.workload.execution)
        assert (point.time, point.power, point.energy) == (own.time, own.power, own.energy)


def test_time_never_rises_with_the_clock_and_power_never_falls(sweep):
    others = [point for point in sweep.points if not point.predicted]
    times = [point.time.value for point in others]
    powers = [point.power.value for point in others]
    assert times == sorted(times, reverse=True)
    assert all(later >= earlier * 0.999 for earlier, later in itertools.pairwise(powers))


@pytest.mark.toolchain
def test_unevenness_of_simulations_reaches_no_time(monkeypatch):
    """Simulated warps meet in another order at every clock: what that changes is no advice on clocks."""
    simulate = model.simulate_case

    def uneven(case):
        found = simulate(case)
        return dataclasses.replace(
            found, seconds=found.seconds * (1.0 + 0.02 * math.sin(case.clocks.sm / 7e6))
        )

    (found,) = warpwatt.predict_all(EXAMPLE, gpu="h200")
    monkeypatch.setattr(model, "simulate_case", uneven)
    renamed = dataclasses.replace(found.case.kernel, name="uneven")  # of which nothing is remembered
    times = []
    for clock in range(900, 1980, 15):
        clocks = Clocks(clock * 1e6, found.case.clocks.memory)
        case = dataclasses.replace(found.case, kernel=renamed, clocks=clocks)
        times.append(model.Pipeline().predict(case).time.value)
    assert times == sorted(times, reverse=True)


def test_points_are_few_and_ascend(sweep):
    assert POINTS <= len(sweep.points) <= POINTS + 1
    clocks = [point.clock for point in sweep.points]
    assert clocks == sorted(set(clocks))


def test_energy_is_time_by_power(sweep):
    for point in sweep.points:
        if not point.predicted:
            assert point.energy.value == pytest.approx(point.time.value * point.power.value)


def test_clocks_beyond_the_power_limit_are_marked_and_not_the_thriftiest(prediction):
    gpu = dataclasses.replace(prediction.case.gpu, power_limit=150.0)
    case = dataclasses.replace(prediction.case, gpu=gpu)
    limited = clock_sweep(dataclasses.replace(prediction, case=case))
    beyond = [point for point in limited.points if not point.sustained]
    assert beyond
    assert all(point.power.value > 150.0 for point in beyond)
    assert limited.thriftiest.sustained
    # a power cut off at the limit would be just that
    assert all(p.power.value < 150.0 for p in limited.points if p.sustained and not p.predicted)


def test_only_the_first_predictions_are_swept(prediction):
    first, second = reports([prediction, prediction], most=1)
    assert first.clocks is not None
    assert second.clocks is None
    assert "--clock" in second.no_clocks


def test_a_model_that_refuses_leaves_the_reason(prediction, monkeypatch):
    def refuse(*_):
        raise UnsupportedGpuError("not this one")

    monkeypatch.setattr(reporting, "clock_sweep", refuse)
    (one,) = reports([prediction], Choice())
    assert (one.clocks, one.no_clocks) == (None, "No clock sweep: not this one")


def test_occupancy_curves_are_steps_with_the_launch_on_them(prediction):
    for curve in occupancy_curves(prediction.case):
        values = [point.value for point in curve.points]
        assert values == sorted(set(values))
        assert curve.own in curve.points
        assert curve.own.warps == prediction.case.workload.occupancy.warps_per_sm or curve.name != "Registers"
        if curve.better is not None:
            assert curve.better.warps > curve.own.warps
    registers, _, shared = occupancy_curves(prediction.case)
    for curve in (registers, shared):
        warps = [point.warps for point in curve.points]
        assert warps == sorted(warps, reverse=True)


def test_a_model_without_clocks_is_not_swept(prediction):
    for choice in (Choice(time="boughzala"), Choice(power="boughzala-rounds")):
        with pytest.raises(InputError, match=f"{choice.time}|{choice.power} knows no clocks"):
            clock_sweep(prediction, choice)
