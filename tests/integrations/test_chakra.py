"""Execution traces for cluster simulators, taken apart by the wire format alone."""

from __future__ import annotations

import struct
from typing import Any

from tests.render import samples
from warpwatt.integrations.chakra import trace


def number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data: bytes) -> list[tuple[int, Any]]:
    found: list[tuple[int, Any]] = []
    at = 0
    while at < len(data):
        key, at = number(data, at)
        value: Any
        if key & 7 == 0:
            value, at = number(data, at)
        elif key & 7 == 1:
            (value,), at = struct.unpack("<d", data[at : at + 8]), at + 8
        else:
            size, at = number(data, at)
            value, at = data[at : at + size], at + size
        found.append((key >> 3, value))
    return found


def messages(data: bytes) -> list[bytes]:
    found, at = [], 0
    while at < len(data):
        size, at = number(data, at)
        found.append(data[at : at + size])
        at += size
    return found


def test_every_launch_is_a_node_behind_the_one_before():
    predictions = (*samples.saxpy_pair(), *samples.matmul_pair())
    head, *nodes = messages(trace(predictions))
    assert fields(head)[0] == (1, b"0.0.4")
    for i, (node, prediction) in enumerate(zip(nodes, predictions, strict=True)):
        plain = dict(fields(node))
        attributes = {
            dict(fields(value))[1].decode(): fields(value)[1][1] for key, value in fields(node) if key == 10
        }
        assert (plain[1], plain[2].decode(), plain[3]) == (i, prediction.kernel_name, 4)
        assert plain.get(5) == (bytes([i - 1]) if i else None)
        assert 0 <= plain[7] - prediction.time.value * 1e6 < 1
        assert attributes["duration_s"] == prediction.time.value
        assert attributes["energy_j"] == prediction.energy.value
        assert attributes["is_cpu_op"] == 0
