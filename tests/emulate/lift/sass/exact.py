"""Exact arithmetic with fractions, rounded once: what machine floats must give."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

TWO = Fraction(2)
BITS = {np.float16: np.uint16, np.float32: np.uint32, np.float64: np.uint64}


def rounded(value: Fraction, bits: int, least: int, largest: Fraction, mode: str = "rn") -> Fraction | float:
    """Return a number rounded to ``bits`` significant bits, none below 2 ** (least - bits + 1).

    ``least`` is the exponent of the smallest normal number. Beyond the largest number: that or infinity.
    """
    sign, size = (-1 if value < 0 else 1), abs(value)
    if not size:
        return Fraction(0)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < TWO**exponent
    unit = TWO ** (max(exponent, least) - bits + 1)
    whole, rest = divmod(size, unit)
    half = Fraction(rest) / unit
    up = {
        "rn": half > Fraction(1, 2) or (half == Fraction(1, 2) and whole % 2 == 1),
        "rz": False,
        "rp": sign > 0 and half > 0,
        "rm": sign < 0 and half > 0,
    }[mode]
    result = (whole + up) * unit
    if result > largest:
        outward = mode == "rn" or (mode == "rp" and sign > 0) or (mode == "rm" and sign < 0)
        return sign * math.inf if outward else sign * largest
    return sign * result


def nearest(value: Fraction, type_: Any, mode: str = "rn") -> Any:
    """Return a fraction as a NumPy float."""
    info = np.finfo(type_)
    result = rounded(value, info.nmant + 1, int(info.minexp), Fraction(float(info.max)), mode)
    return type_(math.copysign(float(result), -1 if value < 0 else 1))


def bfloat(value: Fraction) -> int:
    """Return a fraction as a bfloat16 pattern."""
    result = float(rounded(value, 8, -126, Fraction(float(np.finfo(np.float32).max)), "rn"))
    with np.errstate(over="ignore"):
        return int(np.float32(math.copysign(result, -1 if value < 0 else 1)).view(np.uint32)) >> 16


def applied(
    exact: Callable[..., Fraction], plain: Callable[..., Any], mode: str, *arguments: NDArray[Any]
) -> NDArray[Any]:
    """Return an operation on floats: exact and rounded once where all is finite and the result not zero."""
    type_ = arguments[0].dtype.type
    with np.errstate(all="ignore"):
        found = plain(*(a.astype(np.float64) for a in arguments)).astype(type_)
    for lane, numbers in enumerate(zip(*arguments, strict=True)):
        if all(np.isfinite(numbers)):
            value = exact(*(Fraction(float(n)) for n in numbers))
            if value:
                found[lane] = nearest(value, type_, mode)
    return found


def floats(type_: Any, seed: int, count: int) -> NDArray[Any]:
    """Return random floats of every size: any bits, special numbers, and some of common size."""
    draw, info = np.random.default_rng(seed), np.finfo(type_)
    bits: Any = BITS[type_]
    special = np.array(
        [0.0, -0.0, 1, -1, math.inf, -math.inf, math.nan, info.tiny, -info.tiny, info.max, -info.max,
         info.smallest_subnormal, -info.smallest_subnormal, info.tiny / 2, 3, 0.1, 1 / 3, 1 + info.eps],
        type_,
    )  # fmt: skip
    any_bits = draw.integers(0, np.iinfo(bits).max, count, dtype=bits, endpoint=True).view(type_)
    common = draw.normal(0, 3, count).astype(type_)
    which = draw.integers(0, 3, count)
    return np.choose(which, [draw.choice(special, count), any_bits, common]).astype(type_)


def same(found: NDArray[Any], wanted: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where two arrays of floats have the same bits or are both NaN."""
    bits = BITS[found.dtype.type]
    equal: NDArray[np.bool_] = (np.isnan(found) & np.isnan(wanted)) | (found.view(bits) == wanted.view(bits))
    return equal
