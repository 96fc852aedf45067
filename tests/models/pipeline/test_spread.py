"""Intervals: as wide as what binds is uncertain, and of unlike kernels not the same draws."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import warpwatt
from warpwatt.core.estimate import Estimate, Source
from warpwatt.models.pipeline.chip import simulate_launch
from warpwatt.models.pipeline.model import chip_launch
from warpwatt.models.pipeline.reasons import utilisation
from warpwatt.models.pipeline.spread import LATENCY, UNITS, model_spreads
from warpwatt.models.roofs import l2_bandwidth

EXAMPLES = Path(__file__).parents[3] / "examples"


def total(busy: dict[str, float]) -> float:
    return math.hypot(*model_spreads(busy, "k").values())


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_that_is_always_busy_spreads_the_time_as_it_is_known(unit: str) -> None:
    assert total({unit: 1.0, "other": 0.9}) == pytest.approx(UNITS[unit])


def test_the_load_store_unit_spreads_the_time_as_the_part_that_is_most_of_its_work() -> None:
    for part in ("shared", "l1"):
        assert total({"lsu": 1.0, part: 0.95, "issue": 0.5}) == pytest.approx(UNITS[part])
    assert total({"lsu": 1.0, "shared": 0.5, "l1": 0.5}) == pytest.approx(UNITS["lsu"])


@pytest.mark.toolchain
def test_units_are_called_as_the_simulator_calls_them() -> None:
    """Under another name a unit would spread the time as latencies do."""
    found = warpwatt.predict(EXAMPLES / "matmul.cu", gpu="h200", kernel="matmul_tiled")
    launched = chip_launch(found.case)
    counted = utilisation(simulate_launch(launched), launched)
    assert counted.keys() >= {"fma", "alu", "lsu", "l1", "shared", "issue", "l2", "dram"}
    assert set(UNITS) - set(counted) <= {"fp64", "xu", "atomics", "hot lines", "dispatch"}


def test_where_no_unit_is_busy_latencies_decide() -> None:
    assert total({}) == total({"dram": 0.0}) == LATENCY
    assert total({"dram": 0.3}) == pytest.approx(LATENCY, rel=0.02)


def test_the_busier_the_memory_the_narrower_the_interval() -> None:
    widths = [total({"dram": share / 20}) for share in range(19)]
    assert widths == sorted(widths, reverse=True)


def test_far_from_the_default_clock_a_time_that_dram_binds_is_less_sure() -> None:
    """And all clocks below it err alike: the ratio of two of them spreads by their distance only."""
    known, slow, slower = (
        model_spreads({"dram": 1.0}, "k", clock)["clock:dram"] for clock in (1.0, 0.7, 0.49)
    )
    assert known == 0.0
    assert slow > 0.0
    assert slower == pytest.approx(2 * slow)
    assert model_spreads({"fp32": 1.0, "dram": 0.0}, "k", 0.5)["clock:dram"] == 0.0


def test_unlike_kernels_do_not_err_alike_and_like_ones_do() -> None:
    """A ratio of two kernels is as uncertain as one of them; of two configurations of one it is not."""
    one, same, unlike = (
        Estimate.spread(1.0, model_spreads({"issue": 1.0}, kernel), "s", Source.MODELLED)
        for kernel in ("a", "a", "b")
    )
    alike, apart = (one.combine(other, lambda x, y: x / y, "") for other in (same, unlike))
    assert alike.low == alike.high == 1.0
    assert math.log(apart.high / apart.low) == pytest.approx(2 * 1.2816 * UNITS["issue"], rel=0.15)


@pytest.mark.toolchain
def test_what_code_a_relative_would_run_matters_only_where_the_sms_bind() -> None:
    """A P100 is predicted by code of sm_75: that leaves open how fast a product is, not how fast DRAM is."""
    streamed = warpwatt.predict(EXAMPLES / "saxpy.cu", gpu="p100")
    computed = warpwatt.predict(EXAMPLES / "matmul.cu", gpu="p100", kernel="matmul_tiled")
    assert streamed.timing.utilisation["dram"] > 0.95
    assert width(streamed.time) < 1.3 < 1.4 < width(computed.time)


@pytest.mark.toolchain
def test_how_fast_l2_is_leaves_nothing_open_where_dram_binds() -> None:
    """A copy keeps L2 busy for less than half of the time: no rate of L2 that may be would bind."""
    streamed = warpwatt.predict(EXAMPLES / "saxpy.cu", gpu="h100 nvl")
    assert 0.4 < streamed.timing.utilisation["l2"] < 0.5
    assert l2_bandwidth(streamed.case)[1] == 0.25
    assert width(streamed.time) < 1.285


def width(time: Estimate) -> float:
    return time.high / time.low
