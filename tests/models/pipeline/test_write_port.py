"""The way out of L1, which the two SMs of a TPC may share."""

from __future__ import annotations

import pytest

from tests.models.pipeline.tables import inputs, table
from warpwatt.gpus import default_clocks, find
from warpwatt.models.pipeline.codes import Operation, Reason, Traffic
from warpwatt.models.pipeline.machine import machine, settings
from warpwatt.models.pipeline.simulator import simulate


def _rate(gpu: str, blocks: int) -> float:
    found = find(gpu)
    sm = machine(found, default_clocks(found), 1e12, 1e12)
    return float(settings(sm, 1, 1, 1.0, 0, sm.sharers(blocks))["write_port_bytes"])


def test_blocks_share_a_port_once_every_port_has_one() -> None:
    """An RTX 3080 has 34 TPCs of two SMs; the SMs of an A100 do not get into each other's way."""
    alone = _rate("rtx3080", 1)
    assert [_rate("rtx3080", n) / alone for n in (10, 34, 51, 68, 1000)] == pytest.approx(
        [1, 1, 2 / 3, 0.5, 0.5]
    )
    assert _rate("a100-sxm4-40gb", 1) == _rate("a100-sxm4-40gb", 1000)


def test_scattered_stores_leave_at_the_port_s_rate() -> None:
    """Each of 32 sectors has a line of its own: 64 packets of 64 bytes; those of whole lines are 24."""
    rows = table(1)
    rows["operation"], rows["traffic"], rows["result_stall"] = (
        Operation.MEMORY, Traffic.WRITE, Reason.LONG_SCOREBOARD,
    )  # fmt: skip
    rows["l1_miss_rate"], rows["lsu_cycles"] = 1.0, 1.0
    for lines, packets in ((32, 64), (8, 24)):
        given = inputs(rows, repeats=200, write_port_bytes=30.0, backlog_cycles=100.0)
        given.accesses[:, 1:3] = 32, lines
        assert simulate(given).counters.cycles == pytest.approx(200 * packets * 64 / 30, rel=0.02)
