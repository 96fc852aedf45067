"""Atomic operations: lanes one after the other, as if in order of warp and lane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.emulate.reference import floats, integers
from warpwatt.emulate.ir import BARRIER_OBJECT, NEW_BARRIER_OBJECT, Op
from warpwatt.emulate.lift.barriers import BYTES_AT, COUNT_BITS, EXPECTED_AT, PHASE_AT

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tests.emulate.reference.spaces import Piece

    Array = NDArray[Any]


def _increment(old: Array, limit: Array) -> Array:
    return np.asarray(np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1)))


def _decrement(old: Array, limit: Array) -> Array:
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


def _change_barrier_object(old: Array, change: Array) -> Array:
    """Add; where no arrivals and no bytes are left, begin the next phase with the expected arrivals."""
    new = old + change
    over = (new & np.uint64((1 << EXPECTED_AT) - 1)) == np.uint64(1 << 20 + BYTES_AT)
    expected = new >> np.uint64(EXPECTED_AT) & np.uint64((1 << COUNT_BITS) - 1)
    return np.asarray(np.where(over, new + expected + np.uint64(1 << PHASE_AT), new))


_INTEGER: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "min": integers.OPERATIONS[Op.SMIN],
    "max": integers.OPERATIONS[Op.SMAX],
    "umin": np.minimum,
    "umax": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "inc": _increment,
    "dec": _decrement,
    "exch": lambda _old, new: new,
    BARRIER_OBJECT: _change_barrier_object,
    NEW_BARRIER_OBJECT: lambda _old, new: new,
    "cas": lambda old, compare, new: np.asarray(np.where(old == compare, new, old)),
}
_FLOAT: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "min": floats.minimum,
    "max": floats.maximum,
    "exch": lambda _old, new: new,
}


def combine(operation: str, old: Array, *operands: Array) -> Array:
    """Return what an atomic leaves in memory.

    >>> combine("inc", np.array([3, 7], np.uint32), np.array([7, 7], np.uint32)).tolist()
    [4, 0]
    """
    table = _FLOAT if old.dtype.kind == "f" else _INTEGER
    return np.asarray(table[operation](old, *operands))


def apply(piece: Piece, operation: str, operands: list[Array]) -> Array:
    """Do an atomic on every lane of a piece and return the old values.

    Lanes on one address go in rounds: the n-th lane of every address in round n.
    """
    places = piece.index if piece.owners is None else piece.owners * piece.elements.shape[-1] + piece.index
    flat = piece.elements.reshape(-1)
    old = np.empty(len(places), flat.dtype)
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    fresh = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    starts = np.flatnonzero(fresh)
    rank = np.arange(len(ordered)) - np.repeat(starts, np.diff([*starts, len(ordered)]))
    by_rank = order[np.argsort(rank, kind="stable")]
    for chosen in np.split(by_rank, np.cumsum(np.bincount(rank))[:-1]):
        old[chosen] = flat[places[chosen]]
        flat[places[chosen]] = combine(operation, old[chosen], *(value[chosen] for value in operands))
    return old
