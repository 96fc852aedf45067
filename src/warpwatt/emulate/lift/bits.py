"""Bit arithmetic that PTX and SASS share, as few micro-operations as constants allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Op, Type

if TYPE_CHECKING:
    from warpwatt.emulate.builder import Builder
    from warpwatt.emulate.ir import Value

_FULL = (1 << 32) - 1


def multiply_high(b: Builder, x: Value, y: Value, *, signed: bool) -> Value:
    """Return the upper half of the product of two integers of one width (16, 32 or 64 bits)."""
    if x.type is Type.I64:
        return _multiply_high_64(b, x, y, signed=signed)
    wide = {8: Type.I16, 16: Type.I32, 32: Type.I64}[x.type.bits]
    product = multiply_wide(b, x, y, signed=signed)
    return b.trunc(b.lshr(product, wide.bits // 2), x.type)


def multiply_wide(b: Builder, x: Value, y: Value, *, signed: bool) -> Value:
    """Return the whole product of two integers, twice as wide."""
    wide = {8: Type.I16, 16: Type.I32, 32: Type.I64}[x.type.bits]
    widen = b.sext if signed else b.zext
    return b.mul(widen(x, wide), widen(y, wide))


def _multiply_high_64(b: Builder, x: Value, y: Value, *, signed: bool) -> Value:
    mask = b.const(Type.I64, _FULL)
    x0, x1, y0, y1 = b.and_(x, mask), b.lshr(x, 32), b.and_(y, mask), b.lshr(y, 32)
    middle = b.add(b.mul(x1, y0), b.lshr(b.mul(x0, y0), 32))
    other = b.add(b.mul(x0, y1), b.and_(middle, mask))
    high = b.add(b.add(b.mul(x1, y1), b.lshr(middle, 32)), b.lshr(other, 32))
    if signed:
        high = b.sub(high, b.and_(b.ashr(x, 63), y))
        high = b.sub(high, b.and_(b.ashr(y, 63), x))
    return high


def add_with_carry(b: Builder, x: Value, y: Value, carry: Value | None) -> tuple[Value, Value]:
    """Return x + y + carry (I1 or None) and the carry out (I1)."""
    total = b.add(x, y)
    out = b.op(Op.ULT, total, x)
    if carry is None:
        return total, out
    final = b.add(total, b.zext(carry, x.type))
    return final, b.or_(out, b.op(Op.ULT, final, total))


def subtract_with_borrow(b: Builder, x: Value, y: Value, borrow: Value | None) -> tuple[Value, Value]:
    """Return x - y - borrow (I1 or None) and the borrow out (I1)."""
    difference = b.sub(x, y)
    out = b.op(Op.ULT, x, y)
    if borrow is None:
        return difference, out
    taken = b.zext(borrow, x.type)
    return b.sub(difference, taken), b.or_(out, b.op(Op.ULT, difference, taken))


def funnel(b: Builder, low: Value, high: Value, amount: int | Value, *, left: bool) -> Value:
    """Return the upper 32 bits of ``high:low`` shifted left by 0 to 32, or the lower ones shifted right."""
    if isinstance(amount, int):
        near, far = (high, low) if left else (low, high)
        if amount in (0, 32):
            return far if amount else near
        if left:
            return b.or_(b.shl(high, amount), b.lshr(low, 32 - amount))
        return b.or_(b.lshr(low, amount), b.shl(high, 32 - amount))
    rest = b.sub(b.i32(32), amount)
    if left:
        return b.or_(b.shl(high, amount), b.lshr(low, rest))
    return b.or_(b.lshr(low, amount), b.shl(high, rest))


# -- functions of three bits ------------------------------------------------------------------------------


def lookup(b: Builder, x: Value, y: Value, z: Value, table: int) -> Value:
    """Return the bitwise function of three values whose truth table is ``table`` (0xF0 is x, 0xCC y, 0xAA z).

    With the table split by one of the values v, it is f0 ^ (v & (f0 ^ f1)); the cheapest v is taken.
    """
    best = min(range(3), key=lambda v: _cost(table, v))
    split, others = ((x, (y, z)), (y, (x, z)), (z, (x, y)))[best]
    zero, difference = _halves(table, best)
    toggled = _two(b, *others, difference)
    base = _two(b, *others, zero)
    if toggled is None:
        return b.const(x.type, 0) if base is None else base
    toggle = split if difference == 15 else b.and_(split, toggled)
    if base is None:
        return toggle
    return b.not_(toggle) if zero == 15 else b.xor(base, toggle)


def _halves(table: int, by: int) -> tuple[int, int]:
    """Return the truth tables of two values for v = 0, and where they change for v = 1."""
    bits = [[], []]  # type: list[list[int]]
    for row in range(8):
        bits[row >> (2 - by) & 1].append(table >> row & 1)
    zero, one = (sum(bit << at for at, bit in enumerate(half)) for half in bits)
    return zero, zero ^ one


_COSTS = (0, 2, 2, 1, 2, 1, 1, 2, 1, 2, 0, 2, 0, 2, 1, 0)
"""Operations that a function of two values takes, by truth table."""


def _cost(table: int, by: int) -> int:
    zero, difference = _halves(table, by)
    combining = 0 if difference == 0 else (difference != 15) + (zero != 0)
    return _COSTS[zero] + _COSTS[difference] + combining


def _two(b: Builder, x: Value, y: Value, table: int) -> Value | None:  # noqa: PLR0911 - one per function
    """Return the bitwise function of two values (0xC is x, 0xA is y); None for 0."""
    if table == 0:
        return None
    if table == 15:
        return b.const(x.type, -1)
    if table in (10, 12):
        return x if table == 12 else y
    plain = {8: Op.AND, 14: Op.OR, 6: Op.XOR}
    if table in plain:
        return b.op(plain[table], x, y)
    if 15 - table in (10, 12, 8, 14, 6):
        other = _two(b, x, y, 15 - table)
        assert other is not None
        return b.not_(other)
    if table in (4, 13):  # x & ~y, x | ~y
        return b.op(Op.AND if table == 4 else Op.OR, x, b.not_(y))
    return b.op(Op.AND if table == 2 else Op.OR, b.not_(x), y)  # ~x & y, ~x | y


# -- bytes ------------------------------------------------------------------------------------------------


def permute(b: Builder, low: Value, high: Value, selector: int) -> Value:
    """Return four bytes of ``high:low`` by constant nibbles; bit 3 of a nibble spreads the byte's sign."""
    groups: dict[tuple[int, int], int] = {}
    signs: list[tuple[int, int]] = []
    for at in range(4):
        nibble = selector >> (4 * at) & 15
        if nibble & 8:
            signs.append((at, nibble & 7))
        else:
            key = (nibble >> 2, at - (nibble & 3))
            groups[key] = groups.get(key, 0) | 0xFF << 8 * at
    result: Value | None = None
    for (word, move), mask in groups.items():
        part = _masked(b, high if word else low, move, mask)
        result = part if result is None else b.or_(result, part)
    for at, byte in signs:
        source = high if byte & 4 else low
        sign = b.ashr(b.shl(source, 24 - 8 * (byte & 3)), 31)
        part = b.and_(sign, b.i32(0xFF << 8 * at))
        result = part if result is None else b.or_(result, part)
    assert result is not None
    return result


def _masked(b: Builder, word: Value, move: int, mask: int) -> Value:
    """Return a word shifted left by ``move`` bytes (right if negative), and what the mask keeps of it."""
    kept = _FULL
    if move > 0:
        word, kept = b.shl(word, 8 * move), _FULL << 8 * move & _FULL
    elif move < 0:
        word, kept = b.lshr(word, -8 * move), _FULL >> -8 * move
    return word if mask == kept else b.and_(word, b.i32(mask))


def permute_by(b: Builder, low: Value, high: Value, selector: Value) -> Value:
    """Return four bytes of ``high:low`` by the nibbles of a value."""
    both = b.pair(low, high)
    result: Value | None = None
    for at in range(4):
        nibble = b.and_(b.lshr(selector, 4 * at), b.i32(15))
        shift = b.zext(b.shl(b.and_(nibble, b.i32(7)), 3), Type.I64)
        byte = b.trunc(b.lshr(both, shift), Type.I8)
        spread = b.op(Op.NE, b.and_(nibble, b.i32(8)), b.i32(0))
        byte = b.zext(b.select(spread, b.ashr(byte, 7), byte), Type.I32)
        part = b.shl(byte, 8 * at)
        result = part if result is None else b.or_(result, part)
    assert result is not None
    return result
