"""Microbenchmarks on a simulated device: launches, chains of pointers, rows, and a campaign that resumes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.lab.measure.microbench_machine import INFO
from warpwatt.core.errors import InputError
from warpwatt.lab.measure.bench import Bench
from warpwatt.lab.measure.campaign import Campaign, plan
from warpwatt.lab.measure.columns import FILES as OTHER_FILES
from warpwatt.lab.measure.columns import MICRO
from warpwatt.lab.measure.device import State
from warpwatt.lab.measure.microbench.host import host_points
from warpwatt.lab.measure.microbench.model import Chain, Data, Reading
from warpwatt.lab.measure.microbench.placing import pointer_chain, random_tile, read_code
from warpwatt.lab.measure.microbench.points import FILES, curves, points
from warpwatt.lab.measure.microbench.suite import microbenchmarks
from warpwatt.lab.measure.prepared import Code, Unprepared
from warpwatt.lab.measure.protocol import Settings
from warpwatt.lab.measure.results import Store
from warpwatt.lab.measure.results import read as read_rows
from warpwatt.lab.measure.simulated import Behaviour, SimulatedDevice
from warpwatt.lab.measure.supply import Supply
from warpwatt.lab.measure.timing import Stopwatch

CODE = Code(b"cubin", "feed", "13.5", {})
SETTINGS = Settings(warm_up=0.001, power_seconds=2.0)


@pytest.fixture
def bench():
    device = SimulatedDevice(Behaviour(info=INFO, noise=0.0))
    return Bench(device, Unprepared(), SETTINGS, 0, Stopwatch(device))


@pytest.fixture(scope="module")
def everything():
    return microbenchmarks(INFO)


def _some(everything, *wanted):
    return [one for one in everything if (one.probe.name, one.quantity) in wanted]


def _measure(bench, tmp_path, planned, **how):
    with Store(tmp_path, {**OTHER_FILES, **FILES}) as files, Supply(0) as supply:
        outcome = Campaign(bench, files, supply).run(planned, **how)
    return outcome, read_rows(tmp_path / "micro.csv", MICRO)


def test_cycles_are_of_the_loop_alone(bench, tmp_path, everything):
    """Four cycles a step for each chain, 128 results a cycle at most; what is around the loop is not seen."""
    chosen = _some(everything, ("fp32_fma_ilp1", "latency"), ("fp32_fma_ilp1", "throughput"))
    outcome, rows = _measure(bench, tmp_path, plan(curves(chosen, CODE), 0))
    assert outcome.statuses == {"ok": 2}
    assert [row["value"] for row in rows if row["quantity"] == "latency"] == [4.0]
    for row in rows:
        if row["quantity"] == "throughput":
            assert row["value"] == pytest.approx(min(128.0, 32 * row["warps"] / 4.0))
    assert {row["unit"] for row in rows} == {"cycle", "1/cycle"}


def test_every_kind_of_reading_gives_rows(bench, tmp_path, everything):
    kinds = {}
    for one in everything:
        if one.buffer < 2**22:
            kinds.setdefault((one.reading, one.chain is not None, one.constants > 0), one)
    assert {one.reading for one in kinds.values()} == set(Reading)
    outcome, rows = _measure(bench, tmp_path, curves(list(kinds.values()), CODE))
    assert set(outcome.statuses) <= {"ok", "unsteady"}
    assert len(rows) == len(kinds)
    power = next(row for row in rows if row["unit"] == "W")
    assert power["value"] > 0
    assert power["launch_s"] > 0
    assert power["work"] > 0


def test_a_campaign_goes_on_where_it_ended(bench, tmp_path, everything):
    planned = plan(curves([one for one in everything if one.quantity == "latency"][:6], CODE), 0)
    first, _ = _measure(bench, tmp_path, planned[:2])
    second, rows = _measure(bench, tmp_path, planned)
    assert first.statuses.total() + second.statuses.total() == len(planned)
    keys = [(row["program"], row["quantity"], row["launch"]) for row in rows]
    assert len(keys) == len(set(keys))


def test_a_reading_that_fails_has_a_row_and_the_others_their_figures(bench, tmp_path, everything):
    chosen = _some(everything, ("fp32_fma_ilp1", "throughput"))
    too_large = replace(chosen[1], buffer=INFO.memory_bytes * 2)
    _, rows = _measure(bench, tmp_path, curves([chosen[0], too_large, chosen[2]], CODE))
    assert [row["status"] for row in rows] == ["ok", "failed", "ok"]
    assert "out of device memory" in rows[1]["note"]


def test_host_points(bench, tmp_path):
    bench.device.context_seconds = 0.25
    bench.device.pinned = None
    outcome, rows = _measure(bench, tmp_path, host_points())
    by_quantity = {row["quantity"]: row for row in rows}
    assert by_quantity["context"]["value"] == 0.25
    assert by_quantity["idle power"]["value"] == pytest.approx(bench.device.behaviour.idle_watts, rel=0.02)
    assert by_quantity["upload pinned"]["status"] == "failed"  # this device has no page-locked memory
    assert "page-locked" in by_quantity["upload pinned"]["note"]
    assert sum(row["quantity"] == "upload pageable" for row in rows) == 10
    assert outcome.left == 0


def test_a_throttled_board_does_not_pass_for_a_steady_one(bench, tmp_path, everything):
    bench.device.sensors.state = lambda: State(1e9, 2e9, 90.0, ("hw_thermal_slowdown",))
    chosen = [one for one in everything if one.reading is Reading.SECONDS and one.probe.steps == 0][:1]
    _, rows = _measure(bench, tmp_path, curves(chosen, CODE))
    assert [row["status"] for row in rows] == ["throttled"]


def test_chain_visits_every_cell_once():
    for random in (False, True):
        chain = pointer_chain(Chain(128, in_random_order=random), 128 * 100, 4096)
        at, seen = 4096, set()
        for _ in range(100):
            at = int(chain[(at - 4096) // 8])
            seen.add(at)
        assert len(seen) == 100
        assert at == 4096


def test_every_word_of_a_dense_chain_leads_on():
    chain = pointer_chain(Chain(256, every_word=True), 1024, 0)
    assert sorted(chain.tolist()) == list(range(0, 1024, 8))


def test_random_data_are_ordinary_numbers():
    tile = random_tile(4096)
    for kind, least in ((np.float64, 2**-15), (np.float32, 0.5), (np.float16, 0.5)):
        assert (abs(tile.view(kind)) >= least).all()
        assert (abs(tile.view(kind)) < 2).all()
    assert np.isfinite(tile.view(np.float16)).all()
    assert len(np.unique(tile)) > 100


def test_launches_fit_the_buffers_and_the_device(everything):
    """No address of a stream lies beyond its buffer, whatever the pass."""
    for one in everything:
        if "block_stride" in one.arguments and one.reading is not Reading.CYCLES:
            a = one.arguments
            blocks, warps = one.launch.grid.x, one.launch.warps_per_block
            if "stream_ca" in one.probe.name:
                continue
            width = a["spacing"]
            last = (blocks - 1) * a["block_stride"] + (warps - 1) * a["warp_stride"] + 31 * width
            last += a["footprint"] - a["step"] + 15 * 32 * width + width
            assert last + a["target"] <= one.buffer, one.name
        assert one.launch.block.count <= 1024
        assert one.data in Data
    names = [(one.name, one.data) for one in everything]
    assert len(set(names)) == len(names)


def test_points_need_machine_code(tmp_path):
    with pytest.raises(InputError, match="no microbenchmarks"):
        points(tmp_path, INFO)
    (tmp_path / "microbenchmarks.cubin").write_bytes(b"x")
    (tmp_path / "microbenchmarks.txt").write_text("13.5\n")
    assert read_code(tmp_path).toolkit == "13.5"
    found = points(tmp_path, INFO)
    assert len(found) > 300
    assert not any("texture" in point.label for point in found)
    assert len({point.label for point in found}) == len(found)
