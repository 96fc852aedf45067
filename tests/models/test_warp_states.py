"""What warps spend their time on, by instruction and by line, adds up."""

from __future__ import annotations

import numpy as np
import pytest

from tests.what_if.cases import predicted
from warpwatt.core.warps import Stall
from warpwatt.models.pipeline.codes import SCOREBOARD_REASONS

NAMES = ("transpose", "banks", "accumulator")


@pytest.mark.parametrize("name", NAMES)
def test_shares_cycles_per_issue_and_lines_add_up(name: str) -> None:
    """To 1, to resident warps per issue, and to the time of each line."""
    prediction = predicted(name)
    timing, warps = prediction.timing, prediction.timing.warps
    assert warps is not None
    assert sum(warps.shares().values()) == pytest.approx(1.0)
    assert dict(timing.stalls) == warps.shares()
    issue = warps.issued / warps.duration / warps.schedulers
    assert sum(warps.per_issue().values()) == pytest.approx(warps.active / issue)
    assert warps.per_issue()[Stall.SELECTED] == pytest.approx(1.0)
    assert timing.utilisation["issue"] == pytest.approx(issue, rel=1e-6)
    assert warps.eligible <= warps.active
    assert warps.active * warps.schedulers <= prediction.case.workload.occupancy.warps_per_sm
    for line in prediction.lines:
        assert sum(line.stalls.values()) == pytest.approx(line.time_share, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_issues_are_those_of_the_whole_grid(name: str) -> None:
    """Simulated in part and continued: still every instruction as often as the launch executes it."""
    prediction = predicted(name)
    warps, execution = prediction.timing.warps, prediction.case.workload.execution
    assert warps is not None
    counts = np.array(execution.counts) / execution.warp_instructions
    assert warps.cycles[:, 0] / warps.issued == pytest.approx(counts, abs=2e-3)


@pytest.mark.parametrize("name", NAMES)
def test_waits_are_part_of_the_scoreboard_stalls(name: str) -> None:
    """By instruction and by line; all of them are named here."""
    prediction = predicted(name)
    warps = prediction.timing.warps
    assert warps is not None
    waited = np.bincount(warps.waits[:, 0].astype(int), warps.waits[:, 3], len(warps.cycles))
    assert waited == pytest.approx(warps.cycles[:, SCOREBOARD_REASONS].sum(axis=1), abs=1e-6 * warps.total)
    for line in prediction.lines:
        for stall in (Stall.LONG_SCOREBOARD, Stall.SHORT_SCOREBOARD):
            named = sum(wait.share for wait in line.waits if wait.stall is stall)
            assert named == pytest.approx(line.stalls.get(stall, 0.0), abs=1e-6)


def test_a_sum_waits_for_the_load_of_its_line() -> None:
    """One accumulator: nearly all of the time is spent on the load of line 10."""
    line = next(line for line in predicted("accumulator").lines if line.line == 10)
    first = line.waits[0]
    assert (first.producer.line, first.opcode, first.stall) == (10, "LDG", Stall.LONG_SCOREBOARD)
    assert first.share > 0.9
