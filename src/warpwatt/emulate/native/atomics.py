"""Native module: atomics, lane by lane in order."""

from __future__ import annotations

import numpy as np

from warpwatt.emulate.native import state
from warpwatt.emulate.native.counting import count_spaces
from warpwatt.emulate.native.places import find_hosts
from warpwatt.emulate.native.pointers import bytes_at, f32_at, f64_at, i64_at, u16_at, u32_at

ADD, MIN, MAX, UMIN, UMAX, AND, OR, XOR, EXCH, CAS, INC, DEC = range(12)
"""Places in :data:`~warpwatt.emulate.ir.ATOMICS`."""
INTEGER, HALF, SINGLE, DOUBLE = 0, 1, 2, 3


def atomic_lanes(m: int, w: int, row: int, lanes: int) -> None:
    """Read, modify and write at LANE_ADDRESSES; operands in LANE_VALUES, old values to LANE_OLD."""
    machine = i64_at(m, state.MACHINE_WORDS)
    operation = i64_at(machine[state.OPERATIONS] + row * state.OPERATION_WORDS * 8, state.OPERATION_WORDS)
    bytes_at(m + state.LANE_OLD * 8, 256)[:] = 0
    if lanes == 0 or machine[state.FAULT]:
        return
    size = operation[state.O_ELEMENT]
    if not find_hosts(m, w, row, lanes):
        return
    hosts = i64_at(m + state.HOSTS * 8, 32)
    for lane in range(0 if operation[state.O_PROBE] else 32):
        if (lanes >> lane) & 1:
            machine[state.LANE_OLD + lane] = read(hosts[lane], size)
            modify(
                operation[state.O_ATOMIC],
                operation[state.O_TYPE],
                size,
                hosts[lane],
                m + (state.LANE_VALUES + lane) * 8,
            )
    count_spaces(m, w, row, lanes, 1)


def read(host: int, size: int) -> int:
    """Return an element's bits."""
    if size == 4:
        return i64(u32_at(host, 1)[0])
    if size == 8:
        return i64(i64_at(host, 1)[0])
    if size == 2:
        return i64(u16_at(host, 1)[0])
    return i64(bytes_at(host, 1)[0])


def i64(value: int) -> int:
    """Return a number as a 64-bit integer."""
    return int(value)


def write(host: int, size: int, bits: int) -> None:
    """Write an element's bits."""
    if size == 4:
        u32_at(host, 1)[0] = bits
    elif size == 8:
        i64_at(host, 1)[0] = bits
    elif size == 2:
        u16_at(host, 1)[0] = bits
    else:
        bytes_at(host, 1)[0] = bits


def modify(how: int, kind: int, size: int, host: int, operands: int) -> None:
    """Do an atomic; the second operand lies 256 bytes behind the first."""
    value = i64_at(operands, 1)[0]
    if how == EXCH:
        write(host, size, value)
    elif how == CAS:
        if read(host, size) == value:
            write(host, size, i64_at(operands + 256, 1)[0])
    elif kind == SINGLE:
        f32_at(host, 1)[0] = combine(how, f32_at(host, 1)[0], f32_at(operands, 1)[0])
    elif kind == DOUBLE:
        f64_at(host, 1)[0] = combine(how, f64_at(host, 1)[0], f64_at(operands, 1)[0])
    elif kind == HALF:
        write(host, size, to_half(combine(how, from_half(read(host, size)), from_half(value))))
    else:
        write(host, size, modified(how, size, read(host, size), value))


def modified(how: int, size: int, old: int, value: int) -> int:  # noqa: PLR0911 - one for each kind
    """Return what an atomic on integers writes; elements below 64 bits come with zeros above."""
    if how == ADD:
        return old + value
    if how == AND:
        return old & value
    if how == OR:
        return old | value
    if how == XOR:
        return old ^ value
    if how in (MIN, MAX):
        shift = 64 - 8 * size
        less = (value << shift) < (old << shift)
        return value if less == (how == MIN) else old
    less = below(value, old)
    if how in (UMIN, UMAX):
        return value if less == (how == UMIN) else old
    if how == INC:
        return old + 1 if below(old, value) else 0
    return value if old == 0 or less else old - 1


def below(a: int, b: int) -> bool:
    """Whether one number is less than another, both without sign."""
    return (a ^ -(2**63)) < (b ^ -(2**63))


def combine(how: int, old: float, value: float) -> float:
    """Return the sum, or the number if the other is NaN, or the lesser or greater one; -0 is below 0."""
    if how == ADD:
        return old + value
    if np.isnan(old):
        return value
    if np.isnan(value):
        return old
    if old == value:
        return value if np.signbit(value) == (how == MIN) else old
    return value if (value < old) == (how == MIN) else old


def from_half(bits: int) -> float:
    """Return the number that 16 bits stand for."""
    exponent, fraction = (bits >> 10) & 31, bits & 1023
    if exponent == 31:
        size = np.inf if fraction == 0 else np.nan
    elif exponent == 0:
        size = fraction * 2.0**-24
    else:
        size = (1024 + fraction) * 2.0 ** (exponent - 25)
    return -size if bits & 0x8000 else size


def to_half(number: float) -> int:
    """Return the nearest 16-bit float's bits, ties to even."""
    if np.isnan(number):
        return 0x7FFF
    sign = 0x8000 if np.signbit(number) else 0
    size = abs(number)
    if size >= 65520.0:
        return sign | 0x7C00
    exponent = -14
    while exponent < 15 and size >= 2.0 ** (exponent + 1):
        exponent += 1
    units = np.rint(size * 2.0 ** (10 - exponent))  # 1024 to 2048, less where subnormal
    return sign | ((exponent + 14) * 1024 + int(units))
