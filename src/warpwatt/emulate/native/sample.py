"""A native module of one function, for the example and the tests of :mod:`~warpwatt.emulate.native.aot`."""

from __future__ import annotations

from warpwatt.emulate.native.pointers import i64_at


def total(address: int, count: int) -> int:
    """Return the sum of ``count`` integers at an address."""
    result = 0
    for value in i64_at(address, count):
        result += value
    return result
