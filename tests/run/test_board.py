"""NVML: what a program reads of the board, against the timeline that it is predicted on."""

from __future__ import annotations

import struct

import pytest

from tests.run.test_libraries import HOST
from warpwatt.gpus import default_clocks, find
from warpwatt.models.component.waiting import waiting_watts
from warpwatt.run.libraries.board import Board
from warpwatt.run.libraries.calls import Call
from warpwatt.run.libraries.library import Libraries
from warpwatt.run.memory import Arena
from warpwatt.run.protocol import Contents, LibraryCallReply
from warpwatt.run.timeline import Kind, Timeline

GPU = find("h100")
AT = HOST + 512


@pytest.fixture
def line():
    """One kernel of 2 s and 1000 J from second 1 on; a copy of 0.5 s and 3 J from second 5 on."""
    one = Timeline(GPU)
    one.launch(1.0, "kernel", 0, 2.0, 1000.0, 1, graph=False)
    one._run(Kind.TO_HOST, "copy", 0, 5.0, 0.5, 3.0)
    return one


def read(line, name, *words, used=5, kind="<I"):
    arena = Arena(1 << 20)
    libraries = Libraries(arena, print, shown=Board(GPU, None, line, lambda: None, lambda: used))
    answer = libraries.asked(Call(name, (1, *words, AT), (), {}))
    assert isinstance(answer, bytes)
    reply = LibraryCallReply.unpack(answer)
    arena.close()
    assert reply.result == 0
    one = Contents.unpack(reply.data)
    return struct.unpack_from(kind, one.data[: one.size])


def test_energy_is_that_of_the_timeline_and_never_falls(line):
    waiting = waiting_watts(GPU)
    for now, expected in (
        (1.0, waiting),
        (2.0, waiting + 500),
        (3.0, waiting + 1000),
        (6.0, 4 * waiting + 1003),
    ):
        line.now = now
        (millijoules,) = read(line, "nvmlDeviceGetTotalEnergyConsumption", kind="<Q")
        assert millijoules == pytest.approx(1e3 * expected, abs=0.6)
    _, steps = line.account()
    at = sum((end - start) * watts for start, end, watts in steps)
    assert line.drawn(steps[-1][1]) - line.drawn(steps[0][0]) == pytest.approx(at)


def test_power_and_utilization_are_means_of_the_last_moments(line):
    for now, watts, share in (
        (2.5, 500.0, 100),
        (3.5, 250 + waiting_watts(GPU) / 2, 0),
        (5.0, waiting_watts(GPU), 0),
    ):
        line.now = now
        assert read(line, "nvmlDeviceGetPowerUsage")[0] == pytest.approx(1e3 * watts, rel=1e-4)
        assert read(line, "nvmlDeviceGetUtilizationRates", kind="<II") == (share, share)


def test_the_board_is_the_one_that_is_predicted(line):
    assert read(line, "nvmlDeviceGetMemoryInfo", used=7, kind="<QQQ") == (
        GPU.memory_size,
        GPU.memory_size - 7,
        7,
    )
    assert read(line, "nvmlDeviceGetClockInfo", 1)[0] == round(default_clocks(GPU).sm / 1e6)
    assert read(line, "nvmlDeviceGetEnforcedPowerLimit")[0] == 1e3 * GPU.power_limit


def test_profilers_get_the_spans_of_the_timeline(line):
    arena = Arena(1 << 20)
    shown = Board(GPU, None, line, lambda: None, lambda: 0, lambda: 7)
    libraries = Libraries(arena, print, shown=shown)
    for first, skipped, expected in ((0, 0, 2), (0, 1, 1), (2_000_000_007, 0, 1), (9_000_000_000, 0, 0)):
        answer = libraries.asked(Call("warpwatt_spans", (first, skipped, 16, AT), (), {}))
        assert isinstance(answer, bytes)
        reply = LibraryCallReply.unpack(answer)
        one = Contents.unpack(reply.data)
        found = list(struct.iter_unpack("<4Q2I472s", one.data[: one.size]))
        assert reply.result == len(found) == expected
        if not first and not skipped:
            assert [row[:6] for row in found] == [
                (1_000_000_007, 1_000_000_007, 3_000_000_007, 0, 10, 0),
                (5_000_000_007, 5_000_000_007, 5_500_000_007, 0, 1, 0),
            ]
            assert [row[6].rstrip(b"\0") for row in found] == [b"kernel", b"\2"]
    arena.close()
