"""Launches that differ by where their allocations lie, and by numbers that only end up in results."""

import struct

import numpy as np

from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate.arena import ARENA
from warpwatt.run.codes import Memory
from warpwatt.run.launches import Request
from warpwatt.run.memory import Allocations, Block
from warpwatt.run.protocol import Launch as Record

FIRST, SECOND, THIRD = ARENA + 4096, ARENA + 8192, ARENA + (1 << 20)


def request(x: int, y: int, n: int = 5, scale: float = 1.0) -> Request:
    """Return a launch of a kernel that takes two pointers, a size and a factor."""
    allocations = Allocations()
    for address in (FIRST, SECOND, THIRD):
        allocations.add(Block(address, 4096, Memory.DEVICE))
    data = struct.pack("<QQIf", x, y, n, scale)
    deciding = np.repeat(np.array([255, 0], np.uint8), [20, 4])
    record = Record(1, 0, 0, (1, 1, 1), (32, 1, 1), (1, 1, 1), 0, 0, 0, data=data)
    return Request.placed(1, record, "k", Launch(Dim3(1), Dim3(32)), allocations, deciding)


def test_where_allocations_lie_makes_no_difference():
    one = request(FIRST, SECOND)
    assert request(SECOND, THIRD).signature == one.signature
    assert request(SECOND, THIRD).blocks == (SECOND, THIRD)
    assert one.key != request(SECOND, THIRD).key


def test_what_points_to_one_allocation_twice_is_another_launch():
    one = request(FIRST, SECOND)
    assert request(FIRST, FIRST).signature != one.signature
    assert request(FIRST, FIRST + 512).signature != request(FIRST, FIRST).signature
    assert request(FIRST, FIRST + 512).signature == request(THIRD, THIRD + 512).signature


def test_a_place_in_a_line_makes_a_difference():
    assert request(FIRST + 4, SECOND).signature != request(FIRST, SECOND).signature


def test_numbers_count_where_they_decide():
    one = request(FIRST, SECOND)
    assert request(FIRST, SECOND, scale=2.0).signature == one.signature
    assert request(FIRST, SECOND, n=6).signature != one.signature
