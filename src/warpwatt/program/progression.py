"""When does ``first + k * step`` in machine arithmetic first lie in an interval? Exact, vectorised."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from warpwatt.program.arithmetic import Array

NEVER = np.int64(2**62)
"""Stands for "not in any iteration"."""
_EXACT_LIMIT = 256
"""Different progressions that are solved one by one in exact integers."""


def first_comparison(op: str, first: Array, step: Array, bound: Array, bits: int, *, signed: bool) -> Array:
    """Return the first ``k >= 0`` for which ``first + k * step OP bound``, :data:`NEVER` if there is none.

    Operands are bit patterns (``uint64`` holding ``bits`` bits); sums wrap at ``bits``.

    >>> u = lambda x: np.array([x], np.uint64)
    >>> first_comparison("ge", u(0), u(3), u(10), 32, signed=True)
    array([4])
    """
    limit = np.uint64((1 << bits) - 1)
    flip = np.uint64(1 << (bits - 1) if signed else 0)
    x, s, r = (first ^ flip) & limit, step & limit, (bound ^ flip) & limit
    zero, one = np.uint64(0), np.uint64(1)
    if op == "ne":
        return np.where(x != r, 0, np.where(s != zero, 1, NEVER))
    low, high, empty = np.full_like(r, zero), np.full_like(r, limit), np.zeros(1, bool)
    if op == "lt":
        high, empty = r - one, r == zero
    elif op == "le":
        high = r
    elif op == "gt":
        low, empty = r + one, r == limit
    elif op == "ge":
        low = r
    else:
        low, high = r, r
    shape = np.broadcast_shapes(x.shape, s.shape, r.shape)
    x, s, low, high = (np.broadcast_to(a, shape) for a in (x, s, low, high))
    return np.where(empty, NEVER, _first_in(x, s, low, high, bits))


def _first_in(x: Array, s: Array, low: Array, high: Array, bits: int) -> Array:
    """Return the first k with ``(x + k s) mod 2**bits`` in ``[low, high]``: one approach, then exactly."""
    limit, zero = np.uint64((1 << bits) - 1), np.uint64(0)
    inside = (low <= x) & (x <= high)
    falling = s > limit >> np.uint64(1)
    distance = np.where(falling, x - high, low - x) & limit
    stride = np.where(falling, zero - s, s) & limit
    safe = np.maximum(stride, np.uint64(1))
    steps, rest = distance // safe, distance % safe
    steps = steps + (rest != zero)
    overshoot = np.where(rest == zero, zero, safe - rest)
    k = np.where(steps < np.uint64(NEVER), steps, np.uint64(NEVER)).astype(np.int64)
    k = np.where(stride == zero, NEVER, k)
    missed = ~inside & (overshoot > high - low) & (stride != zero)
    if missed.any():
        k = k.copy()
        _solve_exactly(k, missed, x, s, low, high, bits)
    return np.where(inside, 0, k)


def _solve_exactly(k: Array, missed: Array, x: Array, s: Array, low: Array, high: Array, bits: int) -> None:
    """Fill ``k`` where one approach jumps over the interval; more than a few such cases stay ``NEVER``."""
    modulus = 1 << bits
    solved: dict[tuple[int, int, int], int] = {}
    for place in zip(*np.nonzero(missed), strict=True):
        start = int(x[place])
        key = (int(s[place]), (int(low[place]) - start) % modulus, (int(high[place]) - start) % modulus)
        if key not in solved:
            solved[key] = first_multiple(key[0], modulus, *key[1:]) if len(solved) < _EXACT_LIMIT else -1
        k[place] = solved[key] if 0 <= solved[key] < NEVER else NEVER


def first_multiple(a: int, modulus: int, low: int, high: int) -> int:
    """Return the least ``k`` with ``low <= a k mod modulus <= high``, or -1; Euclid's algorithm on intervals.

    >>> first_multiple(5, 16, 1, 1)
    13
    """
    trail: list[tuple[int, int, int]] = []
    while True:
        if low == 0:
            k = 0
            break
        if a == 0:
            return -1
        k = -(-low // a)
        if a * k <= high:
            break
        trail.append((a, modulus, low))
        a, modulus, low, high = modulus % a, a, -high % a, -low % a
    for a_outer, modulus_outer, low_outer in reversed(trail):
        k = -(-(low_outer + modulus_outer * k) // a_outer)
    return k
