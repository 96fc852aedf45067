"""Integers and floats with bits, exact: what oracles of the tests are made of."""

from __future__ import annotations

import math
import random
import struct
from fractions import Fraction

FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def signed(value: int, bits: int) -> int:
    """Return the two's complement number of some bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def masked(value: int, bits: int) -> int:
    """Return the low bits."""
    return value & ((1 << bits) - 1)


def samples(bits: int, count: int, seed: int) -> list[int]:
    """Return random bit patterns, a third of them near the ends of the range."""
    source = random.Random(f"{bits} {count} {seed}")
    ends = [0, 1, 2, (1 << bits) - 1, (1 << bits) - 2, 1 << (bits - 1), (1 << (bits - 1)) - 1]
    values = []
    for _ in range(count):
        kind = source.random()
        if kind < 0.3:
            values.append(source.choice(ends))
        elif kind < 0.6:
            values.append(source.getrandbits(source.randint(1, bits)))
        else:
            values.append(source.getrandbits(bits))
    return values


def float_samples(kind: str, count: int, seed: int) -> list[int]:
    """Return bit patterns of floats: random, of like magnitude, special."""
    exponent, mantissa = FORMATS[kind]
    bits = 1 + exponent + mantissa
    source = random.Random(f"{kind} {count} {seed}")
    bias = (1 << (exponent - 1)) - 1
    special = [0, 1 << (bits - 1), 1, (1 << mantissa) - 1, 1 << mantissa, bias << mantissa]
    special += [((1 << exponent) - 1) << mantissa, (((1 << exponent) - 1) << mantissa) | 1 << (mantissa - 1)]
    special += [(((1 << exponent) - 1) << mantissa) - 1]
    values = []
    for _ in range(count):
        choice = source.random()
        if choice < 0.15:
            values.append(source.choice(special) | source.getrandbits(1) << (bits - 1))
        elif choice < 0.75:
            near = bias + source.randint(-6, 6)
            values.append(
                source.getrandbits(1) << (bits - 1) | near << mantissa | source.getrandbits(mantissa)
            )
        else:
            values.append(source.getrandbits(bits))
    return values


def to_float(bits: int, kind: str) -> float:
    """Return the value of a bit pattern (as a double, which holds them all)."""
    if kind == "bf16":
        return float(struct.unpack("<f", struct.pack("<I", bits << 16))[0])
    code = {"f16": "<e", "f32": "<f", "f64": "<d"}[kind]
    whole = {"f16": "<H", "f32": "<I", "f64": "<Q"}[kind]
    return float(struct.unpack(code, struct.pack(whole, bits))[0])


def is_nan(bits: int, kind: str) -> bool:
    """Whether a pattern is a NaN."""
    return math.isnan(to_float(bits, kind))


def rounded(value: Fraction, kind: str, mode: str = "rn", zero_sign: int = 0) -> int:
    """Return the bits of an exact value rounded to a format; ``zero_sign`` is the sign of an exact 0."""
    exponent_bits, mantissa = FORMATS[kind]
    bias = (1 << (exponent_bits - 1)) - 1
    top = 1 << (exponent_bits + mantissa)
    if value == 0:
        return zero_sign * top
    sign, magnitude = int(value < 0), abs(value)
    exponent = max(_exponent(magnitude), 1 - bias)
    unit = Fraction(2) ** (exponent - mantissa)
    whole, rest = divmod(magnitude, unit)
    count = int(whole)
    up = {"rz": False, "rm": bool(sign), "rp": not sign}.get(mode)
    if up is None:
        up = rest * 2 > unit or (rest * 2 == unit and count & 1 == 1)
    elif rest == 0:
        up = False
    count += up
    # A subnormal has exponent field 0; a carry out of the mantissa moves into the exponent by itself.
    pattern = count + ((exponent + bias - 1) << mantissa) if count else 0
    infinity = ((1 << exponent_bits) - 1) << mantissa
    if pattern >= infinity:
        toward_zero = mode == "rz" or (mode == "rm" and not sign) or (mode == "rp" and sign)
        pattern = infinity - 1 if toward_zero else infinity
    return pattern | sign * top


def _exponent(value: Fraction) -> int:
    """Return floor(log2(value))."""
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1
