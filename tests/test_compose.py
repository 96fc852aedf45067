"""The composition: clocks settle at the power limit, energy is time × power, lines account for everything."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from warpwatt import compose
from warpwatt.compose import CLOCK_TOLERANCE, Choice, advised, predict
from warpwatt.core.arguments import parse_arguments
from warpwatt.core.case import Case, Timing
from warpwatt.core.errors import LaunchError, UsageError
from warpwatt.core.gpu import Clocks
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Level
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import default_clocks, find
from warpwatt.models import registry
from warpwatt.models.bounds import bounds
from warpwatt.models.roofline import Roofline
from warpwatt.render.context import Context
from warpwatt.render.json import render

EXAMPLES = Path(__file__).parents[1] / "examples"
N = 2048
MATMUL = Launch(
    Dim3(N // 16, N // 16),
    Dim3(16, 16),
    arguments=parse_arguments([f"n={N}", "A=f32[n*n]", "B=f32[n*n]", "C=f32[n*n]:zeros"]),
)


@pytest.fixture(scope="module")
def matmul():
    return load_kernel(
        EXAMPLES / "matmul.cu", "sm_75", CompileOptions(levels=frozenset({Level.PTX, Level.SASS})), "tiled"
    )


NEEDY = ("boughzala", "pipeline+residual", "resios", "roofline-fitted")
"""What asks for measurements or a C loop nest: tested in tests/models and tests/published/resios."""


@pytest.mark.parametrize("time", [name for name in registry.time_models() if not name.startswith(NEEDY)])
@pytest.mark.parametrize("gpu", ["t4", "rtx2080ti"])
def test_every_time_model_predicts(matmul, time, gpu):
    result = predict(matmul, MATMUL, find(gpu), choice=Choice(time=time))
    assert result.timing.model == time
    assert 1e-6 < result.time.value < 1
    assert result.time.low <= result.time.value <= result.time.high
    assert result.energy.value == pytest.approx(result.time.value * result.power.value)
    assert result.timing.bottleneck


class Hasty(Roofline):
    """A time model that takes a millionth of what it should."""

    def predict(self, case: Case) -> Timing:
        timing = super().predict(case)
        return replace(timing, time=timing.time.scaled(1e-6))


def test_no_prediction_of_any_model_is_below_its_bound(matmul, monkeypatch):
    monkeypatch.setattr(compose, "time_model", lambda _: Hasty())
    result = predict(matmul, MATMUL, find("rtx2080ti"))
    least = max(bounds(result.case).values())
    assert result.time.value == pytest.approx(least)


def test_a_published_time_and_its_energy_stay_as_they_are(matmul, monkeypatch):
    monkeypatch.setattr(Hasty, "document", "Author 2026, section 1", raising=False)
    monkeypatch.setattr(compose, "time_model", lambda _: Hasty())
    result = predict(matmul, MATMUL, find("rtx2080ti"))
    assert result.time.value == Hasty().predict(result.case).time.value
    assert result.energy.value == pytest.approx(result.time.value * result.power.value)
    document = json.loads(render([result], Context("0")))["predictions"][0]
    name, least = max(bounds(result.case).items(), key=lambda need: need[1])
    assert document["bound"] == {"resource": name, "seconds": pytest.approx(least)}
    assert any(f"{name} at its peak needs" in text for text in document["warnings"])


def test_what_advice_asks_is_not_below_its_bound_either(matmul, monkeypatch):
    asked = []

    def what_ifs(case, time, timing, remark):
        asked.append(time)
        return []

    monkeypatch.setattr("warpwatt.what_if.what_ifs", what_ifs)
    result = predict(matmul, MATMUL, find("rtx2080ti"))
    monkeypatch.setattr(compose, "time_model", lambda _: Hasty())
    advised(result)
    (model,) = asked
    assert model.predict(result.case).time.value == pytest.approx(max(bounds(result.case).values()))


def test_the_clock_settles_where_the_board_holds_its_limit(matmul):
    gpu = find("t4")
    result = predict(matmul, MATMUL, gpu)
    assert result.limited_by_power
    assert result.case.clocks.sustained
    assert result.case.clocks.sm < gpu.boost_clock
    assert result.power.value <= gpu.power_limit
    faster = Clocks(result.case.clocks.sm * (1 + 20 * CLOCK_TOLERANCE), gpu.memory_clock)
    assert predict(matmul, MATMUL, gpu, clocks=faster).limited_by_power


def test_what_is_measured_on_another_generation_is_an_assumption(matmul):
    said = [a.message for a in predict(matmul, MATMUL, find("rtx2080ti")).assumptions]
    assert any("DRAM latency" in text and "another generation" in text for text in said)


def test_a_bandwidth_that_nobody_measured_is_an_assumption(matmul):
    said = [a.message for a in predict(matmul, MATMUL, find("rtx5080")).assumptions]
    assert any(text.startswith("L2 bandwidth: nobody measured") for text in said)


def test_given_clocks_are_kept(matmul):
    gpu = find("rtx2080ti")
    clocks = Clocks(1.0e9, gpu.memory_clock)
    slow, fast = predict(matmul, MATMUL, gpu, clocks=clocks), predict(matmul, MATMUL, gpu)
    assert slow.case.clocks == clocks
    assert slow.time.value > fast.time.value
    assert default_clocks(gpu).sm >= fast.case.clocks.sm


def test_given_clocks_beyond_the_power_limit_are_lowered_as_the_board_would(matmul):
    gpu = find("t4")
    asked = predict(matmul, MATMUL, gpu, clocks=Clocks(gpu.boost_clock, gpu.memory_clock))
    free = predict(matmul, MATMUL, gpu)
    assert asked.limited_by_power
    assert asked.case.clocks.sm == free.case.clocks.sm
    assert asked.time.value == free.time.value
    assert any("1.59 GHz were asked for, the power limit of 70.0 W holds" in text for text in asked.warnings)


def test_the_energy_of_the_components_is_the_energy(matmul):
    result = predict(matmul, MATMUL, find("rtx2080ti"))
    assert math.fsum(result.energy_components.values()) == pytest.approx(result.energy.value, rel=1e-6)


def test_the_clock_of_a_geforce_board_is_an_assumption(matmul):
    gpu = find("rtx2080ti")
    assumed = predict(matmul, MATMUL, gpu)
    given = predict(matmul, MATMUL, gpu, clocks=Clocks(assumed.case.clocks.sm, assumed.case.clocks.memory))
    assert [a.fix for a in assumed.assumptions if a.parameter.startswith("clock:")] == ["--clock"]
    assert not any(a.parameter.startswith("clock:") for a in given.assumptions)
    assert assumed.time.value == pytest.approx(given.time.value)
    assert assumed.time.high - assumed.time.low > given.time.high - given.time.low
    unlike = predict(matmul, MATMUL, find("t4"))
    assert not any(a.parameter.startswith("clock:") for a in unlike.assumptions)


def test_lines_account_for_time_and_work(matmul):
    result = predict(matmul, MATMUL, find("t4"))
    assert math.fsum(line.time_share for line in result.lines) == pytest.approx(1.0, abs=0.02)
    assert math.fsum(line.energy_share for line in result.lines) == pytest.approx(1.0, abs=0.02)
    assert math.fsum(line.flops for line in result.lines) == pytest.approx(2 * N**3, rel=1e-9)
    hottest = max(result.lines, key=lambda line: line.time_share)
    assert "sum +=" in hottest.text


def test_counts_are_exact(matmul):
    execution = predict(matmul, MATMUL, find("t4")).case.workload.execution
    loads = sum(
        count * lanes
        for i, count, lanes in zip(
            execution.program.instructions, execution.counts, execution.lanes, strict=True
        )
        if i.opcode.startswith("LDG")
    )
    assert loads == pytest.approx(2 * N * N * (N // 16), rel=1e-12)


def test_same_input_same_result(matmul):
    one, two = (predict(matmul, MATMUL, find("t4")) for _ in range(2))
    assert (one.time, one.power, one.energy) == (two.time, two.power, two.energy)


def test_impossible_launches_are_refused(matmul):
    with pytest.raises(LaunchError, match="Tesla T4"):
        predict(matmul, Launch(Dim3(1), Dim3(16, 16), dynamic_shared=100_000), find("t4"))


def test_an_unknown_model_names_the_known_ones(matmul):
    with pytest.raises(UsageError) as caught:
        predict(matmul, MATMUL, find("t4"), choice=Choice(time="rofline"))
    assert "roofline" in caught.value.hint


def test_plugins_are_found_by_entry_point(monkeypatch, matmul):
    class Point:
        name = "oracle"

        @staticmethod
        def load():
            return Roofline

    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Point] if "time" in group else [])
    assert "oracle" in registry.time_models()
    assert predict(matmul, MATMUL, find("t4"), choice=Choice(time="oracle")).time.value > 0
    registry._time_model.cache_clear()
