"""Runtime functions of CALL operations: pure functions of a warp's registers.

``function(args, mask, constants) -> results``: ``args`` are the raw bits of the arguments, of shape
(arguments, 32); ``mask`` the active lanes, of shape (32,); ``results`` raw bits of shape (results, 32).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.emulate.formats import BITS, decode, encode, is_integer
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


FUNCTIONS: dict[str, Function] = {"mma": mma}
"""Runtime functions by the name that CALL gives them."""
