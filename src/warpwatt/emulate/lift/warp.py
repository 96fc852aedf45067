"""What lanes of a warp exchange, in PTX as in SASS: shuffles, and 8 × 8 matrices of 16-bit elements.

Of a matrix (ldmatrix, stmatrix, LDSM, STSM), lane L holds elements 2t and 2t + 1 of row g (g = L / 4,
t = L mod 4) in one register. Row addresses of matrix i come from lanes 8i to 8i + 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpwatt.core.launch import WARP_SIZE
from warpwatt.emulate.ir import Op, Type

if TYPE_CHECKING:
    from warpwatt.emulate.builder import Builder
    from warpwatt.emulate.ir import Value


def source_lane(b: Builder, mode: str, by: int | Value, clamp: int | Value) -> tuple[Value, Value | None]:
    """Return the lane a shuffle reads from, and whether it is in range (None: always).

    ``clamp`` packs the segment mask (bits 8-12) and the bound (bits 0-4), as PTX and SASS have it.
    """
    lane = b.lane()
    if isinstance(clamp, int) and clamp >> 8 & 31 == 0:
        return _source_in_warp(b, mode, by, clamp & 31, lane)
    packed = b.i32(clamp) if isinstance(clamp, int) else clamp
    step = b.i32(by & 31) if isinstance(by, int) else b.and_(by, b.i32(31))
    segment = b.and_(b.lshr(packed, 8), b.i32(31))
    first = b.and_(lane, segment)
    bound = b.or_(first, b.and_(b.and_(packed, b.i32(31)), b.not_(segment)))
    if mode == "idx":
        source = b.or_(first, b.and_(step, b.not_(segment)))
    else:
        source = b.op({"up": Op.SUB, "down": Op.ADD, "bfly": Op.XOR}[mode], lane, step)
    valid = b.op(Op.SLE, bound, source) if mode == "up" else b.op(Op.SLE, source, bound)
    return b.select(valid, source, lane), valid


def _source_in_warp(
    b: Builder, mode: str, by: int | Value, bound: int, lane: Value
) -> tuple[Value, Value | None]:
    """Return the same for one segment, the whole warp, with a constant bound."""
    step = b.i32(by & 31) if isinstance(by, int) else b.and_(by, b.i32(31))
    if mode in ("idx", "bfly"):
        source = step if mode == "idx" else b.xor(lane, step)
        if bound == 31:
            return source, None
    else:
        source = b.add(lane, step) if mode == "down" else b.sub(lane, step)
    last = b.i32(bound)
    valid = b.op(Op.SLE, last, source) if mode == "up" else b.op(Op.SLE, source, last)
    return b.select(valid, source, lane), valid


def reduce_members(b: Builder, op: Op, value: Value, members: Value) -> Value:
    """Return ``op`` over the members of each lane's group; lanes of a group have the same mask.

    Each lane takes over what the next member of its group has, and that one's next, until the lowest has all.
    """
    none, later = b.i32(WARP_SIZE), b.shl(b.i32(-2), b.lane())
    following = _lowest(b, b.and_(members, later))
    for _ in range(5):
        more = b.op(Op.ULT, following, none)
        value = b.select(more, b.op(op, value, b.shuffle(value, following)), value)
        following = b.select(more, b.shuffle(following, following), none)
    return b.shuffle(value, _lowest(b, members))


def _lowest(b: Builder, lanes: Value) -> Value:
    """Return the lowest lane of a mask; 32 if it is empty."""
    return b.op(Op.CLZ, b.op(Op.BREV, lanes))


def load_matrices(
    b: Builder, space: str, address: Value, count: int, *, transposed: bool = False
) -> list[Value]:
    """Return ``count`` matrices, one I32 each, from the row addresses in ``address``."""
    result = []
    for number in range(count):
        value = b.load(space, _row_address(b, address, number), Type.I32)[0]
        result.append(transpose(b, value) if transposed else value)
    return result


def store_matrices(
    b: Builder, space: str, address: Value, values: Sequence[Value], *, transposed: bool = False
) -> None:
    """Write matrices, one I32 each, to the row addresses in ``address``."""
    for number, value in enumerate(values):
        row = transpose(b, value) if transposed else value
        b.store(space, _row_address(b, address, number), row)


def _row_address(b: Builder, address: Value, number: int) -> Value:
    """Return where the two elements of each lane lie."""
    lane = b.lane()
    source = b.add(b.lshr(lane, 2), b.i32(8 * number)) if number else b.lshr(lane, 2)
    column = b.shl(b.and_(lane, b.i32(3)), 2)
    row = b.shuffle(address, source)
    return b.add(row, b.zext(column, row.type))


def transpose(b: Builder, value: Value) -> Value:
    """Return an 8 × 8 matrix transposed: lane L wants elements (2t, g) and (2t + 1, g)."""
    lane = b.lane()
    group, pair = b.lshr(lane, 2), b.and_(lane, b.i32(3))
    source = b.add(b.shl(pair, 3), b.lshr(group, 1))
    odd = b.op(Op.NE, b.and_(group, b.i32(1)), b.i32(0))
    parts = []
    for row in range(2):
        both = b.shuffle(value, b.add(source, b.i32(4 * row)))
        parts.append(b.select(odd, b.lshr(both, 16), b.and_(both, b.i32(0xFFFF))))
    return b.or_(parts[0], b.shl(parts[1], 16))
