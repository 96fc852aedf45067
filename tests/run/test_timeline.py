"""When work happens: orders of streams and events, in closed form."""

from __future__ import annotations

import pytest

from warpwatt.gpus import find
from warpwatt.models.component.waiting import waiting_watts
from warpwatt.models.overhead import launch_overhead, transfer_time
from warpwatt.run.codes import CopyFlag, CopyKind
from warpwatt.run.protocol import CopyRecord
from warpwatt.run.timeline import Timeline

GPU = find("h200")
LONG = 1e-3


@pytest.fixture
def line():
    return Timeline(GPU)


def launch(line, host, stream=0, seconds=LONG):
    line.launch(host, "k", stream, seconds, 0.5, 1, graph=False)
    return line.spans[-1]


def copy(size, kind=CopyKind.HOST_TO_DEVICE, stream=0, flags=CopyFlag.PAGEABLE):
    return CopyRecord(0, 0, size, stream, kind, flags, 0, 0, 0, 0)


def test_a_stream_runs_in_order_and_kernels_one_at_a_time(line):
    line.create_stream(1, blocking=False)
    assert launch(line, 0.0).start == 0.0
    assert launch(line, 0.0).start == LONG
    assert launch(line, 0.0, stream=1).start == 2 * LONG  # not its stream, but the engine
    assert line.idle_at == pytest.approx(3 * LONG)


def test_short_launches_come_no_faster_than_the_launch_interval(line):
    launch(line, 0.0, seconds=1e-9)
    assert launch(line, 0.0, seconds=1e-9).start == pytest.approx(launch_overhead(GPU).value)


def test_copies_overlap_with_kernels_of_another_stream(line):
    line.create_stream(1, blocking=False)
    launch(line, 0.0)
    end = line.copy(0.0, copy(1 << 20, stream=1))
    assert end == pytest.approx(transfer_time(GPU, 1 << 20).value)
    assert line.spans[-1].start == 0.0


@pytest.mark.parametrize("kind", [k for k in CopyKind if k is not CopyKind.HOST_TO_HOST])
def test_four_bytes_take_as_long_as_the_shortest_copy_anyone_saw(line, kind):
    assert 1e-6 < line.copy(0.0, copy(4, kind)) < 2e-6


@pytest.mark.parametrize(("blocking", "start"), [(True, LONG), (False, 0.0)])
def test_the_legacy_stream_waits_for_those_that_block(line, blocking, start):
    line.create_stream(1, blocking=blocking)
    launch(line, 0.0, stream=1)
    line.copy(0.0, copy(1 << 20))
    assert line.spans[-1].start == start


def test_a_stream_waits_for_an_event_of_another(line):
    line.create_stream(1, blocking=False)
    line.create_stream(2, blocking=False)
    launch(line, 0.0, stream=1)
    line.record(7, 1, 0.0)
    line.wait(2, 7)
    line.copy(0.0, copy(1 << 20, stream=2))
    assert line.event(7) == LONG
    assert line.spans[-1].start == LONG
    assert line.event(8) is None


def test_hosts_of_several_gpus_drift_apart_by_what_they_wait(line):
    assert line.host(1.0) == 1.0
    line.waited(0.25, 0.75)  # the program waited 0.25 s, here it would have waited 0.75 s
    assert line.host(1.25 + 1.0) == pytest.approx(2.75)


def test_idle_time_lies_between_the_first_work_and_the_last(line):
    launch(line, 1.0)
    launch(line, 2.0)
    assert line.busy == pytest.approx(2 * LONG)
    assert line.idle == pytest.approx(1.0 - LONG)
    assert line.idle_energy == pytest.approx(line.idle * waiting_watts(GPU))


def test_copies_draw_idle_power_while_no_kernel_runs(line):
    launch(line, 0.0)
    end = line.copy(0.0, copy(1 << 30, stream=2))
    spans, _ = line.account()
    assert line.idle_energy == line.idle * waiting_watts(GPU) == pytest.approx(0.0, abs=1e-9)
    drawn = sum(span.energy for span in spans) - sum(span.energy for span in line.spans)
    assert drawn == pytest.approx((end - LONG) * waiting_watts(GPU))


def test_moving_nothing_takes_no_time(line):
    assert line.copy(3.0, copy(0)) == 3.0
    assert line.copy(3.0, copy(8, CopyKind.HOST_TO_HOST)) == 3.0
    assert not line.spans


def test_the_steps_of_power_add_up_to_the_energy(line):
    line.launch(0.0, "k", 0, LONG, 50.0, 1, graph=False)
    line.launch(2 * LONG, "k", 0, LONG, 80.0, 2, graph=False)
    line.copy(0.0, copy(1 << 20))
    spans, steps = line.account()
    whole = sum(span.energy for span in spans) + line.idle_energy
    assert sum((end - start) * watts for start, end, watts in steps) == pytest.approx(whole)
    assert max(watts for _, _, watts in steps) == pytest.approx(80.0 / LONG)
