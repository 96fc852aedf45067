"""Native module: pages of buffers that begin as random numbers (:mod:`warpwatt.emulate.fills`)."""

from __future__ import annotations

from warpwatt.emulate.native import state
from warpwatt.emulate.native.pointers import bytes_at, f32_at, f64_at, i64_at, u16_at, u32_at

PAGE_BITS = 12
RANDOM, SINGLE, DOUBLE, FIRST_INTEGER = 1, 2, 3, 4
"""A kind of fill, and element types, by their numbers in :mod:`warpwatt.emulate.memory`."""
STEP, FIRST, SECOND = -0x61C8864680B583EB, -0x40A7B892E31B1A47, -0x6B2FB644ECCEEE15
"""Constants of SplitMix64, as signed numbers."""


def mix(key: int, index: int) -> int:
    """Return 64 random bits."""
    z = (index + 1) * STEP + key
    z = (z ^ ((z >> 30) & 0x3FFFFFFFF)) * FIRST
    z = (z ^ ((z >> 27) & 0x1FFFFFFFFF)) * SECOND
    return z ^ ((z >> 31) & 0x1FFFFFFFF)


def fill_page(m: int, slot: int, page: int) -> bool:
    """Make a page; False if its buffer is of a kind that only Python can make."""
    machine = i64_at(m, state.MACHINE_WORDS)
    kind = i64_at(machine[state.FILL_KINDS], slot + 1)[slot]
    element = kind & 0xFF
    if kind >> 8 != RANDOM or element < SINGLE:
        return False
    size = 8
    if element == SINGLE:
        size = 4
    elif element >= FIRST_INTEGER:
        size = 1 << ((element - FIRST_INTEGER) >> 1)
    start = page << PAGE_BITS
    stop = min(start + (1 << PAGE_BITS), i64_at(machine[state.SIZES], slot + 1)[slot])
    key = i64_at(machine[state.FILL_KEYS], slot + 1)[slot]
    first, count = start // size, (stop - start) // size
    fill(i64_at(machine[state.BASES], slot + 1)[slot] + start, element, size, key, first, count)
    bytes_at(i64_at(machine[state.PAGE_FLAGS], slot + 1)[slot], page + 1)[page] = 1
    return True


def fill(place: int, element: int, size: int, key: int, first: int, count: int) -> None:
    """Write ``count`` elements from number ``first`` on."""
    if element == SINGLE:
        for k in range(count):
            f32_at(place, count)[k] = ((mix(key, first + k) >> 40) & 0xFFFFFF) * 2.0**-24
    elif element == DOUBLE:
        for k in range(count):
            f64_at(place, count)[k] = ((mix(key, first + k) >> 11) & 0x1FFFFFFFFFFFFF) * 2.0**-53
    elif size == 8:
        for k in range(count):
            i64_at(place, count)[k] = (mix(key, first + k) >> 57) & 0x7F
    elif size == 4:
        for k in range(count):
            u32_at(place, count)[k] = (mix(key, first + k) >> 57) & 0x7F
    elif size == 2:
        for k in range(count):
            u16_at(place, count)[k] = (mix(key, first + k) >> 57) & 0x7F
    else:
        for k in range(count):
            bytes_at(place, count)[k] = (mix(key, first + k) >> 57) & 0x7F
