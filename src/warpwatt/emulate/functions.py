"""Runtime functions of CALL operations: pure functions of a warp's registers.

``function(args, mask, constants) -> results``: ``args`` are the raw bits of the arguments, of shape
(arguments, 32); ``mask`` the active lanes, of shape (32,); ``results`` raw bits of shape (results, 32).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.emulate.formats import BITS, decode, encode, is_integer, scale_values
from warpwatt.emulate.fragments import fragment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Function = Callable[[NDArray[np.uint64], NDArray[np.bool_], tuple[Any, ...]], NDArray[np.uint64]]


def mma(args: NDArray[np.uint64], mask: NDArray[np.bool_], constants: tuple[Any, ...]) -> NDArray[np.uint64]:
    """Return D = A × B + C of one warp, summed in float64 (integers: exactly) and rounded once.

    ``constants``: m, n, k; the PTX types of A, B, C and D; then "satfinite", "xor" or "and" where they apply.
    ``args``: the registers of A, B and C in this order.
    """
    del mask
    m, n, k, a_kind, b_kind, c_kind, d_kind, *rest = constants
    a_layout = fragment("a", m, k, BITS[a_kind])
    b_layout = fragment("b", k, n, BITS[b_kind])
    c_layout = fragment("c", m, n, BITS[c_kind])
    first, second = a_layout.registers, a_layout.registers + b_layout.registers
    a, b, c = (
        decode(layout.gather(registers), kind)
        for layout, registers, kind in (
            (a_layout, args[:first], a_kind),
            (b_layout, args[first:second], b_kind),
            (c_layout, args[second:], c_kind),
        )
    )
    with np.errstate(invalid="ignore", over="ignore"):
        total = _product(a, b, rest) + c
    if "satfinite" in rest and is_integer(d_kind):
        total = np.clip(total, -(1 << 31), (1 << 31) - 1)
    return fragment("c", m, n, BITS[d_kind]).scatter(encode(total, d_kind))


def _product(a: NDArray[Any], b: NDArray[Any], rest: list[Any]) -> NDArray[Any]:
    """Return A × B, or the number of ones of A xor B or A and B summed along k."""
    if "xor" in rest:
        both: NDArray[Any] = (a[:, :, None] ^ b[None, :, :]).sum(axis=1)
        return both
    product: NDArray[Any] = a @ b  # for one bit, "and" is the product
    return product


def scaled_mma(
    args: NDArray[np.uint64], mask: NDArray[np.bool_], constants: tuple[Any, ...]
) -> NDArray[np.uint64]:
    """Return D = (A scaled) × (B scaled) + C of one warp in 32-bit floats (PTX ISA, "Block scaling for mma").

    ``constants``: m, n, k; types of A and B; elements along K that share a scale; the scales' type.
    ``args``: the registers of A, B and C, a register of A's scales and one of B's: a byte for each block of
    K, row g of A in thread 4 g, row g + 8 in thread 4 g + 1, column g of B in thread 4 g.
    """
    del mask
    m, n, k, a_kind, b_kind, block, kind = constants
    packed = a_kind == b_kind == "e2m1" and k == _DEPTH_OF_FOUR_BITS
    bits = 4 if packed else 8
    layouts = fragment("a", m, k, bits), fragment("b", k, n, bits), fragment("c", m, n, 32)
    first, second = layouts[0].registers, layouts[0].registers + layouts[1].registers
    a = _small(layouts[0].gather(args[:first]), a_kind, packed=packed)
    b = _small(layouts[1].gather(args[first:second]), b_kind, packed=packed)
    c = decode(layouts[2].gather(args[second:-2]), "f32")
    group = 4 * np.arange(8)
    a_scales = _scales(args[-2][np.concatenate([group, group + 1])], k // block, kind)
    b_scales = _scales(args[-1][group], k // block, kind)
    with np.errstate(invalid="ignore", over="ignore"):
        left, right = a * np.repeat(a_scales, block, axis=1), b * np.repeat(b_scales, block, axis=1).T
        return layouts[2].scatter(encode(left @ right + c, "f32"))


_DEPTH_OF_FOUR_BITS = 64


def _small(elements: NDArray[np.uint64], kind: str, *, packed: bool) -> NDArray[Any]:
    """Return small floats; four bits in a byte lie in bits 2 to 5 (PTX ISA, "mma", alternate formats)."""
    return decode(elements >> np.uint64(2) if kind == "e2m1" and not packed else elements, kind)


def _scales(registers: NDArray[np.uint64], count: int, kind: str) -> NDArray[np.float64]:
    """Return the scales in the lowest bytes of registers, shape (registers, count)."""
    shifts = np.arange(count, dtype=np.uint64) * np.uint64(8)
    return scale_values(registers[:, None] >> shifts & np.uint64(255), kind)


FUNCTIONS: dict[str, Function] = {"mma": mma, "scaled mma": scaled_mma}
"""Runtime functions by the name that CALL gives them."""
