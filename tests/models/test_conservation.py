"""Bounds that every answer obeys: what a violation is, and that it is named and widens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import warpwatt
from warpwatt.core.case import Timing
from warpwatt.core.estimate import Estimate, Source
from warpwatt.core.execution import Traffic
from warpwatt.models.bounds import bounds
from warpwatt.models.conservation import Violation, compulsory, violations, widened, with_compulsory

STREAM = """
extern "C" __global__ void scale(const float *x, float *y, float *z) {
    int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = 2.0f * x[i];
    z[i] += 1.0f;
}
"""


@pytest.fixture(scope="module")
def answer() -> Any:
    args = dict.fromkeys("xyz", "f32[67108864]")
    return warpwatt.predict(STREAM, gpu="h200", grid=262144, block=256, args=args)


def broken(answer: Any, *, seconds: float = 1.0, watts: float = 1.0, **levels: Traffic) -> list[str]:
    """Return the kinds of violations with times, powers and traffic changed."""
    case = replace(answer.case, workload=replace(answer.case.workload, **levels))
    timing = replace(answer.timing, time=answer.time.scaled(seconds))
    return [violation.kind for violation in violations(case, timing, answer.power.scaled(watts))]


@pytest.mark.toolchain
def test_a_good_answer_breaks_nothing(answer: Any) -> None:
    assert broken(answer) == []


@pytest.mark.toolchain
def test_compulsory_bytes_are_reads_once_and_writes_that_l2_cannot_keep(answer: Any) -> None:
    """What is read and written in place counts as written."""
    size, least = 4 * 67108864, compulsory(answer.case)
    assert least.read == pytest.approx(size, rel=0.01)
    assert least.written == pytest.approx(2 * size - answer.case.gpu.l2_size, rel=0.01)
    nothing = replace(answer.case, workload=replace(answer.case.workload, dram=Traffic()))
    raised = with_compulsory(nothing, least)
    assert raised.workload.dram == least


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"seconds": 0.5}, "time below DRAM bandwidth at its peak"),
        ({"seconds": 0.02}, "time below L2 to SM port at its peak"),
        ({"watts": 0.05}, "power below the idle board's"),
        ({"watts": 5.0}, "power above the limit"),
        ({"dram": Traffic(1e6, 1e6)}, "distinct bytes above DRAM's"),
        ({"dram": Traffic(1e12, 5e8)}, "DRAM reads above what L2 asks for"),
        ({"l2": Traffic(1e12, 5e8)}, "L2 reads above L1 reads"),
    ],
)
def test_each_bound_is_seen_to_break(answer: Any, changes: Any, kind: str) -> None:
    assert kind in broken(answer, **changes)


def test_a_modelled_time_without_width_is_a_violation(toy: Any) -> None:
    case = toy.case(toy.execution(sectors=16.0))
    seconds = 3 * max(bounds(case).values())
    power = Estimate.exact(200.0, "W")
    for source, kinds in ((Source.MODELLED, ["interval without width"]), (Source.MEASURED, [])):
        timing = Timing("x", Estimate.exact(seconds, "s", source), "DRAM bandwidth", {}, {})
        assert [v.kind for v in violations(case, timing, power)] == kinds


def test_a_violation_widens_by_its_factor() -> None:
    estimate = Estimate.spread(2.0, {"a": 0.01}, "s")
    wide = widened(estimate, (Violation("bytes", 2.0, "bytes"),))
    assert wide.value == 2.0
    assert wide.high / wide.low > 4
    assert widened(estimate, ()) is estimate
