"""Overheads: where a launch interval comes from, and what no buffer means for copies."""

from warpwatt.core.estimate import Source
from warpwatt.core.launch import Dim3, Launch
from warpwatt.gpus import find
from warpwatt.models.overhead import launch_overhead, launch_transfer, transfer_time


def test_a_boards_own_interval_is_measured_a_borrowed_one_is_not():
    own, borrowed = launch_overhead(find("h200")), launch_overhead(find("v100"))
    assert own.source is Source.MEASURED
    assert borrowed.source is Source.MODELLED
    assert own.high / own.low < borrowed.high / borrowed.low


def test_a_graph_launches_faster():
    assert launch_overhead(find("h200"), graph=True).value < launch_overhead(find("h200")).value


def test_copies_without_buffers_are_said_not_to_be_counted():
    transfer = launch_transfer(find("h200"), Launch(Dim3(1), Dim3(1)))
    assert transfer.value == 0
    assert transfer.warnings


def test_pinned_memory_and_larger_copies():
    gpu = find("h200")
    assert (
        transfer_time(gpu, 1e9, pinned=True).value
        < transfer_time(gpu, 1e9).value
        < transfer_time(gpu, 2e9).value
    )
